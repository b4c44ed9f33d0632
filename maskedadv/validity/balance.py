"""Block A: do CA and CS items of one benchmark rank the models alike, with as many items of each?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotEstimable
from maskedadv.validity.ranking import kendall_tau, tau_draws

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Balanced:
    """tau_b of CA and CS scores on balanced halves: mean, and the spread over the random halves.

    `lower` and `upper` are the 2.5% and 97.5% quantiles over repeats: how much the choice of items
    matters, not an interval for other models. `tau_all` uses all items of both subsets.
    """

    n_models: int
    n_ca: int
    n_cs: int
    n_balanced: int
    tau: float
    lower: float
    upper: float
    tau_all: float
    repeats: int
    interpretable: bool


def balanced_tau(
    correct: Floats,
    is_cs: NDArray[np.bool_],
    rng: np.random.Generator,
    repeats: int = 200,
    min_items: int = 50,
) -> Balanced:
    """Kendall's tau_b between CA and CS scores on min(n_CA, n_CS) items of each, drawn `repeats` times.

    Parameters
    ----------
    correct
        Shape (n_models, n_items), 0 or 1, NaN where not observed. Items without a subset are left out
        beforehand.
    is_cs
        Shape (n_items,).
    min_items
        With fewer items in the smaller subset the result is marked as not interpretable.

    Raises
    ------
    NotEstimable
        A subset has no items, or all models score alike.
    """
    n_cs = int(is_cs.sum())
    n_ca = len(is_cs) - n_cs
    if min(n_ca, n_cs) == 0:
        raise NotEstimable(f"no {'CS' if n_cs == 0 else 'CA'} items")
    size = min(n_ca, n_cs)
    ca, cs = correct[:, ~is_cs], correct[:, is_cs]
    keep = ~(np.isnan(ca).all(axis=1) | np.isnan(cs).all(axis=1))
    ca, cs = ca[keep], cs[keep]
    if len(ca) < 2:
        raise NotEstimable(f"{len(ca)} models answered items of both subsets")
    parts = ("the CA part of this benchmark", "the CS part of this benchmark")
    tau_all, _ = kendall_tau(np.nanmean(ca, axis=1), np.nanmean(cs, axis=1), parts)
    taus = []
    for _ in range(repeats):
        halves = [_mean(block[:, rng.permutation(block.shape[1])[:size]]) for block in (ca, cs)]
        both = np.isfinite(halves[0]) & np.isfinite(halves[1])
        taus.append(tau_draws(np.ones((1, both.sum())), halves[0][both], halves[1][both])[0])
    drawn = np.array(taus)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        raise NotEstimable("all models score alike on every balanced half")
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Balanced(
        len(ca),
        n_ca,
        n_cs,
        size,
        float(drawn.mean()),
        float(low),
        float(high),
        tau_all,
        len(drawn),
        size >= min_items,
    )


def _mean(block: Floats) -> Floats:
    """Row means of what was observed, NaN for a model with nothing observed."""
    seen = ~np.isnan(block)
    count = seen.sum(axis=1)
    return np.where(count > 0, np.where(seen, block, 0).sum(axis=1) / np.maximum(count, 1), np.nan)
