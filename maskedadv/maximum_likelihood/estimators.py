"""Estimate blocks one after the other, or several at a time in processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.design.estimable import chosen_estimator
from maskedadv.design.prepare import Design
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


def estimate_blocks(
    design: Design,
    settings: Settings,
    engine: Engine,
    *,
    jobs: int,
    tell: Callable[[str], None],
    with_floor: bool = False,
) -> list[BlockEstimate]:
    """Estimates in the order of the design's blocks, whatever the number of jobs.

    Parameters
    ----------
    jobs : blocks at the same time; processes, since the embedded engine runs in main threads only
    tell : called with a line of text as blocks and bootstrap replicates are done
    with_floor : whether right answers may be guesses, at the blocks' `chance`
    """
    done: list[BlockEstimate] = []
    one = partial(
        estimate_block, settings=settings, engine=engine, n_items=design.n_items, with_floor=with_floor
    )
    if jobs == 1 or len(design.blocks) == 1:
        found = (one(block, tell=tell) for block in design.blocks)
    else:
        # joblib's processes need no `if __name__ == "__main__"` in the caller's script.
        found = Parallel(n_jobs=min(jobs, len(design.blocks)), return_as="generator")(
            delayed(one)(block) for block in design.blocks
        )
    for block, estimate in zip(design.blocks, found, strict=True):
        cells, items = block.answers.shape
        tell(f"{block.name}: {cells} cells, {items} items" + (", with guessing floor" if with_floor else ""))
        done.append(estimate)
    return done


def estimate_block(
    block: Block,
    settings: Settings,
    engine: Engine,
    n_items: int,
    tell: Callable[[str], None] = lambda _: None,
    *,
    with_floor: bool = False,
) -> BlockEstimate:
    """One block by the estimator asked for; `n_items` of the whole table, for bootstrap weights by item."""
    estimator = chosen_estimator(block.answers, settings.estimator, settings.response)
    weights: list[NDArray[np.float64]] = []
    if settings.interval == "bootstrap":
        weights = [item_weights(settings.seed, b, n_items)[block.place] for b in range(settings.replicates)]

    def tick(done: int) -> None:
        if done and done % 100 == 0:
            tell(f"{block.name}: replicate {done} of {settings.replicates}")

    common: dict[str, Any] = {
        "interval": settings.interval,
        "seed": settings.seed,
        "pairs": block.pairs,
        "weights": weights,
        "tick": tick,
    }
    try:
        if with_floor:
            assert block.chance is not None
            return replace(fit_floor(block.answers, block.chance, engine, **common), estimator="marginal")
        if settings.response == "crm":
            return fit_crm(block.answers, engine, **common)
        fitter = fit_marginal if estimator == "marginal" else fit_joint
        return replace(fitter(block.answers, engine, **common), estimator=estimator)
    except (NotConverged, np.linalg.LinAlgError) as error:
        # One block, or one variant of it, must not cost all others; the warnings say which and why.
        return replace(not_estimated(block.answers, str(error)), estimator=estimator)
