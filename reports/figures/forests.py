"""Forest plots: estimates with intervals, a row each, a panel per gap."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotnine as p9

from maskedadv.reports.figures.common import CLEAR, CLEAR_COLOURS, by_mean, clearness, gap_panels, known
from maskedadv.reports.theme import CATEGORIES, INK, PAPER, axis_number, label_inches, labels, theme_maskedadv
from maskedadv.vocabulary import GAPS


def forest(
    frame: pd.DataFrame,
    row: str = "locale",
    *,
    order: Sequence[str] | None = None,
    axis: str = "gap (logit)",
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Estimates and intervals of the gaps, one row for each value of a column.

    Parameters
    ----------
    frame
        Tidy: `row`, gap, estimate, lower, upper; with a column `variant`, its values stand side by side.
    row
        The column whose values are the rows.
    order
        Values from the bottom up; by default from the lowest to the highest knowledge gap.
    axis
        Title of the axis: what is compared, in logits.

    Raises
    ------
    NothingToDraw
        No estimate is known.
    """
    data = known(frame, ["estimate"], "forest plot")
    rows = [v for v in (order or by_mean(data, row)) if v in set(data[row])]
    data["_row"] = pd.Categorical(data[row], categories=rows)
    present = [g for g in GAPS if g in set(data["gap"])]
    data["_panel"] = gap_panels(data, present)
    variants = list(dict.fromkeys(data["variant"])) if "variant" in data else []
    several = len(variants) > 1
    if several:
        # The flipped axis counts upwards: reversed, the first variant stands on top, as in the legend.
        data["_colour"] = pd.Categorical(data["variant"], categories=variants[::-1])
        colours = dict(zip(variants, CATEGORIES, strict=False))
    else:
        data["_colour"] = clearness(data)
        colours = CLEAR_COLOURS
    place = p9.position_dodge(width=0.7) if several else p9.position_identity()
    each = 0.19 * max(1, len(variants) * 0.7)
    margin = label_inches(rows)
    width = min(max(7.0, margin + 2.0 * len(present)), 12.0)
    return (
        p9.ggplot(data, p9.aes("_row", "estimate", color="_colour"))
        + p9.geom_hline(yintercept=0, color=INK, size=0.4)
        + p9.geom_linerange(p9.aes(ymin="lower", ymax="upper"), position=place, size=0.9, na_rm=True)
        + p9.geom_point(position=place, size=2.1, fill=PAPER)
        + p9.facet_wrap("_panel", nrow=1)
        + p9.scale_x_discrete(labels=labels, limits=rows)
        + p9.scale_y_continuous(labels=axis_number)
        + p9.scale_color_manual(values=colours, name="variant", limits=variants if several else list(CLEAR))
        + p9.coord_flip()
        + p9.labs(x="", y=axis)
        + theme_maskedadv(width, 1.25 + each * len(rows), families)
        + p9.theme(panel_grid_major_y=p9.element_blank(), panel_spacing_x=0.03)
        + (p9.theme() if several else p9.theme(legend_title=p9.element_blank()))
    )
