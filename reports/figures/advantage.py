"""The masked-advantage plot: local gap against global gap, the diagonal is a knowledge gap of zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.errors import NothingToDraw
from maskedadv.reports import limits
from maskedadv.reports.exhibit import Exhibit, Marks, Source
from maskedadv.reports.figures.common import CLEAR, CLEAR_COLOURS, clearness, known, rows_in_words
from maskedadv.reports.figures.placing import Box, beside_points
from maskedadv.reports.tables import merged_rows
from maskedadv.reports.theme import (
    INK,
    MANY,
    MUTED,
    PAPER,
    POSITIVE,
    axis_number,
    distinct_labels,
    label,
    theme_maskedadv,
)

_INCHES = 6.0


def masked_advantage(
    frame: pd.DataFrame,
    by: str = "locale",
    *,
    cells: pd.DataFrame | None = None,
    pivot: str = "English",
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Proficiency across, local questions up; above the diagonal the local language gives better access.

    Parameters
    ----------
    frame
        Tidy: `by`, gap (all three), estimate, lower, upper. Crosses show both intervals; colour shows the
        interval of the knowledge gap.
    by
        Column whose values are the points.
    cells
        As `Fit.gaps`: drawn as small grey points behind.
    pivot
        Name of the pivot language, for the names of the quadrants.

    Raises
    ------
    NothingToDraw
    """
    wide = _wide(frame, by)
    lowest = min(float(wide[["global_lower", "local_lower"]].to_numpy().min()), -0.5)
    highest = max(float(wide[["global_upper", "local_upper"]].to_numpy().max()), 0.5)
    grey = None
    if cells is not None:
        grey = cells.pivot_table(index=["locale", "model"], columns="gap", values="estimate").dropna()
        values = grey[["global_gap", "local_gap"]].to_numpy(dtype=float)  # the axes; not the knowledge gap
        lowest, highest = min(lowest, values.min(initial=0)), max(highest, values.max(initial=0))
    span = highest - lowest
    lowest, highest = min(lowest, -0.15 * span), max(highest, 0.15 * span)  # room to name every quadrant
    pad = 0.06 * span
    low, high = lowest - pad, highest + pad
    corners = pd.DataFrame({"x": [low, low, high], "y": [low, high, high]})
    figure = (
        p9.ggplot(wide, p9.aes("global_estimate", "local_estimate"))
        + p9.geom_polygon(p9.aes("x", "y"), data=corners, fill=POSITIVE, alpha=0.07)
        + p9.geom_hline(yintercept=0, color=INK, size=0.4)
        + p9.geom_vline(xintercept=0, color=INK, size=0.4)
        + p9.geom_abline(slope=1, intercept=0, color=MUTED, linetype="dashed", size=0.6)
        + _quadrants(low, high, pivot)
    )
    if grey is not None and len(grey):
        figure += p9.geom_point(
            p9.aes("global_gap", "local_gap"),
            data=grey.reset_index(),
            color=MUTED,
            alpha=0.35,
            size=0.8,
            raster=len(grey) > MANY,
        )
    few = len(wide) <= limits.LABELS
    line = {"size": 0.7} if few else {"size": 0.3, "alpha": 0.35, "raster": 2 * len(wide) >= MANY}
    figure += [
        p9.geom_segment(
            p9.aes(x="global_lower", xend="global_upper", yend="local_estimate", color="_clear"),
            **line,
        ),
        p9.geom_segment(
            p9.aes(y="local_lower", yend="local_upper", xend="global_estimate", color="_clear"),
            **line,
        ),
        p9.geom_point(p9.aes(fill="_clear"), color=PAPER, size=2.6 if few else 1.8, stroke=0.4),
    ]
    if few:
        texts = distinct_labels(wide[by], 22)
        x, y = wide["global_estimate"].to_numpy(float), wide["local_estimate"].to_numpy(float)
        at_x, at_y = beside_points(x, y, texts, _INCHES, high - low, _crosses(wide))
        wide = wide.assign(_text=texts, _x=at_x, _y=at_y)
        figure += p9.geom_text(p9.aes("_x", "_y", label="_text"), data=wide, size=8, color=INK)
    return (
        figure
        + p9.scale_color_manual(values=CLEAR_COLOURS, limits=list(CLEAR), name="knowledge gap:")
        + p9.scale_fill_manual(values=CLEAR_COLOURS, limits=list(CLEAR), name="knowledge gap:")
        + p9.scale_x_continuous(labels=axis_number, limits=(low, high), expand=(0, 0))
        + p9.scale_y_continuous(labels=axis_number, limits=(low, high), expand=(0, 0))
        + p9.coord_fixed()
        + p9.labs(x="global gap: proficiency (logit)", y="local gap: local questions (logit)")
        + theme_maskedadv(_INCHES + 0.9, _INCHES + 1.2, families)
    )


def _wide(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    parts = {gap: frame[frame["gap"] == f"{gap}_gap"].set_index(by) for gap in ("global", "local")}
    columns = {
        f"{gap}_{name}": part[name] for gap, part in parts.items() for name in ("estimate", "lower", "upper")
    }
    wide = pd.DataFrame(columns).rename_axis(by).reset_index()
    access = frame[frame["gap"] == "knowledge_gap"].set_index(by).reindex(wide[by])
    wide["_clear"] = clearness(access)
    if not (wide["global_estimate"].notna() & wide["local_estimate"].notna()).any():
        raise NothingToDraw("the masked-advantage plot needs the global and the local gap of something.")
    wide = known(wide, ["global_estimate", "local_estimate"], "masked-advantage plot")
    for gap in ("global", "local"):
        for end in ("lower", "upper"):
            wide[f"{gap}_{end}"] = wide[f"{gap}_{end}"].fillna(wide[f"{gap}_estimate"])
    return wide


def _crosses(wide: pd.DataFrame) -> list[Box]:
    """The intervals as boxes without thickness."""
    flat = wide[["global_lower", "global_upper", "local_estimate", "local_estimate"]]
    tall = wide[["global_estimate", "global_estimate", "local_lower", "local_upper"]]
    return [tuple(row) for part in (flat, tall) for row in part.to_numpy(dtype=float)]


def _quadrants(low: float, high: float, pivot: str) -> list[p9.geoms.geom.geom]:
    """The names of the quadrants in their corners."""
    language = label(pivot)
    inset = 0.02 * (high - low)
    places = (
        (low + inset, high - inset, "left", "top", "local language better\ndespite weaker proficiency"),
        (high - inset, high - inset, "right", "top", "local language\nbetter"),
        (low + inset, low + inset, "left", "bottom", f"{language} better"),
        (high - inset, low + inset, "right", "bottom", f"{language} better despite\nstronger proficiency"),
    )
    parts = []
    for x, y, ha, va, text in places:
        parts.append(
            p9.annotate(
                "label",
                x=x,
                y=y,
                label=text,
                ha=ha,
                va=va,
                size=7.5,
                color=MUTED,
                fontstyle="italic",
                fill=PAPER,
                label_size=0,
                label_padding=0.15,
            )
        )
    return parts


def make_advantage(s: Source, title: str) -> list[Exhibit]:
    """The masked advantage of locales, or of the models of the only one."""
    gaps = s.fit.gaps()
    if len(s.joint.locales) > 1:
        frame, by, cells = summaries.locale_means(s.joint), "locale", gaps
    else:
        frame, by, cells = gaps, "model", None
    figure = masked_advantage(frame, by, cells=cells, pivot=s.pivot, families=s.families)
    marks: tuple[Marks, ...] = (point_marks(gaps, "gaps"),)
    if by == "locale":
        marks += (point_marks(frame, "locale-means"),)
    caption = _caption(by, s.pivot)
    if frame[by].nunique() > limits.LABELS:
        caption += (
            f" {frame[by].nunique():,} {by}s are too many to label; the table {marks[-1].table} names all."
        )
    words = rows_in_words(frame, by)
    return [Exhibit("masked-advantage", title, caption, words, figure, marks=marks)]


def point_marks(frame: pd.DataFrame, table: str) -> Marks:
    """The points of a tidy table of gaps that `masked_advantage` draws, as rows of this table."""
    rows = merged_rows(frame)
    at = np.full((rows.max() + 1, 2), np.nan)
    for k, gap in enumerate(("global_gap", "local_gap")):
        own = frame["gap"].eq(gap).to_numpy()
        at[rows[own], k] = frame.loc[own, "estimate"]
    drawn = np.flatnonzero(np.isfinite(at).all(axis=1))
    x, y = at[drawn].T
    return Marks(table, drawn, np.zeros(len(drawn), np.intp), x, y)


def _caption(by: str, pivot: str) -> str:
    """How to read the masked-advantage plot."""
    return (
        "Across: how much weaker proficiency in the local language is, from culture-agnostic questions. Up: "
        f"local questions, in the local language against {pivot}. On the dashed diagonal the knowledge gap "
        "is zero; above it (shaded) the local language gives better access to local knowledge than "
        "proficiency "
        f"alone would. Crosses are the intervals of the {by}s"
        + ("; small points are single models." if by == "locale" else ".")
    )
