"""Data of the programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.sampling.grid import Grid
from maskedadv.sampling.guessing_grid import FloorGrid
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.pairs import PairCounts, nodes
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.starts import Start, rough_departures, rough_partial
from maskedadv.vocabulary import CONTRASTS, subsets_of

SUFFIXES = ("ca", "cs")


def explicit_data(
    layout: Layout, priors: Priors, starts: tuple[Start, Start], *, continuous: bool
) -> dict[str, Any]:
    """Data of `posterior_joint.stan`, or of `posterior_continuous.stan` for continuous responses."""
    data = _common(layout, priors, starts, population=False)
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
        data["rough_log_noise"] = np.log([s.noise for s in starts])
        count = np.array([(~np.isnan(a)).sum() for a in layout.answers])
        data["log_noise_error"] = np.minimum(priors.noise_log_sd, 1.0 / np.sqrt(2.0 * count + 1.0))
        data["prior_noise"] = np.array([priors.noise, priors.noise_log_sd])
    return data


def marginal_data(
    layout: Layout, priors: Priors, starts: tuple[Start, Start], grids: tuple[Grid, Grid]
) -> dict[str, Any]:
    """Data of `posterior_marginal.stan`."""
    data = _common(layout, priors, starts, population=True)
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


def floor_data(layout: Layout, priors: Priors, grids: tuple[FloorGrid, FloorGrid]) -> dict[str, Any]:
    """Data of `posterior_guessing.stan`."""
    data = _common(layout, priors, (grids[0].start, grids[1].start), population=True)
    data["n_items"] = [max(1, a.shape[1]) for a in layout.answers]
    for name, grid in zip(SUFFIXES, grids, strict=True):
        data |= {
            f"Q_{name}": len(grid.node),
            f"I_{name}": len(grid.count),
            f"F_{name}": len(grid.chance),
            f"G_{name}": len(grid.group),
            f"node_{name}": grid.node,
            f"log_spacing_{name}": grid.log_spacing,
            f"right_{name}": grid.answers.right,
            f"seen_{name}": grid.answers.right + grid.answers.wrong,
            f"count_{name}": grid.count,
            f"log_scale_{name}": grid.log_scale,
            f"chance_{name}": grid.chance,
            f"group_{name}": grid.group,
            f"seen_alike_{name}": grid.seen_alike,
        }
    return data


def paired_data(
    layout: Layout, priors: Priors, starts: tuple[Start, Start], counts: tuple[PairCounts, PairCounts]
) -> dict[str, Any]:
    """Data of `posterior_paired.stan`; the layout holds pairs only."""
    z, weight = nodes()
    data = _common(layout, priors, starts, population=True) | {"Q": len(z), "z": z, "weight": weight}
    for name, own in zip(SUFFIXES, counts, strict=True):
        data |= {f"F_{name}": len(own.chance), f"chance_{name}": own.chance, f"count_{name}": own.count}
    return data


def known_gaps(layout: Layout) -> NDArray[np.bool_]:
    """Whether a model answered in every cell that a gap needs, shape (J, gaps)."""
    return np.stack([layout.paired[subsets_of(g)].all(axis=0) for g in range(len(CONTRASTS))], axis=-1)


def _common(
    layout: Layout, priors: Priors, starts: tuple[Start, Start], *, population: bool
) -> dict[str, Any]:
    """Data that all programs share; `population`: levels are relative to the population of items."""
    rough, variance = rough_departures(starts)
    means = np.array([s.ability.reshape(2, -1).mean(axis=1) for s in starts])
    sigma = np.array([s.sigma for s in starts])
    n_models, n_items = len(layout.models), np.array([max(1, a.shape[1]) for a in layout.answers])
    error = variance.reshape(2, 2).mean(axis=1) / n_models
    level_variance = error / 2 + (sigma**2 / n_items if population else 0.0)
    return {
        "J": n_models,
        "N_gaps": len(CONTRASTS),
        "gap_cells": CONTRASTS,
        "known": known_gaps(layout).T.astype(np.float64),
        "rough": rough,
        "rough_variance": variance,
        "rough_level": means.mean(axis=1),
        "level_error": np.minimum(priors.level, np.sqrt(level_variance)),
        "rough_gap": means[:, 0] - means[:, 1],
        "gap_error": np.minimum(priors.gap, np.sqrt(2 * error)),
        "rough_log_sigma": np.log(sigma),
        "log_sigma_error": np.minimum(priors.difficulty_log_sd, 1.0 / np.sqrt(2.0 * n_items)),
        "log_spread_error": min(priors.spread_log_sd, 1.0 / np.sqrt(2.0 * n_models)),
        "rough_partial": rough_partial(rough, variance),
        "partial_error": 1.0 / np.sqrt(2.0 * (priors.correlation + 1.0) + n_models),
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
