"""Does the Rasch model fit? Mean squares against difficulty and ability, reliabilities, Andersen's tests."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotnine as p9

from maskedadv.assumptions.model_fit import FitCheck
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import (
    CATEGORIES,
    INK,
    MANY,
    MUTED,
    axis_number,
    distinct_labels,
    theme_maskedadv,
)
from maskedadv.words.numbers import level_text, plural

SHOWN = 20
_KINDS = ("item", "model in one language", "flagged")


def mean_squares(
    found: FitCheck, *, locales: Sequence[str] | None = None, families: Sequence[str] = ("DejaVu Sans",)
) -> p9.ggplot:
    """Outfit of items by difficulty and of models by ability, on one scale: a Wright map with fit.

    Raises
    ------
    NothingToDraw
    """
    chosen = list(locales) if locales is not None else list(dict.fromkeys(found.items["locale"]))
    items = found.items.assign(_x=found.items["difficulty"], _kind=_KINDS[0])
    cells = found.cells.assign(_x=found.cells["ability"], _kind=_KINDS[1])
    columns = ["locale", "subset", "_x", "outfit", "_kind", "flagged"]
    data = pd.concat([items[columns], cells[columns]], ignore_index=True)
    data = known(data[data["locale"].isin(chosen)], ["_x", "outfit"], "mean squares")
    data["_kind"] = data["_kind"].where(~data["flagged"].astype(bool), _KINDS[2])
    data["_kind"] = pd.Categorical(data["_kind"], categories=list(_KINDS))
    data["_y"] = data["outfit"].clip(0.1, 10.0)
    shown = dict(zip(chosen, distinct_labels(chosen, 14), strict=True))
    data["_locale"] = pd.Categorical([shown[v] for v in data["locale"]], categories=list(shown.values()))
    return (
        p9.ggplot(data.sort_values("_kind", ignore_index=True), p9.aes("_x", "_y", color="_kind"))
        + p9.geom_hline(yintercept=1, color=INK, size=0.4)
        + p9.geom_point(size=1.2, alpha=0.7, stroke=0, raster=len(data) > MANY)
        + p9.facet_grid("subset", "_locale")
        + p9.scale_color_manual(
            values=dict(zip(_KINDS, (MUTED, CATEGORIES[0], CATEGORIES[1]), strict=True)), name=" "
        )
        + p9.scale_y_log10(
            breaks=[0.1, 0.3, 1, 3, 10], labels=["0.1", "0.3", "1", "3", "10"], limits=(0.09, 11)
        )
        + p9.scale_x_continuous(labels=axis_number)
        + p9.labs(x="difficulty or ability (logit)", y="outfit mean square")
        + theme_maskedadv(max(5.0, 1.4 + 1.3 * len(chosen)), 4.4, families)
    )


def make_model_fit(s: Source, title: str) -> list[Exhibit]:
    """Figure, the items and cells that stray most, reliabilities, Andersen's tests, dimensions.

    Nothing where no output of `maskedadv fit-check` was given.
    """
    found = s.checks.get("fit-check")
    if found is None:
        return []
    assert isinstance(found, FitCheck)
    tables = {
        "fit-blocks": found.blocks,
        "fit-andersen": found.andersen,
        "fit-dimensions": found.dimensions,
        "fit-items": _most(found.items),
        "fit-cells": _most(found.cells),
    }
    words = _caption(found)
    made = []
    locales = list(dict.fromkeys(found.items["locale"]))
    for k in range(0, len(locales), 8):
        figure = mean_squares(found, locales=locales[k : k + 8], families=s.families)
        name = "model-fit" if len(locales) <= 8 else f"model-fit-{k // 8 + 1}"
        made.append(Exhibit(name, title, words, words, figure, tables if k == 0 else {}, folded=k > 0))
    return made


def _most(frame: pd.DataFrame) -> pd.DataFrame:
    """Those that stray most, by the smaller of the two p values."""
    p = frame[["infit_p", "outfit_p"]].min(axis=1)
    return frame.loc[p.sort_values(kind="stable").index[:SHOWN]].reset_index(drop=True)


def _caption(found: FitCheck) -> str:
    items, cells = int(found.items["flagged"].sum()), int(found.cells["flagged"].sum())
    told = [
        "Outfit is 1 where answers are as noisy as the Rasch model says, above where noisier, below where "
        "tidier.",
        f"{plural(items, 'item')} and {plural(cells, 'cell')} (a model in one language) stray beyond chance "
        f"at a false discovery rate of {level_text(found.settings['alpha'])} in each locale and subset.",
        *(f"{note[0].upper()}{note[1:].rstrip('.')}." for note in found.notes),
    ]
    return " ".join(told)
