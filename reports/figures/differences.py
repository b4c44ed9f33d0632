"""One group of models against another: home, adapted, families, open and closed."""

from __future__ import annotations

import pandas as pd

from maskedadv import summaries
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import rows_in_words
from maskedadv.reports.figures.forests import forest

_HOME = (
    "Mean gap of the models from the locale's home less that of all others, on that locale. Models of "
    "unknown origin count on neither side. Intervals are of the difference: noise that all models share "
    "cancels."
)

_ADAPTED = (
    "Gap of each model that was adapted to the language, less the mean of the general-purpose models in that "
    "locale. Intervals are of the difference."
)

_FAMILIES = "Mean gap over the models of a family in each locale, then over its locales."

_KINDS = (
    "Mean gap over the models of a kind in each locale, then over its locales; the difference within locales."
)


def make_home(s: Source, title: str) -> list[Exhibit]:
    """Home models against all others."""
    table = summaries.home_versus_others(s.joint, s.model_table(), s.locales)
    return _difference(
        s, title, "home-versus-others", "locale", "home models − all others (logit)", table, _HOME
    )


def make_adapted(s: Source, title: str) -> list[Exhibit]:
    """Adapted models against the general ones."""
    table = summaries.adapted_versus_general(s.joint, s.model_table())
    axis = "Δ: adapted − general models (logit)"
    return _difference(s, title, "adapted", "model", axis, table, _ADAPTED)


def make_families(s: Source, title: str) -> list[Exhibit]:
    """Mean gaps of the families."""
    table = summaries.by_family(s.joint, s.model_table())
    return _difference(s, title, "families", "family", "mean gap (logit)", table, _FAMILIES)


def make_kinds(s: Source, title: str) -> list[Exhibit]:
    """Open models against closed ones."""
    table = summaries.by_kind(s.joint, s.model_table())
    return _difference(s, title, "kinds", "kind", "mean gap (logit)", table, _KINDS)


def _difference(
    s: Source, title: str, name: str, row: str, axis: str, table: pd.DataFrame, text: str
) -> list[Exhibit]:
    shown = table
    if row == "model" and table["model"].duplicated().sum() > len(table) * 2 / 3:
        shown = table.assign(model=table["model"] + " · " + table["locale"])
    figure = forest(shown, row, axis=axis, families=s.families)
    return [Exhibit(name, title, text, rows_in_words(shown, row), figure, {name: table})]
