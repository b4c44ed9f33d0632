"""What is kept of a fitted block once its answers are let go: what results and warnings tell of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskedadv.design.estimable import FEW_CELLS
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS


@dataclass(frozen=True)
class BlockFacts:
    """One fitted block in numbers.

    Attributes
    ----------
    name : what warnings call it: `zh CA`
    locale, subset : `all` where it serves several locales
    cells, items, answers : its size
    uninformative : items that every cell answered alike
    infinite : cells without a finite ability
    extreme : cells that are all right or all wrong
    failed_replicates : see `Fitted.failed_replicates`; 0 without a bootstrap
    estimator, typical_cells, sigma, sigma_sd, noise, log_likelihood, gradient, converged, apart, bound,
    trouble : as in `BlockEstimate`
    """

    name: str
    locale: str
    subset: str
    cells: int
    items: int
    answers: int
    uninformative: int
    infinite: int
    extreme: int
    failed_replicates: int
    estimator: str
    typical_cells: float
    sigma: float
    sigma_sd: float
    noise: float
    log_likelihood: float
    gradient: float
    converged: bool
    apart: float
    bound: int
    trouble: str

    @property
    def estimated(self) -> bool:
        """Whether any cell has a finite ability."""
        return self.infinite < self.cells


def facts_of(fitted: Fitted, settings: Settings) -> BlockFacts:
    """The facts of one block."""
    block, e = fitted.block, fitted.estimate
    cells, items = block.answers.shape
    return BlockFacts(
        name=block.name,
        locale=block.locale,
        subset=SUBSETS[block.subset],
        cells=cells,
        items=items,
        answers=int((~np.isnan(block.answers)).sum()),
        uninformative=int((~e.informative).sum()),
        infinite=int((~np.isfinite(e.ability)).sum()),
        extreme=int(np.isin(np.nanmean(block.answers, axis=1), (0.0, 1.0)).sum()),
        failed_replicates=fitted.failed_replicates if settings.interval == "bootstrap" else 0,
        estimator=e.estimator,
        typical_cells=e.typical_cells,
        sigma=e.sigma,
        sigma_sd=e.sigma_sd,
        noise=e.noise,
        log_likelihood=e.log_likelihood,
        gradient=e.gradient,
        converged=e.converged,
        apart=e.apart,
        bound=e.bound,
        trouble=e.trouble,
    )


def joint_of_few(settings: Settings, block: BlockFacts) -> bool:
    """Whether joint maximum likelihood inflates the block's gaps."""
    if settings.method != "optimize" or settings.response != "binary":
        return False
    return block.estimator == "joint" and block.typical_cells < FEW_CELLS
