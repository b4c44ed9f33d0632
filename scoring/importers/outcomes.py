"""One answer as numbers: right or wrong, probability of the right option, and its log-odds."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Sequence
from typing import NamedTuple

# Why an answer counts as not observed.
NOT_FINITE = "log-probability not finite"
NO_KEY = "no right option"
UNPARSED = "no option stated"
NO_ANSWER = "no answer (N)"
NO_ANSWER_GIVEN = "no answer given"
PARTIAL = "partly right"
FAILED = "sample failed"
NOT_SCORED = "not scored"
INVALIDATED = "sample invalidated"


class Outcome(NamedTuple):
    """One answer. `reason` is empty where it was observed; NaN and None stand for nothing observed.

    `read_by` names the rule that read a written answer.
    """

    correct: int | None = None
    p_correct: float = math.nan
    crm_logit: float = math.nan
    n_options: int = 0
    reason: str = ""
    tied: bool = False
    read_by: str = ""


def from_logprobs(logprobs: Sequence[float], right: Collection[int]) -> Outcome:
    """Score an answer by the log-probabilities of its options.

    Parameters
    ----------
    logprobs
        Natural log-probability of each option, K of them.
    right
        Positions of the right options, counted from 0; usually one.

    Returns
    -------
    `correct`: whether the first of the most probable options is right. `p_correct`: the right options'
    share of the probability of all options. `crm_logit`: its log-odds, which stays finite where the share
    rounds to 0 or 1. A log-probability that is NaN or infinite makes the answer not observed, as does a
    key that names no option, or every option.
    """
    k = len(logprobs)
    if not all(map(math.isfinite, logprobs)):
        return Outcome(n_options=k, reason=NOT_FINITE)
    if not 0 < len(right) < k or not all(0 <= option < k for option in right):
        return Outcome(n_options=k, reason=NO_KEY)
    best = max(logprobs)
    leading = [option for option, lp in enumerate(logprobs) if lp == best]
    good = _log_sum([lp for option, lp in enumerate(logprobs) if option in right])
    bad = _log_sum([lp for option, lp in enumerate(logprobs) if option not in right])
    logit = good - bad
    p = 1.0 / (1.0 + math.exp(-logit)) if logit > -700.0 else math.exp(logit)
    return Outcome(int(leading[0] in right), p, logit, k, "", len(leading) > 1)


def from_choice(stated: int | None, right: Collection[int], n_options: int, read_by: str = "") -> Outcome:
    """Score an answer by the option it states, as `read_by` read it; None is one that states no option."""
    if not right or not all(0 <= option < n_options for option in right):
        return Outcome(n_options=n_options, reason=NO_KEY)
    if stated is None:
        return Outcome(n_options=n_options, reason=UNPARSED, read_by=read_by)
    return Outcome(correct=int(stated in right), n_options=n_options, read_by=read_by)


def is_bfloat16(value: float) -> bool:
    """Whether a number survives rounding to bfloat16, as scores computed in that precision do."""
    if not math.isfinite(value):
        return True
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return False
    return bits & 0xFFFF == 0 and struct.unpack("<f", struct.pack("<I", bits))[0] == value


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
