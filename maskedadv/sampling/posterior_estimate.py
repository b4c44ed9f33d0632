"""From a locale's posterior to the estimates of its two blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.design.components import find_components
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate, alike, typical_cells
from maskedadv.maximum_likelihood.guessing import cells_at_chance
from maskedadv.sampling.layout import Layout
from maskedadv.vocabulary import GAPS, OF_SUBSET

Array = NDArray[np.float64]


def block_estimates(
    tree: xr.DataTree,
    layout: Layout,
    blocks: Mapping[int, Block],
    *,
    continuous: bool,
    chance: tuple[Array, Array] | None = None,
) -> dict[int, BlockEstimate]:
    """Posterior means and sds as `BlockEstimate`s; `uncertainty` holds the draws of the abilities (S, C).

    With a guessing floor (`chance`, of every item of either subset) difficulties are not known, and cells
    not above chance are marked: their abilities have the prior's lower tail and no level of their own.
    """
    posterior = tree["posterior"].to_dataset()
    ability = posterior["ability"].values
    samples = ability.reshape(-1, *ability.shape[2:])
    sigma = posterior["sigma_b"].values.reshape(-1, 2)
    contrast = posterior["contrast"].values.reshape(-1, len(layout.models), len(GAPS))
    spread = posterior["facet_spread"].values[..., 1].reshape(-1, 2)
    between = _correlations(samples[:, :, 0, 1], samples[:, :, 1, 1])
    mean_b = sd_b = np.full(sum(len(i) for i in layout.items), np.nan)
    if "difficulty" in posterior:
        difficulty = posterior["difficulty"]
        mean_b = difficulty.mean(("chain", "draw"), dtype=np.float64).values
        sd_b = difficulty.std(("chain", "draw"), ddof=1, dtype=np.float64).values
    subset_of_item = np.repeat([0, 1], [len(i) for i in layout.items])
    out = {}
    for subset, block in blocks.items():
        draws = np.concatenate([samples[:, :, subset, 0], samples[:, :, subset, 1]], axis=1)
        draws = draws[:, layout.rows[subset]]
        own = np.full_like(samples[:, :, subset], np.nan)
        own[:, :, 0] = contrast[:, :, OF_SUBSET[subset]]
        own_gaps = np.concatenate([own[..., 0], own[..., 1]], axis=1)[:, layout.rows[subset]]
        answers = block.answers
        informative = (~np.isnan(answers)).sum(axis=0) > 1 if continuous else ~alike(answers)
        weak = find_components(np.where(np.isnan(answers), np.nan, 0.5)).cell_weak
        part = weak if chance is None else np.where(cells_at_chance(answers, chance[subset]), -2, weak)
        mine = subset_of_item == subset
        out[subset] = BlockEstimate(
            ability=np.where(part == -2, np.nan, draws.mean(axis=0)),
            ability_sd=np.where(part == -2, np.nan, draws.std(axis=0, ddof=1)),
            part=part,
            weak=weak,
            difficulty=mean_b[mine],
            difficulty_sd=sd_b[mine],
            informative=informative,
            uncertainty=draws,
            sigma=float(sigma[:, subset].mean()),
            sigma_sd=float(sigma[:, subset].std(ddof=1)),
            log_likelihood=np.nan,
            gradient=0.0,
            converged=True,
            typical_cells=typical_cells(answers, informative),
            estimator=str(tree.attrs["estimator"]),
            noise=float(posterior["noise"].values[..., subset].mean()) if continuous else np.nan,
            own_gaps=own_gaps,
            pivot=np.stack([spread[:, subset], between], axis=1),
        )
    return out


def _correlations(one: Array, other: Array) -> Array:
    """Correlation over models of two abilities, draw by draw, shape (S,); NaN with a single model.

    Of these models, not of the population: the prior of the latter's correlation outweighs a dozen models.
    """
    a, b = (x - x.mean(axis=1, keepdims=True) for x in (one, other))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1)))
