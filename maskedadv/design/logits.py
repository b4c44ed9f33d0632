"""Continuous responses: the logit of the probability on the right option."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.responses import Responses
from maskedadv.responses.clipping import EPSILON
from maskedadv.responses.stored import StoredResponses


def logit_values(responses: Responses) -> NDArray[np.float64]:
    """`crm_logit` where given, else the logit of `p_correct`, clipped; shape (N,), NaN where neither is."""
    given, p = responses.crm_logit, responses.p_correct
    out = np.full(len(responses), np.nan) if given is None else given.copy()
    if p is not None:
        from_p = np.clip(p, EPSILON, 1.0 - EPSILON)
        out = np.where(np.isnan(out), np.log(from_p) - np.log1p(-from_p), out)
    return np.asarray(out)


def clipped_note(table: Responses | StoredResponses, response: str) -> list[str]:
    """How many probabilities were clipped, in words; nothing if none was or the response is another."""
    count = table.clipped if response == "crm" else 0
    if not count:
        return []
    return [
        f"{count} values of p_correct lie within {EPSILON:g} of 0 or 1 without a crm_logit and were clipped "
        "there; gaps lean on that bound."
    ]


def rated_values(responses: Responses, response: str) -> NDArray[np.float64]:
    """What accuracy is the mean of: `correct`, else the probability on the right option; shape (N,)."""
    if responses.correct is not None:
        return responses.correct
    if responses.p_correct is not None and not (response == "crm" and np.isnan(responses.p_correct).all()):
        return responses.p_correct
    return np.asarray(1.0 / (1.0 + np.exp(-logit_values(responses))))
