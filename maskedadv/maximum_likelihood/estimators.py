"""The estimators of maximum likelihood, as a table; blocks estimated by them, several at a time if asked for.

To add one, write its function (answers to `BlockEstimate`), enter it here, and name it in the settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.design.estimable import FEW_CELLS, continuous_parts, joint_parts, marginal_parts
from maskedadv.design.prepare import Design
from maskedadv.engines import Engine
from maskedadv.errors import NotConverged
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit, named
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.bootstrap import item_weights
from maskedadv.maximum_likelihood.continuous import fit_crm
from maskedadv.maximum_likelihood.guessing import fit_floor
from maskedadv.maximum_likelihood.joint import fit_joint
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.marginal_result import not_estimated
from maskedadv.maximum_likelihood.side_by_side import cores, side_by_side
from maskedadv.settings import Settings


@dataclass(frozen=True)
class Estimator:
    """One way to estimate a block.

    Attributes
    ----------
    name : as in `Settings.estimator`
    responses : what it serves
    fit : from answers (C, I), an engine and what `estimate_block` gives it to a `BlockEstimate`
    parts : from answers, which differences it will find finite; see `maskedadv.design.estimable`
    words : what it is, for a methods paragraph
    difficulties : what becomes of the difficulties, for the same
    """

    name: str
    responses: tuple[str, ...]
    fit: Callable[..., BlockEstimate]
    parts: Callable[[NDArray[np.float64]], NDArray[np.intp]]
    words: str
    difficulties: str


ESTIMATORS = (
    Estimator(
        "joint",
        ("binary", "soft"),
        fit_joint,
        joint_parts,
        "maximum likelihood of abilities and difficulties jointly, difficulties summing to zero in every "
        "connected component",
        "profiled out",
    ),
    Estimator(
        "marginal",
        ("binary",),
        fit_marginal,
        marginal_parts,
        "maximum likelihood with difficulties integrated out over a normal distribution of estimated spread",
        "integrated out",
    ),
    Estimator(
        "joint",
        ("crm",),
        fit_crm,
        continuous_parts,
        "least squares of abilities and difficulties jointly, difficulties summing to zero in every "
        "connected component",
        "profiled out",
    ),
)


def find_estimator(name: str, response: str) -> Estimator:
    """The entry for a name and a response."""
    return next(e for e in ESTIMATORS if e.name == name and response in e.responses)


def choose_estimator(answers: NDArray[np.float64], settings: Settings) -> Estimator:
    """What a block is estimated by: what was asked for; for `auto`, by the median number of cells an item."""
    name = settings.estimator
    if name == "auto":
        typical = float(np.median((~np.isnan(answers)).sum(axis=0)))
        few = typical < FEW_CELLS and settings.response == "binary"
        name = "marginal" if few else "joint"
    return find_estimator(name, settings.response)


def estimate_blocks(
    design: Design,
    settings: Settings,
    engine: Engine,
    *,
    how: Launcher,
    tell: Callable[[str], None],
    with_floor: bool = False,
) -> list[BlockEstimate]:
    """Estimates in the order of the design's blocks, wherever they are made.

    Parameters
    ----------
    how : where blocks are estimated; in the process at hand two threads share the work if it has two cores
    tell : called with a line of text as blocks and bootstrap replicates are done
    with_floor : whether right answers may be guesses, at the blocks' `chance`
    """
    done: dict[int, BlockEstimate] = {}

    def keep(k: int, estimate: BlockEstimate) -> None:
        block = design.blocks[k]
        cells, items = block.answers.shape
        tell(f"{block.name}: {cells} cells, {items} items" + (", with guessing floor" if with_floor else ""))
        done[k] = estimate

    one = partial(estimate_block, settings=settings, n_items=design.n_items, with_floor=with_floor)
    if isinstance(how, Local) and how.jobs == 1 and len(design.blocks) > 1 and cores() > 1:
        found = side_by_side(
            lambda block, asked, told: one(block, engine=asked, tell=named(block.name, told)),
            design.blocks,
            engine,
            tell,
        )
        for k, estimate in enumerate(found):
            keep(k, estimate)
    else:
        units = [Unit(block.name, partial(_estimate, one, block, engine)) for block in design.blocks]
        complete(units, how, keep=keep, tell=tell)
    return [done[k] for k in range(len(design.blocks))]


def _estimate(
    one: Callable[..., BlockEstimate], block: Block, engine: Engine, tell: Callable[[str], None]
) -> BlockEstimate:
    return one(block, engine=engine, tell=tell)


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
    estimator = choose_estimator(block.answers, settings)
    weights: list[NDArray[np.float64]] = []
    if settings.interval == "bootstrap":
        weights = [item_weights(settings.seed, b, n_items)[block.place] for b in range(settings.replicates)]

    def tick(done: int) -> None:
        if done and done % 100 == 0:
            tell(f"replicate {done} of {settings.replicates}")

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
        return replace(estimator.fit(block.answers, engine, **common), estimator=estimator.name)
    except (NotConverged, np.linalg.LinAlgError) as error:
        # One block, or one variant of it, must not cost all others; the warnings say which and why.
        return replace(not_estimated(block.answers, str(error)), estimator=estimator.name)
