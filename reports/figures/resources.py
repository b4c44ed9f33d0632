"""Gaps against resource level (arXiv 2606.07422, Table 1 as a picture)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.errors import NothingToDraw
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import CLEAR, CLEAR_COLOURS, clearness, gap_panels, known
from maskedadv.reports.theme import INK, MUTED, PAPER, axis_number, distinct_labels, theme_maskedadv
from maskedadv.words.numbers import p_value, plural, signed

_LANES = 0.74  # share of the distance between two levels that their locales are spread over
_MOST_IN_A_LEVEL = 14


def resource_trend(
    means: pd.DataFrame,
    levels: pd.Series,
    trend: pd.DataFrame,
    by_level: pd.DataFrame,
    *,
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Locale means with intervals at their resource level, level means as bars, r and its p in words.

    Parameters
    ----------
    means
        As `summaries.locale_means`.
    levels
        Resource level by locale; locales without one are left out.
    trend, by_level
        As `summaries.resource_trend` and `summaries.by_resource_level`.

    Raises
    ------
    NothingToDraw
    """
    data = means.assign(_level=means["locale"].map(levels).astype(float))
    data = known(data, ["estimate", "_level"], "resource figure")
    data["_x"] = _lanes(data)
    data["_panel"], data["_clear"] = gap_panels(data), clearness(data)
    bars = known(by_level, ["estimate"], "resource figure")
    bars = bars.assign(
        _panel=gap_panels(bars),
        _left=bars["resource_level"] - _LANES / 2,
        _right=bars["resource_level"] + _LANES / 2,
    )
    words = trend.assign(
        _panel=gap_panels(trend),
        _x=bars["_left"].min(),
        _y=np.inf,
        _text=[_in_words(row) for row in trend.to_dict(orient="records")],
    )
    words = words[words["_panel"].isin(set(data["_panel"]))]
    figure = (
        p9.ggplot(data, p9.aes("_x", "estimate"))
        + p9.geom_hline(yintercept=0, color=INK, size=0.4)
        + p9.geom_segment(
            p9.aes(x="_left", xend="_right", y="estimate", yend="estimate"), data=bars, color=MUTED, size=1.1
        )
        + p9.geom_linerange(p9.aes(ymin="lower", ymax="upper", color="_clear"), size=0.8, na_rm=True)
        + p9.geom_point(p9.aes(color="_clear"), fill=PAPER, size=1.8)
        + p9.geom_text(
            p9.aes("_x", "_y", label="_text"), data=words, ha="left", va="top", size=7.5, color=MUTED
        )
        + p9.facet_wrap("_panel", ncol=1, scales="free_y")
    )
    if data.groupby("_level")["locale"].nunique().max() <= _MOST_IN_A_LEVEL:
        data["_text"] = distinct_labels(data["locale"], 8)
        data["_top"] = data["upper"].fillna(data["estimate"])
        figure += p9.geom_text(
            p9.aes(y="_top", label="_text"), data=data, size=7.5, va="bottom", nudge_y=0.04, color=INK
        )
    ticks = sorted(set(data["_level"]))
    return (
        figure
        + p9.scale_color_manual(values=CLEAR_COLOURS, limits=list(CLEAR), name=" ")
        + p9.scale_x_continuous(breaks=ticks, labels=axis_number)
        + p9.scale_y_continuous(labels=axis_number, expand=(0.08, 0, 0.22, 0))
        + p9.labs(x="resource level (higher: more resources)", y="mean gap over models (logit)")
        + theme_maskedadv(7.0, 6.6, families)
        + p9.theme(panel_grid_major_x=p9.element_blank(), legend_title=p9.element_blank())
    )


def _lanes(data: pd.DataFrame) -> np.ndarray:
    """x of every locale: side by side around its level, by estimate."""
    place = data["_level"].to_numpy(float).copy()
    for level, own in data.groupby("_level"):
        locales = own.groupby("locale")["estimate"].mean().sort_values().index
        step = _LANES / max(len(locales), 3)
        for k, name in enumerate(locales):
            at = (data["locale"] == name) & (data["_level"] == level)
            place[at.to_numpy()] += step * (k - (len(locales) - 1) / 2)
    return place


def _in_words(row: Mapping[Any, Any]) -> str:
    if not np.isfinite(row["r"]):
        return "too few locales or levels for a correlation"
    slope = f"{signed(row['slope'])} [{signed(row['slope_lower'])}, {signed(row['slope_upper'])}]"
    return f"r = {signed(row['r'])}, p {p_value(row['p'])}; slope {slope} a level"


def make_resources(s: Source, title: str) -> list[Exhibit]:
    """Mean gaps of the locales against their resource level."""
    trend = summaries.resource_trend(s.joint, s.locales)
    by_level = summaries.by_resource_level(s.joint, s.locales)
    if by_level["resource_level"].max() == by_level["resource_level"].min():
        raise NothingToDraw("every locale with a known resource level has the same one; nothing to compare.")
    figure = resource_trend(
        summaries.locale_means(s.joint), s.locales["resource_level"], trend, by_level, families=s.families
    )
    tables = {"resource-levels": by_level, "resource-trend": trend}
    text = _caption(trend, s.joint.locales, s.locales)
    return [Exhibit("resource-level", title, text, _alt(trend), figure, tables)]


def _caption(trend: pd.DataFrame, locales: Sequence[str], facts: pd.DataFrame) -> str:
    """How to read the resource figure, and which locales are not in it."""
    level = facts["resource_level"].reindex(list(locales))
    absent = list(level[level.isna()].index)
    tail = f" Without a known level, and left out: {', '.join(absent)}." if absent else ""
    n = int(trend["n_locales"].max())
    return (
        f"Means over models of {plural(n, 'locale')} by resource level (those that come with maskedadv: "
        "classes of Joshi et al. 2020); grey bars are means of a level. r, its p (two-sided t) and Spearman "
        "take the locales for a sample of languages; the slope's interval is about these locales, from the "
        "joint uncertainty." + tail
    )


def _alt(trend: pd.DataFrame) -> str:
    """The correlations with the resource level."""
    words = [
        f"{row['gap'].replace('_', ' ')}: r = {signed(row['r'])}, p {p_value(row['p'])}, Spearman "
        f"{signed(row['spearman'])}"
        for row in trend.to_dict(orient="records")
    ]
    return "Mean gaps of locales against their resource level. " + "; ".join(words) + "."
