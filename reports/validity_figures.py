"""Figure 1 of Thellmann et al. (2026): validity of a proxy against the locality of the native benchmark."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv.errors import NothingToDraw
from maskedadv.reports.figures.placing import beside_points
from maskedadv.reports.theme import (
    CATEGORIES,
    INK,
    MUTED,
    axis_number,
    distinct_labels,
    theme_maskedadv,
)
from maskedadv.validity import Study

PANELS = {"partial_r": "Partial correlation", "delta_r2": "ΔR²"}
_FORMATS = ("multiple choice", "open-ended")
_PANEL = (5.9, 1.75)  # inches between the outermost ticks, about


def locality_figure(study: Study, *, families: Sequence[str] = ("DejaVu Sans",)) -> p9.ggplot:
    """Partial r and ΔR² against the share of culture-specific items, one point a pairing.

    The line is the descriptive trend over multiple-choice pairings; open-ended ones are marked and left out
    of it.

    Raises
    ------
    NothingToDraw
        No pairing has both a share and a regression.
    """
    points = _points(study.locality)
    if points.empty:
        raise NothingToDraw("Figure 1: no pairing has a share of CS items and a regression.")
    lines = _lines(study.trends, points)
    texts = _labels(points, lines)
    for frame in (points, lines, texts):
        frame["panel"] = pd.Categorical(frame["panel"], categories=list(PANELS.values()))
    figure = p9.ggplot(points, p9.aes("cs_share", "value"))
    if not lines.empty:
        figure += p9.geom_line(data=lines, color=MUTED, linetype="dashed", size=0.6)
    formats = {"limits": list(_FORMATS), "name": " "}
    return (
        figure
        + p9.geom_point(p9.aes(color="format", shape="format"), size=2.6)
        + p9.geom_text(p9.aes(label="text"), data=texts, size=7.5, color=INK)
        + p9.facet_wrap("panel", scales="free_y", ncol=1)
        + p9.scale_color_manual(values=dict(zip(_FORMATS, CATEGORIES, strict=False)), **formats)
        + p9.scale_shape_manual(values=dict(zip(_FORMATS, "o^", strict=True)), **formats)
        + p9.scale_x_continuous(
            labels=lambda values: [f"{100 * v:.0f}%" for v in values],
            limits=(0, 1), breaks=(0, 0.25, 0.5, 0.75, 1), expand=(0.03, 0), oob=lambda values, *_: values,
        )
        + p9.scale_y_continuous(labels=axis_number, expand=(0.12, 0))
        + p9.labs(x="share of culture-specific (CS) native items", y="")
        + theme_maskedadv(7.0, 6.2, families)
        + p9.theme(legend_title=p9.element_blank(), axis_title_y=p9.element_blank())
    )  # fmt: skip


def _points(locality: pd.DataFrame) -> pd.DataFrame:
    """One row per panel and pairing that has both numbers."""
    parts = [locality.assign(value=locality[measure], panel=panel) for measure, panel in PANELS.items()]
    points = pd.concat(parts, ignore_index=True).astype({"value": float, "cs_share": float})
    points = points.loc[np.isfinite(points["value"]) & np.isfinite(points["cs_share"])].copy()
    points["format"] = np.where(points["open_ended"], _FORMATS[1], _FORMATS[0])
    return points


def _lines(trends: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Ends of the trend line of every panel that has one, over the multiple-choice points only."""
    rows = []
    for line in trends.to_dict(orient="records"):
        panel = PANELS[line["measure"]]
        own = points.loc[(points["panel"] == panel) & (points["format"] == _FORMATS[0]), "cs_share"]
        if np.isfinite(line["slope"]):
            rows += [
                {"panel": panel, "cs_share": x, "value": line["intercept"] + line["slope"] * x}
                for x in (own.min(), own.max())
            ]
    return pd.DataFrame(rows, columns=["panel", "cs_share", "value"])


def _labels(points: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """Names of the pairings, placed off points, lines, edges and each other, per panel."""
    parts = []
    for panel, own in points.groupby("panel", sort=False):
        line = lines.loc[lines["panel"] == panel]
        values = [*own["value"], *line["value"]]
        # In inches of the drawn panel, where labels have their size.
        scale_y = _PANEL[1] / max(np.ptp(values), 0.05)
        avoid = [(-np.inf, 0.0, -np.inf, np.inf), (_PANEL[0], np.inf, -np.inf, np.inf)]
        if len(line):
            along = [
                np.linspace(ends[0], ends[1], 80)
                for ends in (line["cs_share"].to_numpy() * _PANEL[0], line["value"].to_numpy() * scale_y)
            ]
            avoid += [(x - 0.03, x + 0.03, y - 0.03, y + 0.03) for x, y in zip(*along, strict=True)]
        texts = distinct_labels(own["pairing"], 24)
        x, y = beside_points(
            own["cs_share"].to_numpy() * _PANEL[0], own["value"].to_numpy() * scale_y, texts, 1, 1, avoid
        )
        parts.append(
            pd.DataFrame({"panel": panel, "cs_share": x / _PANEL[0], "value": y / scale_y, "text": texts})
        )
    return pd.concat(parts, ignore_index=True)
