"""Log-probabilities of options: one forward pass per question, a second only for tails of several tokens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from maskedadv.scoring.models.batch import Budget, run_batches
from maskedadv.scoring.models.encode import Encoded
from maskedadv.scoring.models.memory import auto_budget, is_out_of_memory
from maskedadv.scoring.models.model import Loaded
from maskedadv.scoring.models.passes import OnTheWay, long_tails, one_token

# Why an item has no log-probabilities.
TOO_LONG = "too_long"
NOT_FINITE = "not_finite"
OUT_OF_MEMORY = "out_of_memory"
UNKNOWN_TOKEN = "token not in the model's vocabulary"  # noqa: S105
_AHEAD = 2  # batches whose results may be on their way while the next is handed to the device


@dataclass(frozen=True)
class Scores:
    """Log-probability of each option, or the reason why there are none."""

    logprobs: NDArray[np.float64]
    reason: str = ""


def score(
    loaded: Loaded,
    encoded: Sequence[Encoded],
    budget: Budget | int | None = None,
    progress: Callable[[int, float], None] = lambda _items, _tokens: None,
    keep: Callable[[list[tuple[int, Scores]]], None] = lambda _: None,
) -> list[Scores]:
    """Score questions.

    Parameters
    ----------
    budget
        Most tokens of a forward pass, padding included; None chooses by the memory that is free. A `Budget`
        is carried on from call to call.
    progress
        Told after every batch the numbers of items done and of tokens read.
    keep
        Given scores with their positions in `encoded`, a batch or a few at a time.

    Returns
    -------
    In the order of `encoded`. A letter's forms are summed. A question longer than the context, one with a
    token that the model does not know, one whose log-probabilities are not finite, and one that does not fit
    into memory have a reason instead.
    """
    lengths = [len(e.prefix) for e in encoded]
    if not isinstance(budget, Budget):
        budget = Budget(budget or auto_budget(loaded, max(lengths, default=1)))
    tails = [[tail for forms in e.tails for tail in forms] for e in encoded]
    found: list[Scores | None] = [None] * len(encoded)
    fit = [k for k, e in enumerate(encoded) if not _unfit(e, loaded)]
    short = [k for k in fit if encoded[k].n_tail_tokens() == 1]
    long = [k for k in fit if encoded[k].n_tail_tokens() > 1]

    def finish(rows: Sequence[tuple[int, NDArray[np.float64], str]]) -> None:
        done = [(k, _finish(encoded[k], row, reason)) for k, row, reason in rows]
        for k, one in done:
            found[k] = one
        keep(done)
        progress(len(done), sum(lengths[k] for k, _, reason in rows if not reason))

    def give_up(k: int) -> None:
        finish([(k, np.array([]), OUT_OF_MEMORY)])

    on_the_way: deque[tuple[list[int], OnTheWay]] = deque()

    def arrive(left: int) -> None:
        """Take what has come from the device; the device is kept at work meanwhile."""
        while len(on_the_way) > left:
            batch, values = on_the_way.popleft()
            rows = values.arrived()
            finish([(k, row[: len(tails[k])], "") for k, row in zip(batch, rows, strict=True)])

    def work(batch: list[int]) -> None:
        way = one_token if encoded[batch[0]].n_tail_tokens() == 1 else long_tails
        values = way(loaded, [encoded[k] for k in batch], [tails[k] for k in batch], budget)
        on_the_way.append((batch, values))
        arrive(_AHEAD)

    rest = sorted(set(range(len(encoded))).difference(fit))
    finish([(k, np.array([]), _unfit(encoded[k], loaded)) for k in rest])
    common: dict[str, Any] = {"is_out_of_memory": is_out_of_memory, "give_up": give_up}
    with torch.inference_mode():
        run_batches(short, lengths, budget, work, breaks=loaded.breaks, **common)
        widest = max((len(tails[k]) for k in long), default=1)  # each option holds a copy of the cache
        run_batches(long, lengths, budget, work, equal=True, copies=widest, **common)
        arrive(0)
    return [one for one in found if one is not None]


def _unfit(encoded: Encoded, loaded: Loaded) -> str:
    if encoded.reason:
        return encoded.reason
    # Before the model sees it: on a GPU an unknown token spoils the process, not only the question.
    ids = max(max(encoded.prefix), *(max(tail) for forms in encoded.tails for tail in forms))
    if ids >= loaded.vocabulary:
        return UNKNOWN_TOKEN
    too_long = loaded.context is not None and encoded.n_input_tokens() > loaded.context
    return TOO_LONG if too_long else ""


def _finish(encoded: Encoded, logprobs: NDArray[np.float64], reason: str) -> Scores:
    """Sum the forms of each letter."""
    if not reason and not np.isfinite(logprobs).all():
        reason = NOT_FINITE
    if reason:
        return Scores(np.full(len(encoded.tails), np.nan), reason)
    forms = iter(logprobs.astype(np.float64))
    options = [np.logaddexp.reduce([next(forms) for _ in group]) for group in encoded.tails]
    return Scores(np.array(options))
