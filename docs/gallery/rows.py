"""What the scripts of the gallery have in common: means with their intervals, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from maskedadv.result.fit_result import Fit
from maskedadv.summaries import Joint, locale_means, overall_means
from maskedadv.vocabulary import GAPS

Row = dict[str, float]


def interval(row: Mapping[str, Any]) -> Row:
    """Estimate and interval of a row."""
    return {name: float(row[name]) for name in ("estimate", "lower", "upper")}


def clear(row: Mapping[str, Any]) -> bool:
    """Whether the interval excludes zero."""
    return bool(row["lower"] > 0 or row["upper"] < 0)


def means(fit: Fit, variant: str = "plain", models: Iterable[str] | None = None) -> dict[str, dict[str, Row]]:
    """Mean gaps over models by locale, and over all locales under `all`."""
    joint = Joint.of(fit, variant)
    joint = joint.only(joint.locales, list(models or joint.models))
    frame = pd.concat([locale_means(joint), overall_means(joint).assign(locale="all")])
    return {
        str(locale): {gap: interval(own[own["gap"] == gap].iloc[0]) for gap in GAPS}
        for locale, own in frame.groupby("locale", sort=False)
    }


def long_table(found: Mapping[str, Mapping[str, Mapping[str, Row]]], column: str) -> pd.DataFrame:
    """The same as rows for a figure: `column` (names of `found`), locale, gap, estimate, lower, upper."""
    return pd.DataFrame(
        {column: name, "locale": locale, "gap": gap, **row}
        for name, places in found.items()
        for locale, gaps in places.items()
        for gap, row in gaps.items()
    )


def accuracies(table: pd.DataFrame, column: str = "correct") -> dict[str, dict[str, float]]:
    """Mean of a column by subset and language."""
    share = table.groupby(["subset", "language"])[column].mean()
    return {str(s): {str(k[1]): float(v) for k, v in own.items()} for s, own in share.groupby(level=0)}
