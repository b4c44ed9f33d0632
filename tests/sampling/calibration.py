"""Simulation-based calibration (Talts et al. 2018, arXiv 1804.06788): ranks of the truth among draws.

`python -m tests.sampling.calibration` runs the study and writes docs/figures/calibration_<program>.png.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from maskedadv.engines import Sampler
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import sample_locale
from tests.sampling.locales import task
from tests.sampling.prior import Truth, draw_locale

PROGRAMS = ("marginal", "joint", "crm", "floor", "paired")
CHANCE = 0.25
MODELS, ITEMS = 5, (25, 20)
KEPT = 99
"""Draws that the truth is ranked among: nearly independent ones, so that ranks are uniform on 0..99."""


def one_set(program: str, seed: int) -> dict[str, int]:
    """Ranks of the true quantities of one simulated locale among 99 draws of its posterior."""
    rng = np.random.default_rng([seed, PROGRAMS.index(program)])
    crm, floor = program == "crm", program == "floor"
    layout, truth = draw_locale(
        rng,
        Priors(),
        MODELS,
        ITEMS,
        missing=0.1 if crm or floor else 0.0,
        continuous=crm,
        chance=CHANCE if floor else None,
        paired=program == "paired",
    )
    one = task(
        layout,
        "joint" if program in ("joint", "crm") else "forced",
        response="crm" if crm else "binary",
        sampler=Sampler(warmup=500, draws=6 * KEPT, adapt_delta=0.95),
        chains=1,
        seed=seed,
        paired=program == "paired",
        chance=(np.full(ITEMS[0], CHANCE), np.full(ITEMS[1], CHANCE)) if floor else None,
    )
    posterior = sample_locale(one)["posterior"].to_dataset()
    thinned = {k: v.values[0, 5::6] for k, v in posterior.items()}
    wanted = truth.quantities()
    ranks = dict.fromkeys(wanted, 0)
    for d in range(KEPT):
        drawn = Truth(
            ability=thinned["ability"][d].reshape(MODELS, 4),
            spread=thinned["facet_spread"][d].ravel(),
            correlation=thinned["correlation"][d],
            sigma_b=thinned["sigma_b"][d],
            noise=truth.noise,
        ).quantities()
        for name in ranks:
            ranks[name] += drawn[name] < wanted[name]
    return ranks


def study(program: str, sets: int, *, first: int = 0) -> pd.DataFrame:
    """Ranks, one row a simulated data set and one column a quantity."""
    return pd.DataFrame([one_set(program, first + k) for k in range(sets)])


def p_values(ranks: pd.DataFrame) -> pd.Series:
    """Chi-square p-value of uniformity over ten bins, per quantity."""
    out = {}
    for name in ranks:
        counts = np.histogram(ranks[name], bins=np.linspace(-0.5, KEPT + 0.5, 11))[0]
        out[name] = stats.chisquare(counts).pvalue
    return pd.Series(out)


def write_figure(ranks: pd.DataFrame, program: str, path: Path) -> None:
    """Empirical distribution of the ranks less the uniform one, with a simultaneous 95% band."""
    import plotnine as p9

    sets = len(ranks)
    grid = np.linspace(0.0, 1.0, 101)
    rng = np.random.default_rng(0)
    null = np.sort(rng.integers(0, KEPT + 1, (4000, sets)) / (KEPT + 1), axis=1)
    deviation = [np.abs(np.searchsorted(row, grid, side="right") / sets - grid).max() for row in null]
    half = float(np.quantile(deviation, 0.95))
    frames = []
    for name in ranks:
        u = np.sort((ranks[name].to_numpy() + 0.5) / (KEPT + 1))
        ecdf = np.searchsorted(u, grid, side="right") / sets
        frames.append(pd.DataFrame({"quantity": name, "u": grid, "difference": ecdf - grid}))
    frame = pd.concat(frames)
    frame["quantity"] = pd.Categorical(frame["quantity"], categories=list(ranks))
    plot = (
        p9.ggplot(frame, p9.aes("u", "difference"))
        + p9.annotate("rect", xmin=0, xmax=1, ymin=-half, ymax=half, fill="#cccccc", alpha=0.5)
        + p9.geom_line(color="#4c78a8")
        + p9.facet_wrap("quantity", ncol=5)
        + p9.scale_x_continuous(breaks=[0, 0.5, 1])
        + p9.labs(
            x="rank of the truth",
            y="ECDF less uniform",
            title=f"{program}: {sets} simulated locales of {MODELS} models, {ITEMS[0]} + {ITEMS[1]} items",
        )
        + p9.theme_minimal()
        + p9.theme(figure_size=(11, 7))
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plot.save(path, dpi=100, verbose=False)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in sys.argv[2:] or PROGRAMS:
        found = study(name, number)
        print(name, p_values(found).round(3).to_dict(), flush=True)
        root = Path(__file__).resolve().parents[2]
        write_figure(found, name, root / "docs" / "figures" / f"calibration_{name}.png")
