"""Power and width of the knowledge gap's interval against items and models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv.errors import NothingToDraw
from maskedadv.reports.theme import CATEGORIES, MUTED, axis_number, theme_maskedadv
from maskedadv.words.numbers import level_text

FAMILIES = ("DejaVu Sans",)


def power_curves(
    table: pd.DataFrame, *, wanted: float = 0.8, level: float = 0.95, families: Sequence[str] = FAMILIES
) -> p9.ggplot:
    """Curves by the information formula, points by simulation, a column of panels for every variant.

    Parameters
    ----------
    table : from `maskedadv.power.power_table`
    wanted : power at which a line is drawn
    level : of the intervals

    Raises
    ------
    NothingToDraw
        No power is known.
    """
    power, width = "power", f"{level_text(level)} width (logit)"
    parts = []
    for how, columns in (
        ("formula", ("power", "width")),
        ("simulation", ("power_simulated", "width_simulated")),
    ):
        for measure, column in zip((power, width), columns, strict=True):
            own = table[["variant", "models", "items_cs"]].assign(
                value=table[column], measure=measure, how=how, error=0.0
            )
            if column == "power_simulated":
                own["error"] = table["power_error"]
            parts.append(own)
    long = pd.concat(parts, ignore_index=True)
    long = long[np.isfinite(long["value"].to_numpy(dtype=float))]
    if long.empty:
        raise NothingToDraw("power: no row has a known number.")
    sizes = sorted(long["models"].unique())
    long["models"] = pd.Categorical(long["models"].astype(str), categories=[str(s) for s in sizes])
    long["measure"] = pd.Categorical(long["measure"], categories=[power, width])
    variants = list(dict.fromkeys(long["variant"]))
    long["variant"] = pd.Categorical(long["variant"], categories=variants)
    curves, points = long[long["how"] == "formula"], long[long["how"] == "simulation"]
    points = points.assign(
        lower=points["value"] - 2 * points["error"], upper=points["value"] + 2 * points["error"]
    )
    goal = pd.DataFrame({"measure": pd.Categorical([power], categories=[power, width]), "value": [wanted]})
    figure = (
        p9.ggplot(long, p9.aes("items_cs", "value", color="models"))
        + p9.geom_hline(p9.aes(yintercept="value"), goal, linetype="dashed", color=MUTED, size=0.4)
        + p9.facet_grid("measure", "variant", scales="free_y")
        + p9.scale_x_log10(
            labels=lambda v: [f"{x:,.0f}" for x in v], breaks=sorted(long["items_cs"].unique())
        )
        + p9.scale_y_continuous(labels=axis_number)
        + p9.expand_limits(y=0)
        + p9.scale_color_manual(values=_colours(len(sizes)), name="models")
        + p9.labs(x="culture-specific items", y="")
        + theme_maskedadv(width=2.0 + 2.6 * len(variants), height=4.8, families=families)
        + p9.theme(axis_text_x=p9.element_text(rotation=45, ha="right"))
    )
    if len(curves):
        figure += p9.geom_line(p9.aes(group="models"), curves, size=0.8)
    if len(points):
        figure += p9.geom_pointrange(p9.aes(ymin="lower", ymax="upper"), points, size=0.4)
    return figure


def _colours(count: int) -> list[str]:
    return [CATEGORIES[k % len(CATEGORIES)] for k in range(count)]
