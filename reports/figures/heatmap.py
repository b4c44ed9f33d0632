"""Three heat maps, model by locale, one for each gap (arXiv 2606.07422, Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.reports import limits
from maskedadv.reports.exhibit import Exhibit, Marks, Source
from maskedadv.reports.figures.common import by_mean, gap_panels, known, many
from maskedadv.reports.tables import merged_rows
from maskedadv.reports.theme import (
    CELL_INK,
    MANY,
    MUTED,
    diverging_fill,
    label_inches,
    named_or_not,
    theme_maskedadv,
)
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS, gap_titles
from maskedadv.words.numbers import percent, signed


def gap_heatmap(
    gaps: pd.DataFrame,
    *,
    locales: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Every cell's three gaps in colour, zero in the middle of the scale.

    A cell whose interval excludes zero is bold, or carries a dot where there is no room for numbers; where
    there is none for dots and names either (`limits.ROWS_NAMED`), the other cells are faint. A gap that is
    not known has a cross on a blank cell.

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
    numbers = len(columns) <= limits.NUMBERS[0] and len(rows) <= limits.NUMBERS[1]
    close, flat = len(columns) > limits.ROWS_NAMED, len(rows) > limits.ROWS_NAMED
    cell = 0.42 if numbers else max(10.5 / len(columns), 0.01) if close else 0.2
    tall = max(9 / len(rows), 0.01) if flat else 0.24 if numbers else 0.17
    data = gaps.assign(
        _panel=gap_panels(gaps),
        _column=pd.Categorical(gaps["locale"], categories=columns),
        _row=pd.Categorical(gaps["model"], categories=rows),
    )
    clear = (data["lower"] > 0) | (data["upper"] < 0)
    figure = (
        p9.ggplot(data, p9.aes("_column", "_row"))
        + [
            p9.geom_tile(
                p9.aes(fill="estimate"),
                part,
                width=1.0 if close else 0.94,
                height=1.0 if flat else 0.94,
                alpha=alpha,
                raster=len(gaps) > MANY,
            )
            for part, alpha in _shades(data[data["estimate"].notna()], clear, pale=close or flat)
        ]
        + p9.facet_wrap("_panel", ncol=1 if stacked else 3, scales="free_x" if stacked else "fixed")
        + p9.scale_x_discrete(limits=columns, **named_or_not(close))
        + p9.scale_y_discrete(limits=rows, **named_or_not(flat))
        + diverging_fill(limit, "gap (logit)")
        + p9.labs(x="", y="")
    )
    unknown = data[data["estimate"].isna()]
    if len(unknown) and not (close or flat):
        figure += p9.geom_text(label="×", data=unknown, color=MUTED, size=8)
    if numbers:
        data["_text"] = [signed(v) if np.isfinite(v) else "" for v in data["estimate"]]
        for part, weight in ((data[clear], "bold"), (data[~clear & data["estimate"].notna()], "normal")):
            if len(part):
                figure += p9.geom_text(
                    p9.aes(label="_text"), data=part, size=6.5, color=CELL_INK, fontweight=weight
                )
    elif clear.any() and not (close or flat):
        figure += p9.geom_point(data=data[clear], size=0.5, color=CELL_INK, raster=len(gaps) > MANY)
    across = 1 if stacked else 3
    beside, below = 0.2 if flat else label_inches(rows), 0.1 if close else label_inches(columns)
    width = beside + across * max(cell * len(columns) + 0.15, 1.9) + 0.3
    height = (3 if stacked else 1) * (tall * len(rows) + 0.35 + (below if stacked else 0)) + 1.2
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


def _shades(known: pd.DataFrame, clear: pd.Series, *, pale: bool) -> list[tuple[pd.DataFrame, float]]:
    """The cells, those whose interval includes zero pale where nothing else can say it; and how opaque."""
    if not pale:
        return [(known, 1.0)]
    at = clear[known.index]
    return [(part, alpha) for part, alpha in ((known[at], 1.0), (known[~at], 0.4)) if len(part)]


def cell_marks(gaps: pd.DataFrame) -> Marks:
    """The cells of `gap_heatmap` as rows of the table gaps."""
    known = gaps[gaps["estimate"].notna()]
    rows = merged_rows(gaps)[gaps["estimate"].notna().to_numpy()]
    at = {
        key: 1.0 + pd.Index(by_mean(gaps, key)).get_indexer(pd.Index(known[key])).astype(np.float64)
        for key in ("locale", "model")
    }
    panels = pd.Index(GAPS).get_indexer(pd.Index(known["gap"]))
    titles = tuple(gap_titles()[g] for g in GAPS)
    return Marks("gaps", rows, panels, at["locale"], at["model"], 1.0, 1.0, titles)


def make_heatmap(s: Source, title: str) -> list[Exhibit]:
    """Every gap of every cell, with the shares of positive ones."""
    gaps = s.fit.gaps()
    figure = gap_heatmap(gaps, families=s.families)
    shares = summaries.sign_shares(s.fit)
    tables = {"gaps": gaps, "sign-shares": shares}
    caption = _caption(shares, gaps)
    marks = (cell_marks(gaps),)
    return [Exhibit("heat-map", title, caption, _alt(s.fit), figure, tables, marks=marks)]


def _caption(shares: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """How to read the heat map, and the shares of positive cells."""
    overall = shares.tail(len(GAPS))
    words = [
        f"{row['gap'].replace('_', ' ')} {row['positive']} of {row['known']} "
        f"({percent(row['share_positive'])}), clearly {row['clearly_positive']}, "
        f"clearly negative {row['clearly_negative']}"
        for row in overall.to_dict(orient="records")
    ]
    close = [f"{key}s" for key in ("locale", "model") if many(gaps, key)]
    told = (
        "Bold numbers or dots mark gaps whose interval excludes zero; × marks gaps that are not known, a "
        "blank a model without answers in the locale."
    )
    if close:
        told = (
            f"The {' and '.join(close)} are too many to name; they run by their mean knowledge gap, and the "
            "table gaps names all. Faint: the interval includes zero; blank: not known."
        )
    return (
        f"Blue: the local language is better; orange: the pivot is. {told} Positive cells: "
        f"{'; '.join(words)}."
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
