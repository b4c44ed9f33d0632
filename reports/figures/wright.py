"""Wright maps: difficulties of items and abilities of models on one logit scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9
import xarray as xr

from maskedadv.reports import limits
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import ends, known
from maskedadv.reports.theme import (
    CATEGORIES,
    GRID,
    MANY,
    MUTED,
    axis_number,
    distinct_labels,
    theme_maskedadv,
)

_BINS = 30


def wright_map(
    items: pd.DataFrame,
    cube: xr.Dataset,
    *,
    locales: Sequence[str] | None = None,
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Items as bars to the right, models' abilities as points to the left, for each locale and subset.

    CA and CS have scales of their own: compare levels inside one panel only.

    Parameters
    ----------
    items
        As `Fit.items`: locale ("all" for items that several locales share), subset, difficulty.
    cube
        As `Fit.cube`.
    locales
        Which to draw; by default all.

    Raises
    ------
    NothingToDraw
    """
    chosen = list(locales) if locales is not None else [str(v) for v in cube["locale"].values]
    ability = cube["ability"].sel(locale=chosen).to_dataframe().reset_index()
    ability = known(ability, ["ability"], "Wright map")
    parts = []
    for name in chosen:
        own = items[items["locale"].isin([name, "all"])]
        parts.append(own[np.isfinite(own["difficulty"])].assign(locale=name))
    difficulty = pd.concat(parts, ignore_index=True)
    values = np.concatenate([difficulty["difficulty"], ability["ability"]])
    low, high = (float(v) for v in np.quantile(values, [0.005, 0.995]))
    edges = np.linspace(low, high, _BINS + 1) if high > low else np.linspace(low - 1, low + 1, _BINS + 1)
    bars = _bars(difficulty, edges)
    top = float(bars["count"].max()) if len(bars) else 1.0
    ability = ability[(ability["ability"] >= edges[0]) & (ability["ability"] <= edges[-1])].copy()
    lane = ability["query"].map({"local": -0.12, "pivot": -0.32}).to_numpy(float) * top
    ability["_x"] = lane + np.linspace(-0.06, 0.06, len(ability)) * top
    for frame in (bars, ability):
        shown = dict(zip(chosen, distinct_labels(chosen, 14), strict=True))
        frame["_locale"] = pd.Categorical(
            [shown[v] for v in frame["locale"]], categories=list(shown.values())
        )
        frame["_subset"] = frame["subset"].astype(str)
    height = float(edges[1] - edges[0])
    return (
        p9.ggplot()
        + p9.geom_rect(
            p9.aes(xmin=0, xmax="count", ymin="low", ymax="high"), data=bars, fill=MUTED, alpha=0.55,
            color=GRID, size=0.2,
        )
        + p9.geom_point(p9.aes("_x", "ability", color="query"), data=ability, size=1.1, alpha=0.75,
            raster=len(ability) > MANY)
        + p9.geom_vline(xintercept=0, color=MUTED, size=0.4)
        + p9.facet_grid("_subset", "_locale")
        + p9.scale_color_manual(values=list(CATEGORIES[:2]), name="abilities, asked in the language:")
        + p9.scale_x_continuous(breaks=[0, int(top)], labels=axis_number)
        + p9.scale_y_continuous(labels=axis_number, limits=(edges[0] - height, edges[-1] + height))
        + p9.labs(x="models to the left · number of items to the right", y="logit")
        + theme_maskedadv(max(4.5, 1.0 + 1.15 * len(chosen)), 5.2, families)
    )  # fmt: skip


def _bars(difficulty: pd.DataFrame, edges: np.ndarray) -> pd.DataFrame:
    rows = []
    for (locale, subset), own in difficulty.groupby(["locale", "subset"], observed=True):
        counts, _ = np.histogram(np.clip(own["difficulty"], edges[0], edges[-1]), bins=edges)
        rows.append(
            pd.DataFrame(
                {"locale": locale, "subset": subset, "count": counts, "low": edges[:-1], "high": edges[1:]}
            )
        )
    if not rows:
        return pd.DataFrame({"locale": [], "subset": [], "count": [], "low": [], "high": []})
    bars = pd.concat(rows, ignore_index=True)
    return bars[bars["count"] > 0].copy()


_CAPTION = (
    "Bars to the right: difficulties of the items. Points to the left: abilities of the models, in the local "
    "language and in the pivot. CA and CS have scales of their own: compare levels inside one panel only."
)


def make_wright(s: Source, title: str) -> list[Exhibit]:
    """Wright maps of eight locales each; of many locales only of the ends."""
    made = []
    locales, caption = list(s.joint.locales), _CAPTION
    if len(locales) > limits.WRIGHT:
        found = ends(s.fit.gaps(), "locale")
        locales = found[:4] + found[-4:]
        caption += (
            f" Shown are the four locales with the lowest and the four with the highest knowledge gap of "
            f"{len(s.joint.locales):,}; maskedadv.reports.figures.wright_map draws any."
        )
    for k in range(0, len(locales), 8):
        figure = wright_map(s.fit.items, s.fit.cube, locales=locales[k : k + 8], families=s.families)
        name = "wright-map" if len(locales) <= 8 else f"wright-map-{k // 8 + 1}"
        alt = f"Difficulties of items beside abilities of models in {', '.join(locales[k : k + 8])}."
        made.append(Exhibit(name, title, caption, alt, figure, folded=k > 0))
    return made
