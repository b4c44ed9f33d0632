"""Convergence and predictive numbers of one locale's posterior.

R-hat is rank-normalised and split, ESS bulk and tail (Vehtari et al. 2021, doi:10.1214/20-BA1221), E-BFMI
as in Betancourt (2016, arXiv 1604.00695); all computed by ArviZ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.diagnostics import convergence
from maskedadv.diagnostics.predictive import likeness, mid_p_values

GAPS = ("contrast", "mean_contrast")


@dataclass(frozen=True)
class Measures:
    """What was measured; NaN where a number cannot be had (too few draws, one chain).

    Attributes
    ----------
    chains, draws : of the posterior
    gaps : number of gaps that are known (of models and their means)
    still : chains in which a known gap never moved
    rhat_gaps, rhat_all : largest R-hat over the gaps and over every quantity
    worst, worst_gap : the quantity, and the gap, with the largest R-hat, in words
    ess_bulk_gaps, ess_tail_gaps, ess_bulk_all, ess_tail_all : smallest effective sample sizes
    divergences : transitions that diverged
    deepest : transitions that reached the largest tree
    bfmi : smallest E-BFMI of a chain
    mcse_ratio : largest Monte Carlo standard error of a gap's mean, over its posterior sd
    cells, cells_extreme, cell_p : number of cells, how many have a predictive p-value outside 0.005..0.995,
        and the smallest two-sided p-value
    items, items_extreme, item_p : the same for items
    likeness, likeness_rep, likeness_sd : largest residual correlation of two models, observed, and the mean
        and standard deviation of replicated ones; NaN where there is none
    likeness_p : share of replicates that reach it, at least one over their number and one
    """

    chains: int
    draws: int
    gaps: int
    still: int
    rhat_gaps: float
    rhat_all: float
    worst: str
    worst_gap: str
    ess_bulk_gaps: float
    ess_tail_gaps: float
    ess_bulk_all: float
    ess_tail_all: float
    divergences: int
    deepest: int
    bfmi: float
    mcse_ratio: float
    cells: int
    cells_extreme: int
    cell_p: float
    items: int
    items_extreme: int
    item_p: float
    likeness: float
    likeness_rep: float
    likeness_sd: float
    likeness_p: float


def measure(tree: xr.DataTree, *, everything: bool = True) -> Measures:
    """Measure a posterior.

    Parameters
    ----------
    tree : ArviZ groups, as `maskedadv.result.draws.build_tree` makes them
    everything : also look at abilities, difficulties and hyperparameters; else gaps only, which is quick
    """
    posterior = tree["posterior"].to_dataset()
    stats = tree["sample_stats"].to_dataset()
    gaps = posterior[list(GAPS)]
    chosen = posterior.drop_vars("item_subset", errors="ignore") if everything else gaps
    rhat = convergence.rhat(chosen)
    bulk, tail = convergence.ess(chosen, "bulk"), convergence.ess(chosen, "tail")
    ratio = convergence.mcse(gaps) / gaps.std(("chain", "draw"), ddof=1)
    bfmi = convergence.bfmi(stats["energy"].values)
    rows = [rhat, bulk, tail]
    gap_rhat, gap_bulk, gap_tail = ([_values(r[name]) for name in GAPS] for r in rows)
    cell_p, item_p = mid_p_values(tree, "cell"), mid_p_values(tree, "item")
    return Measures(
        chains=posterior.sizes["chain"],
        draws=posterior.sizes["draw"],
        gaps=int(sum(gaps[name].notnull().all(("chain", "draw")).sum() for name in GAPS)),
        still=int(_still(gaps).sum()),
        rhat_gaps=_most(gap_rhat),
        rhat_all=_most([_values(rhat[name]) for name in rhat.data_vars]),
        worst=_worst(rhat),
        worst_gap=_worst(rhat[list(GAPS)]),
        ess_bulk_gaps=-_most([-v for v in gap_bulk]),
        ess_tail_gaps=-_most([-v for v in gap_tail]),
        ess_bulk_all=-_most([-_values(bulk[name]) for name in bulk.data_vars]),
        ess_tail_all=-_most([-_values(tail[name]) for name in tail.data_vars]),
        divergences=int(stats["diverging"].sum()),
        deepest=int(stats["reached_max_treedepth"].sum()),
        bfmi=-_most([-bfmi]),
        mcse_ratio=_most([_values(ratio[name]) for name in GAPS]),
        cells=len(cell_p),
        cells_extreme=int((cell_p < 0.01).sum()),
        cell_p=float(cell_p.min(initial=1.0)),
        items=len(item_p),
        items_extreme=int((item_p < 0.01).sum()),
        item_p=float(item_p.min(initial=1.0)),
        **likeness(tree),
    )


def _values(array: xr.DataArray) -> NDArray[np.float64]:
    return np.asarray(array.values, dtype=np.float64).ravel()


def _still(gaps: xr.Dataset) -> NDArray[np.bool_]:
    """Of every chain, whether some known gap has one and the same value in all its draws."""
    same = [(gaps[n] == gaps[n].isel(draw=0)).all("draw").transpose("chain", ...) for n in GAPS]
    return np.asarray(np.any([s.values.reshape(s.sizes["chain"], -1).any(axis=1) for s in same], axis=0))


def _most(parts: list[NDArray[np.float64]]) -> float:
    """Largest value, NaN if there is none; constants and unknown gaps have no diagnostics."""
    together = np.concatenate(parts) if parts else np.empty(0)
    together = together[~np.isnan(together)]
    return float(together.max()) if len(together) else float("nan")


def _worst(rhat: xr.Dataset) -> str:
    best, text = -np.inf, ""
    for name, array in rhat.data_vars.items():
        values = np.where(np.isnan(array.values), -np.inf, array.values)
        if values.size and values.max() > best:
            best = float(values.max())
            index = np.unravel_index(int(np.argmax(values)), values.shape)
            where = [str(array[d].values[i]) for d, i in zip(array.dims, index, strict=True)]
            text = f"{name}[{', '.join(where)}]" if where else str(name)
    return text
