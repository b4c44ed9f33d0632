"""Posterior predictive p-values of the totals of cells and items, and of how alike models answer."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray


def mid_p_values(tree: xr.DataTree, kind: str) -> NDArray[np.float64]:
    """Two-sided mid-p-values of observed totals among replicated ones, of the cells or items with answers.

    Twice the smaller of P(rep > obs) + P(rep = obs)/2 and its complement, at least 1/(replicates + 1): a
    small one says that the model cannot give this total. Since totals are what abilities and difficulties
    are fitted to, most lie near 1; only misfit that the model cannot absorb shows here.

    Parameters
    ----------
    kind : "cell" or "item"
    """
    observed = tree["observed_data"].to_dataset()[f"{kind}_total"]
    rep = tree["posterior_predictive"].to_dataset()[f"{kind}_total"]
    rep = rep.transpose("chain", "draw", *observed.dims)
    has = tree["constant_data"].to_dataset()[f"{kind}_answers"].values.ravel() > 0
    obs = observed.values.ravel()[has]
    reps = rep.values.reshape(rep.sizes["chain"] * rep.sizes["draw"], -1)[:, has]
    above = (reps > obs).mean(axis=0) + 0.5 * (reps == obs).mean(axis=0)
    p = 2 * np.minimum(above, 1 - above)
    return np.asarray(np.clip(p, 1.0 / (len(reps) + 1), 1.0))


def likeness(tree: xr.DataTree) -> dict[str, float]:
    """The largest residual correlation of two models, observed and replicated; see `Measures`.

    NaN for posteriors without replicated answers: of other programs, responses and earlier versions.
    """
    names = ("likeness", "likeness_rep", "likeness_sd", "likeness_p")
    observed = tree["observed_data"].to_dataset()
    if "likeness" not in observed:
        return dict.fromkeys(names, float("nan"))
    value = float(observed["likeness"].sel(statistic="largest"))
    rep = tree["posterior_predictive"].to_dataset()["likeness"].sel(statistic="largest").values.ravel()
    rep = rep[np.isfinite(rep)]
    if not np.isfinite(value) or len(rep) < 2:
        return dict.fromkeys(names, float("nan"))
    p = (1 + (rep >= value).sum()) / (len(rep) + 1)
    return dict(zip(names, (value, float(rep.mean()), float(rep.std(ddof=1)), float(p)), strict=True))
