"""Forest plots: estimates with intervals, a row each, a panel per gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.errors import NothingToDraw
from maskedadv.reports import limits
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import (
    CLEAR,
    CLEAR_COLOURS,
    by_mean,
    clearness,
    ends,
    gap_panels,
    known,
    many,
    of_the_ends,
    rows_in_words,
)
from maskedadv.reports.theme import (
    CATEGORIES,
    INK,
    MANY,
    PAPER,
    axis_number,
    label_inches,
    named_or_not,
    theme_maskedadv,
)
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS, VARIANTS
from maskedadv.words.numbers import level_text


def forest(
    frame: pd.DataFrame,
    row: str = "locale",
    *,
    order: Sequence[str] | None = None,
    axis: str = "gap (logit)",
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Estimates and intervals of the gaps, one row for each value of a column.

    More than `limits.ROWS_NAMED` rows of one variant stand close together, without names: a caterpillar plot.

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
        # A variant has its colour on every page, whichever others stand beside it.
        coloured = VARIANTS if set(variants) <= set(VARIANTS) else variants
        colours = dict(zip(coloured, CATEGORIES, strict=False))
    else:
        data["_colour"] = clearness(data)
        colours = CLEAR_COLOURS
    place = p9.position_dodge(width=0.7) if several else p9.position_identity()
    close = len(rows) > limits.ROWS_NAMED and not several
    each = 0.19 * max(1, len(variants) * 0.7)
    high = min(each * limits.ROWS_NAMED, 8.0) if close else each * len(rows)
    margin = 0.2 if close else label_inches(rows)
    line, point = (0.4, 0.9) if close else (0.9, 2.1)
    raster = len(data) > MANY
    # Without a group of its own plotnine draws each row by itself, which takes seconds for hundreds.
    ends_of = {"ymin": "lower", "ymax": "upper"} | ({} if several else {"group": 1})
    width = min(max(7.0, margin + 2.0 * len(present)), 12.0)
    return (
        p9.ggplot(data, p9.aes("_row", "estimate", color="_colour"))
        + p9.geom_hline(yintercept=0, color=INK, size=0.4)
        + p9.geom_linerange(p9.aes(**ends_of), position=place, size=line, na_rm=True, raster=raster)
        + p9.geom_point(position=place, size=point, fill=PAPER, raster=raster)
        + p9.facet_wrap("_panel", nrow=1)
        + p9.scale_x_discrete(limits=rows, **named_or_not(close))
        + p9.scale_y_continuous(labels=axis_number)
        + p9.scale_color_manual(values=colours, name="variant", limits=variants if several else list(CLEAR))
        + p9.coord_flip()
        + p9.labs(x="", y=axis)
        + theme_maskedadv(width, 1.25 + high, families)
        + p9.theme(panel_grid_major_y=p9.element_blank(), panel_spacing_x=0.03)
        + (p9.theme() if several else p9.theme(legend_title=p9.element_blank()))
    )


def make_locale_means(s: Source, title: str) -> list[Exhibit]:
    """Mean gaps of the locales."""
    means = summaries.locale_means(s.joint)
    tables = {"locale-means": means}
    if len(s.joint.locales) > 1:
        tables["overall-means"] = summaries.overall_means(s.joint)
    return _forests(s, means, "locale", "mean gap over models (logit)", "locale-means", title, tables)


def make_model_means(s: Source, title: str) -> list[Exhibit]:
    """Mean gaps of the models."""
    if len(s.joint.locales) == 1:
        return []
    means = summaries.model_means(s.joint)
    tables = {"model-means": means}
    return _forests(s, means, "model", "mean gap over locales (logit)", "model-means", title, tables)


def _forests(
    s: Source,
    means: pd.DataFrame,
    row: str,
    axis: str,
    name: str,
    title: str,
    tables: Mapping[str, pd.DataFrame],
) -> list[Exhibit]:
    """All rows in one forest; where they are too many for names, a second one of its ends."""
    words = rows_in_words(means, row)
    figure = forest(means, row, axis=axis, families=s.families)
    if not many(means, row):
        return [Exhibit(name, title, _caption(s.fit, row), words, figure, tables)]
    n = int(means[row].nunique())
    caption = f"{_caption(s.fit, row)} {n:,} rows are too many to name; the table {name} names all."
    named = means[means[row].isin(ends(means, row))]
    return [
        Exhibit(name, title, caption, words, figure, tables),
        Exhibit(
            f"{name}-ends",
            f"{title}: lowest and highest",
            of_the_ends(f"{row}s", n, name),
            rows_in_words(named, row),
            forest(named, row, axis=axis, families=s.families),
        ),
    ]


def make_models(s: Source, title: str) -> list[Exhibit]:
    """Every model of every locale, a figure a locale."""
    gaps = s.fit.gaps()
    if len(gaps) > len(GAPS) * limits.CELLS:
        raise NothingToDraw(
            f"{len(gaps) // len(GAPS)} cells are too many to draw one by one; the table gaps has all."
        )
    made = []
    for k, locale in enumerate(s.joint.locales):
        own = gaps[(gaps["locale"] == locale) & gaps["estimate"].notna()]
        if len(own):
            figure = forest(own, "model", families=s.families)
            text = _caption(s.fit, "model")
            made.append(
                Exhibit(
                    f"models-{k + 1}",
                    f"{title}: {locale}",
                    text,
                    rows_in_words(own, "model"),
                    figure,
                    folded=True,
                )
            )
    return made


def _caption(fit: Fit, row: str) -> str:
    """How to read a forest plot of this fit."""
    level = level_text(fit.settings.level)
    return (
        f"Points are estimates, lines {level} intervals, in logits; above zero the local language is better. "
        f"Rows run from the highest to the lowest knowledge gap of the {row}s."
    )
