"""Three heat maps, model by locale, one for each gap (arXiv 2606.07422, Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import by_mean, gap_panels, known
from maskedadv.reports.theme import (
    CELL_INK,
    MANY,
    MUTED,
    diverging_fill,
    label_inches,
    labels,
    theme_maskedadv,
)
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS
from maskedadv.words.numbers import percent, signed


def gap_heatmap(
    gaps: pd.DataFrame,
    *,
    locales: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Every cell's three gaps in colour, zero in the middle of the scale.

    A cell whose interval excludes zero is bold, or carries a dot where there is no room for numbers. A gap
    that is not known has a cross on a blank cell.

    Parameters
    ----------
    gaps
        As `Fit.gaps`: locale, model, gap, estimate, lower, upper.
    locales, models
        Order of columns (from the left) and rows (from the bottom); by default by the mean knowledge gap.

    Raises
    ------
    NothingToDraw
    """
    data = known(gaps, ["estimate"], "heat map")
    columns = list(locales) if locales is not None else by_mean(gaps, "locale")
    rows = list(models) if models is not None else by_mean(gaps, "model")
    limit = float(np.quantile(np.abs(data["estimate"]), 0.98))
    stacked = len(columns) > 16
    numbers = len(columns) <= 8 and len(rows) <= 40
    cell = 0.42 if numbers else 0.2
    data = gaps.assign(
        _panel=gap_panels(gaps),
        _column=pd.Categorical(gaps["locale"], categories=columns),
        _row=pd.Categorical(gaps["model"], categories=rows),
    )
    clear = (data["lower"] > 0) | (data["upper"] < 0)
    figure = (
        p9.ggplot(data, p9.aes("_column", "_row"))
        + p9.geom_tile(
            p9.aes(fill="estimate"),
            data[data["estimate"].notna()],
            width=0.94,
            height=0.94,
            raster=len(gaps) > MANY,
        )
        + p9.facet_wrap("_panel", ncol=1 if stacked else 3, scales="free_x" if stacked else "fixed")
        + p9.scale_x_discrete(labels=labels, limits=columns)
        + p9.scale_y_discrete(labels=labels, limits=rows)
        + diverging_fill(limit, "gap (logit)")
        + p9.labs(x="", y="")
    )
    unknown = data[data["estimate"].isna()]
    if len(unknown):
        figure += p9.geom_text(label="×", data=unknown, color=MUTED, size=8)
    if numbers:
        data["_text"] = [signed(v) if np.isfinite(v) else "" for v in data["estimate"]]
        for part, weight in ((data[clear], "bold"), (data[~clear & data["estimate"].notna()], "normal")):
            if len(part):
                figure += p9.geom_text(
                    p9.aes(label="_text"), data=part, size=6.5, color=CELL_INK, fontweight=weight
                )
    elif clear.any():
        figure += p9.geom_point(data=data[clear], size=0.5, color=CELL_INK, raster=len(gaps) > MANY)
    across = 1 if stacked else 3
    width = label_inches(rows) + across * max(cell * len(columns) + 0.15, 1.9) + 0.3
    height = (3 if stacked else 1) * (
        (0.24 if numbers else 0.17) * len(rows) + 0.35 + (label_inches(columns) if stacked else 0)
    ) + 1.2
    long = max((len(c) for c in columns), default=0) > 3
    return (
        figure
        + theme_maskedadv(max(width, 5.0), height, families)
        + p9.theme(
            panel_grid_major=p9.element_blank(),
            axis_text_x=p9.element_text(rotation=90 if long or not numbers else 0),
            panel_spacing_y=0.04,
            legend_key_width=110,
            legend_key_height=9,
        )
    )


def make_heatmap(s: Source, title: str) -> list[Exhibit]:
    """Every gap of every cell, with the shares of positive ones."""
    gaps = s.fit.gaps()
    figure = gap_heatmap(gaps, families=s.families)
    shares = summaries.sign_shares(s.fit)
    tables = {"gaps": gaps, "sign-shares": shares}
    return [Exhibit("heat-map", title, _caption(shares), _alt(s.fit), figure, tables)]


def _caption(shares: pd.DataFrame) -> str:
    """How to read the heat map, and the shares of positive cells."""
    overall = shares.tail(len(GAPS))
    words = [
        f"{row['gap'].replace('_', ' ')} {row['positive']} of {row['known']} "
        f"({percent(row['share_positive'])}), clearly {row['clearly_positive']}, "
        f"clearly negative {row['clearly_negative']}"
        for row in overall.to_dict(orient="records")
    ]
    return (
        "Blue: the local language is better; orange: the pivot is. Bold numbers or dots mark gaps whose "
        "interval excludes zero; × marks gaps that are not known, a blank a model without answers in the "
        "locale. Positive cells: " + "; ".join(words) + "."
    )


def _alt(fit: Fit) -> str:
    """Size and means of the heat maps."""
    cube = fit.cube
    means = {str(g): float(np.nanmean(v)) for g, v in _by_gap(fit).items() if np.isfinite(v).any()}
    words = ", ".join(f"{g.replace('_', ' ')} {signed(v)}" for g, v in means.items())
    return (
        f"A heat map for each gap, of {cube.sizes['model']} models by {cube.sizes['locale']} locales. "
        f"Means over all cells: {words}."
    )


def _by_gap(fit: Fit) -> dict[str, np.ndarray]:
    gaps = fit.gaps()
    return {str(g): own["estimate"].to_numpy(float) for g, own in gaps.groupby("gap", sort=False)}
