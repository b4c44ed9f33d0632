"""Rank, ESS and energy plots of a locale's posterior."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import plotnine as p9
import xarray as xr
from scipy.stats import rankdata

from maskedadv.diagnostics import convergence
from maskedadv.errors import OutputExists

BINS = 20


def write_plots(tree: xr.DataTree, locale: str, stem: Path) -> list[Path]:
    """Write `<stem>_rank.png`, `<stem>_ess.png` and `<stem>_energy.png`; only the last if no gap is known.

    Parameters
    ----------
    stem : path without ending; its folder is made if need be

    Raises
    ------
    OutputExists
        The folder cannot be made.
    """
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputExists(f"plots cannot be written to {stem.parent} ({error.strerror}).") from error
    title = "".join(c for c in locale if c != "$" and c.isprintable())
    written = []
    plots = {"rank": rank_plot, "ess": ess_plot} if _mean_gaps(tree) else {}
    for name, make in {**plots, "energy": energy_plot}.items():
        plot = make(tree, title)
        path = stem.with_name(f"{stem.name}_{name}.png")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plot.save(path, width=8, height=4.2, dpi=120, verbose=False)
        written.append(path)
    return written


def rank_plot(tree: xr.DataTree, title: str) -> p9.ggplot:
    """Ranks of every chain's draws of the mean gaps among all draws: flat if the chains agree."""
    frames = []
    for gap, values in _mean_gaps(tree):
        chains, draws = values.shape
        ranks = rankdata(values.ravel()).reshape(chains, draws)
        edges = np.linspace(0.5, values.size + 0.5, BINS + 1)
        for c in range(chains):
            count = np.histogram(ranks[c], edges)[0]
            frames.append(
                pd.DataFrame(
                    {
                        "gap": gap,
                        "chain": f"chain {c + 1}",
                        "rank": (edges[1:] + edges[:-1]) / 2 / values.size,
                        "count": count,
                        "expected": draws / BINS,
                    }
                )
            )
    frame = _ordered(pd.concat(frames))
    return (
        p9.ggplot(frame, p9.aes("rank", "count"))
        + p9.geom_col(width=0.9 / BINS, fill="#4c78a8")
        + p9.geom_hline(p9.aes(yintercept="expected"), linetype="dashed", color="#444444")
        + p9.facet_grid("chain ~ gap")
        + p9.labs(x="rank among all draws", y="draws", title=f"Ranks of mean gaps, {title}")
        + p9.theme_minimal()
    )


def ess_plot(tree: xr.DataTree, title: str) -> p9.ggplot:
    """Effective draws of the mean gaps as draws accumulate: a straight line if the chains mix."""
    rows = []
    for gap, values in _mean_gaps(tree):
        for n in np.unique(np.linspace(max(8, values.shape[1] // 10), values.shape[1], 10).astype(int)):
            part = xr.Dataset({"x": (("chain", "draw"), values[:, :n])})
            for kind in ("bulk", "tail"):
                ess = float(convergence.ess(part, kind)["x"])
                rows.append({"gap": gap, "draws": n * len(values), "kind": kind, "ess": ess})
    frame = _ordered(pd.DataFrame(rows))
    return (
        p9.ggplot(frame, p9.aes("draws", "ess", color="kind"))
        + p9.geom_hline(yintercept=400, linetype="dashed", color="#444444")
        + p9.geom_line()
        + p9.geom_point(size=1.5)
        + p9.facet_wrap("gap")
        + p9.scale_color_manual(values={"bulk": "#4c78a8", "tail": "#e45756"})
        + p9.expand_limits(y=0)
        + p9.labs(x="draws", y="effective draws", color="", title=f"Effective draws of mean gaps, {title}")
        + p9.theme_minimal()
    )


def energy_plot(tree: xr.DataTree, title: str) -> p9.ggplot:
    """Energy and its change between draws: alike if the sampler reaches the tails."""
    energy = tree["sample_stats"].to_dataset()["energy"].values
    frame = pd.concat(
        [
            pd.DataFrame({"value": (energy - energy.mean()).ravel(), "what": "energy, centred"}),
            pd.DataFrame({"value": np.diff(energy, axis=1).ravel(), "what": "change between draws"}),
        ]
    )
    return (
        p9.ggplot(frame, p9.aes("value", fill="what"))
        + p9.geom_density(alpha=0.45, color="none")
        + p9.scale_fill_manual(values={"energy, centred": "#4c78a8", "change between draws": "#e45756"})
        + p9.labs(x="energy", y="density", fill="", title=f"Energy, {title}")
        + p9.theme_minimal()
    )


def _mean_gaps(tree: xr.DataTree) -> list[tuple[str, np.ndarray]]:
    mean = tree["posterior"].to_dataset()["mean_contrast"].transpose("gap", "chain", "draw")
    found = zip([str(g) for g in mean["gap"].values], mean.values, strict=True)
    return [(gap, values) for gap, values in found if np.isfinite(values).all()]


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Gaps in their usual order, not the alphabet's."""
    return frame.assign(gap=pd.Categorical(frame["gap"], categories=list(dict.fromkeys(frame["gap"]))))
