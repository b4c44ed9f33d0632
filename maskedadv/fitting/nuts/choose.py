"""Choices that change the cost of sampling and no posterior: joint or marginal, centred or not."""

from __future__ import annotations

import numpy as np

from maskedadv.fitting.nuts.grid import Grid
from maskedadv.fitting.nuts.layout import Layout
from maskedadv.fitting.nuts.priors import Priors
from maskedadv.fitting.nuts.starts import Start

# Nanoseconds an operation, measured with the embedded engine on one core; only their ratios matter.
_ANSWER = 13.0
_PRODUCT, _LOG, _PATTERN, _SHARE = 5.0, 10.0, 2.0, 4.0


def joint_cost(layout: Layout) -> float:
    """Milliseconds a gradient of the program with explicit difficulties, roughly."""
    return float(sum(a.size for a in layout.answers)) * _ANSWER * 1e-6


def marginal_cost(grids: tuple[Grid, Grid]) -> float:
    """Milliseconds a gradient of the program with difficulties integrated out, roughly."""
    total = 0.0
    for g in grids:
        patterns, cells = g.margins.seen.shape
        nodes, groups = len(g.node), len(g.count)
        per_cell = _PRODUCT if patterns == 1 else _LOG + _PATTERN * patterns
        total += nodes * (cells * per_cell + groups * _SHARE)
    return float(np.asarray(total)) * 1e-6


def too_many_patterns(layout: Layout, limit: int = 2000) -> bool:
    """Whether the patterns of observed cells are so many that building a grid is not worth the try."""
    for answers in layout.answers:
        if answers.shape[1] > limit:
            seen = ~np.isnan(answers)
            if len(np.unique(np.packbits(seen, axis=0), axis=1).T) > limit:
                return True
    return False


def prefer_centred(layout: Layout, starts: tuple[Start, Start], priors: Priors, *, continuous: bool) -> bool:
    """Whether the answers say so much about single abilities that the centred form samples better.

    Compares the abilities' variance over models, and the least that the prior allows, with a cell's error
    variance. Where the answers say little the centred form has a funnel and diverges, and with few models
    their correlations may always be near one; where answers say much the other form has narrow ridges.
    """
    n = len(layout.models)
    least = priors.spread * np.exp(-2 * priors.spread_log_sd)
    observed, allowed = [], []
    for answers, start in zip(layout.answers, starts, strict=True):
        if not answers.shape[1]:
            continue
        count = (~np.isnan(answers)).sum(axis=1)
        information = float(np.median(count)) * (1.0 / start.noise**2 if continuous else 0.15)
        spread = float(start.ability.reshape(2, n).std(axis=1).min())
        observed.append(information * spread**2)
        allowed.append(information * least**2)
    return (n >= 40 and min(observed) > 10.0) or min(allowed) > 100.0
