"""R-hat, effective sample sizes, Monte Carlo errors and E-BFMI of arrays, from ArviZ's array layer.

Constants and short chains have none of these; they are NaN there, which verdicts read, without a warning.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from arviz_stats.base import array_stats
from numpy.typing import NDArray

TAILS = (0.05, 0.95)
"""Quantiles whose smaller effective sample size is that of the tails (Vehtari et al. 2021)."""


def rhat(draws: xr.Dataset) -> xr.Dataset:
    """Rank-normalised split R-hat of every variable over (chain, draw)."""
    return _each(draws, array_stats.rhat, method="rank")


def ess(draws: xr.Dataset, kind: str) -> xr.Dataset:
    """Effective sample size, `bulk` or `tail`."""
    return _each(draws, array_stats.ess, method=kind, **({"prob": TAILS} if kind == "tail" else {}))


def mcse(draws: xr.Dataset) -> xr.Dataset:
    """Monte Carlo standard error of the mean."""
    return _each(draws, array_stats.mcse, method="mean")


def bfmi(energy: NDArray[np.float64]) -> NDArray[np.float64]:
    """E-BFMI of every chain, from energies of shape (chains, draws)."""
    return np.asarray(array_stats.bfmi(energy, chain_axis=0, draw_axis=1), dtype=np.float64)


def _each(draws: xr.Dataset, measure: Callable[..., Any], **options: Any) -> xr.Dataset:
    out = {}
    logger = logging.getLogger("arviz_stats")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for name, own in draws.data_vars.items():
                values = own.transpose("chain", "draw", ...)
                found = measure(values.values, chain_axis=0, draw_axis=1, **options)
                out[name] = values.isel(chain=0, draw=0, drop=True).copy(
                    data=np.asarray(found, dtype=np.float64)
                )
    finally:
        logger.setLevel(level)
    return xr.Dataset(out)
