"""Ability against raw accuracy (arXiv 2606.07422, section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import CATEGORIES, MANY, axis_number, theme_maskedadv
from maskedadv.words.numbers import signed

_TITLES = {"CA": "CA: culture-agnostic", "CS": "CS: culture-specific"}


def ability_accuracy(abilities: pd.DataFrame, *, families: Sequence[str] = ("DejaVu Sans",)) -> p9.ggplot:
    """Every finite ability with its interval against the share of right answers, a panel per subset.

    Parameters
    ----------
    abilities
        As `summaries.abilities`.

    Raises
    ------
    NothingToDraw
    """
    data = known(abilities, ["ability", "accuracy"], "ability figure")
    data = data.assign(
        _panel=pd.Categorical(data["subset"].map(_TITLES), categories=list(_TITLES.values())),
        _language=pd.Categorical(data["query"], categories=["local", "pivot"]),
    )
    many, raster = len(data) > 400, len(data) > MANY
    return (
        p9.ggplot(data, p9.aes("accuracy", "ability", color="_language"))
        + p9.geom_linerange(
            p9.aes(ymin="lower", ymax="upper"),
            size=0.4,
            alpha=0.15 if many else 0.45,
            na_rm=True,
            raster=raster,
        )
        + p9.geom_point(size=0.8 if many else 1.6, alpha=0.7, raster=raster)
        + p9.facet_wrap("_panel", nrow=1)
        + p9.scale_color_manual(values=list(CATEGORIES[:2]), name="asked in the language:")
        + p9.scale_y_continuous(labels=axis_number)
        + p9.labs(x="accuracy", y="ability (logit)")
        + theme_maskedadv(7.0, 3.6, families)
    )


def make_ability(s: Source, title: str) -> list[Exhibit]:
    """Abilities against accuracies, and how they correlate."""
    table = summaries.ability_accuracy(s.fit)
    figure = ability_accuracy(summaries.abilities(s.fit), families=s.families)
    text = _caption(table)
    return [Exhibit("ability-accuracy", title, text, text, figure, {"ability-accuracy": table})]


def _caption(table: pd.DataFrame) -> str:
    """The correlations of ability and accuracy in words."""
    r, rho = table["pearson"].dropna(), table["spearman"].dropna()
    text = "Abilities with their intervals against the share of right answers."
    if r.empty:
        return text + " With fewer than three models there is no correlation to give."
    return text + (
        f" Over models, within {len(r)} locale × subset × language cells: Pearson mean {signed(r.mean(), 3)} "
        f"({signed(r.min(), 3)} to {signed(r.max(), 3)}), Spearman mean {signed(rho.mean(), 4)}. Points off "
        "the curve answered other items than the rest."
    )
