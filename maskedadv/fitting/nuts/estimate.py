"""From a locale's posterior to the estimates of its two blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from maskedadv.design.blocks import Block
from maskedadv.design.components import find_components
from maskedadv.fitting.estimate import BlockEstimate, alike, typical_cells
from maskedadv.fitting.nuts.layout import Layout


def block_estimates(
    tree: xr.DataTree, layout: Layout, blocks: Mapping[int, Block], *, continuous: bool
) -> dict[int, BlockEstimate]:
    """Posterior means and sds as `BlockEstimate`s; `uncertainty` holds the draws of the abilities (S, C)."""
    posterior = tree["posterior"].to_dataset()
    ability = posterior["ability"].values
    samples = ability.reshape(-1, *ability.shape[2:])
    sigma = posterior["sigma_b"].values.reshape(-1, 2)
    difficulty = posterior["difficulty"]
    mean_b = difficulty.mean(("chain", "draw"), dtype=np.float64).values
    sd_b = difficulty.std(("chain", "draw"), ddof=1, dtype=np.float64).values
    subset_of_item = np.repeat([0, 1], [len(i) for i in layout.items])
    out = {}
    for subset, block in blocks.items():
        draws = np.concatenate([samples[:, :, subset, 0], samples[:, :, subset, 1]], axis=1)
        draws = draws[:, layout.rows[subset]]
        answers = block.answers
        informative = (~np.isnan(answers)).sum(axis=0) > 1 if continuous else ~alike(answers)
        weak = find_components(np.where(np.isnan(answers), np.nan, 0.5)).cell_weak
        mine = subset_of_item == subset
        out[subset] = BlockEstimate(
            ability=draws.mean(axis=0),
            ability_sd=draws.std(axis=0, ddof=1),
            part=weak,
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
        )
    return out
