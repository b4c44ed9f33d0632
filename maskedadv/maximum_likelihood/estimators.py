"""Estimate blocks one after the other, or several at a time in processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.engines import Engine
from maskedadv.errors import NotConverged
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.bootstrap import item_weights
from maskedadv.maximum_likelihood.continuous import fit_crm
from maskedadv.maximum_likelihood.guessing import fit_floor
from maskedadv.maximum_likelihood.joint import fit_joint
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.marginal_result import not_estimated
from maskedadv.settings import Settings

FEW_CELLS = 40
"""Below this many cells an item, joint maximum likelihood inflates gaps by over 2.5%."""


def estimate_blocks(
    named: Sequence[tuple[Block, str]],
    settings: Settings,
    engine: Engine,
    *,
    n_items: int,
    jobs: int,
    tell: Callable[[str], None],
    chance: NDArray[np.float64] | None = None,
) -> list[BlockEstimate]:
    """Estimates in the order of the blocks, whatever the number of jobs.

    Parameters
    ----------
    named : blocks with the names that progress lines use
    n_items : items in the whole table, for bootstrap weights by item
    jobs : blocks at the same time; processes, since the embedded engine runs in main threads only
    tell : called with a line of text as blocks and bootstrap replicates are done
    chance : floor of every item of the table, shape (n_items,), for the model with a guessing floor
    """
    done: list[BlockEstimate] = []
    if jobs == 1 or len(named) == 1:
        found = (
            estimate_block(block, settings, engine, n_items, name, tell, chance) for block, name in named
        )
    else:
        # joblib's processes need no `if __name__ == "__main__"` in the caller's script.
        found = Parallel(n_jobs=min(jobs, len(named)), return_as="generator")(
            delayed(estimate_block)(block, settings, engine, n_items, chance=chance) for block, _ in named
        )
    for (block, name), estimate in zip(named, found, strict=True):
        cells, items = block.answers.shape
        tell(
            f"{name}: {cells} cells, {items} items" + (", with guessing floor" if chance is not None else "")
        )
        done.append(estimate)
    return done


def estimate_block(
    block: Block,
    settings: Settings,
    engine: Engine,
    n_items: int,
    name: str = "",
    tell: Callable[[str], None] = lambda _: None,
    chance: NDArray[np.float64] | None = None,
) -> BlockEstimate:
    """One block by the estimator asked for."""
    estimator = settings.estimator
    if estimator == "auto":
        typical = float(np.median((~np.isnan(block.answers)).sum(axis=0)))
        estimator = "joint" if typical >= FEW_CELLS or settings.response != "binary" else "marginal"
    weights: list[NDArray[np.float64]] = []
    if settings.interval == "bootstrap":
        weights = [item_weights(settings.seed, b, n_items)[block.item] for b in range(settings.replicates)]

    def tick(done: int) -> None:
        if done and done % 100 == 0:
            tell(f"{name}: replicate {done} of {settings.replicates}")

    common: dict[str, Any] = {
        "interval": settings.interval,
        "seed": settings.seed,
        "pairs": block.pairs,
        "weights": weights,
        "tick": tick,
    }
    try:
        if chance is not None:
            own = fit_floor(block.answers, chance[block.item], engine, **common)
            return replace(own, estimator="marginal")
        if settings.response == "crm":
            return fit_crm(block.answers, engine, **common)
        fitter = fit_marginal if estimator == "marginal" else fit_joint
        return replace(fitter(block.answers, engine, **common), estimator=estimator)
    except (NotConverged, np.linalg.LinAlgError) as error:
        # One block, or one variant of it, must not cost all others; the warnings say which and why.
        return replace(not_estimated(block.answers, str(error)), estimator=estimator)
