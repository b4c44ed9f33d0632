"""Data of the three programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskedadv.fitting.nuts.grid import Grid
from maskedadv.fitting.nuts.layout import Layout
from maskedadv.fitting.nuts.priors import Priors

SUFFIXES = ("ca", "cs")


def explicit_data(layout: Layout, priors: Priors, *, continuous: bool, centred: bool) -> dict[str, Any]:
    """Data of `facet_binary.stan`, or of `facet_crm.stan` for continuous responses."""
    data = _common(layout, priors, centred)
    squares = []
    for name, answers in zip(SUFFIXES, layout.answers, strict=True):
        # A subset without items comes as one item that nobody saw: Stan has no empty sum-to-zero vector.
        wide = answers if answers.shape[1] else np.full((len(answers), 1), np.nan)
        seen = ~np.isnan(wide)
        value = np.where(seen, wide, 0.0)
        data[f"I_{name}"] = wide.shape[1]
        data[f"seen_{name}"] = seen.astype(np.float64)
        data[f"cell_total_{name}"] = value.sum(axis=1)
        data[f"item_total_{name}"] = value.sum(axis=0)
        squares.append(float((value**2).sum()))
    if continuous:
        data["sum_of_squares"] = np.array(squares)
        data["prior_noise"] = np.array([priors.noise, priors.noise_log_sd])
    return data


def marginal_data(
    layout: Layout, priors: Priors, grids: tuple[Grid, Grid], *, centred: bool
) -> dict[str, Any]:
    """Data of `facet_binary_marginal.stan`."""
    data = _common(layout, priors, centred)
    data["n_items"] = [max(1, a.shape[1]) for a in layout.answers]
    data["factors"] = min(_factors(layout, g) for g in grids)
    for name, answers, grid in zip(SUFFIXES, layout.answers, grids, strict=True):
        margins = grid.margins
        data |= {
            f"Q_{name}": len(grid.node),
            f"P_{name}": len(margins.seen),
            f"G_{name}": len(grid.count),
            f"node_{name}": grid.node,
            f"log_spacing_{name}": grid.log_spacing,
            f"reference_{name}": grid.reference,
            f"seen_{name}": margins.seen,
            f"pattern_{name}": margins.pattern + 1,
            f"share_{name}": grid.share,
            f"log_scale_{name}": grid.log_scale,
            f"count_{name}": grid.count,
            f"cell_total_{name}": np.nansum(answers, axis=1),
        }
    return data


def _common(layout: Layout, priors: Priors, centred: bool) -> dict[str, Any]:
    return {
        "J": len(layout.models),
        "paired": layout.paired.astype(np.float64),
        "centred": int(centred),
        "prior_level": priors.level,
        "prior_gap": priors.gap,
        "prior_spread": np.array([priors.spread, priors.spread_log_sd]),
        "prior_difficulty": np.array([priors.difficulty, priors.difficulty_log_sd]),
        "prior_correlation": priors.correlation,
    }


def _factors(layout: Layout, grid: Grid) -> int:
    """As many factors 1 + exp(ability − node), up to 16, as cannot overflow even 10 logits above the data."""
    largest = 15.0 - float(grid.node.min())
    return int(np.clip(650.0 / largest, 1, min(16, 2 * len(layout.models))))
