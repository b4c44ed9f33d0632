"""What the figures share: order, checks, and how clear a gap is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.errors import NothingToDraw
from maskedadv.reports import limits
from maskedadv.reports.theme import NEGATIVE, POSITIVE, ZERO
from maskedadv.vocabulary import GAP_TABLE, GAPS, KNOWLEDGE
from maskedadv.words.numbers import signed

CLEAR = ("interval below zero", "interval includes zero", "interval above zero")
CLEAR_COLOURS = dict(zip(CLEAR, (NEGATIVE, ZERO, POSITIVE), strict=True))


def known(frame: pd.DataFrame, columns: Sequence[str], what: str) -> pd.DataFrame:
    """The rows whose columns are all finite.

    Raises
    ------
    NothingToDraw
    """
    kept = frame[np.isfinite(frame[list(columns)].to_numpy(dtype=float)).all(axis=1)]
    if kept.empty:
        raise NothingToDraw(f"{what}: no row has known numbers in {', '.join(columns)}.")
    return kept.copy()


def clearness(frame: pd.DataFrame) -> Any:
    """Whether the interval of each row lies below zero, includes it, or lies above; a Categorical."""
    values = np.select([frame["upper"] < 0, frame["lower"] > 0], [CLEAR[0], CLEAR[2]], CLEAR[1])
    return pd.Categorical(values, categories=list(CLEAR))


def by_mean(frame: pd.DataFrame, key: str, gap: str = KNOWLEDGE) -> list[str]:
    """Ids of a column from the lowest to the highest mean of a gap; those without one come first."""
    ids = list(dict.fromkeys(frame[key]))
    means = frame[frame["gap"] == gap].groupby(key, observed=True)["estimate"].mean()
    return sorted(ids, key=lambda v: (means.get(v, np.nan) if pd.notna(means.get(v, np.nan)) else -np.inf, v))


def ends(frame: pd.DataFrame, key: str) -> list[str]:
    """Ids with the lowest and highest mean knowledge gap, `limits.ENDS` of each; all where they are few."""
    known = frame[frame["gap"].eq(KNOWLEDGE) & frame["estimate"].notna()]
    ordered = by_mean(known, key)
    return ordered if len(ordered) <= 2 * limits.ENDS else ordered[: limits.ENDS] + ordered[-limits.ENDS :]


def many(frame: pd.DataFrame, key: str) -> bool:
    """Whether a column has too many values to give each a row with its name."""
    return frame[key].nunique() > limits.ROWS_NAMED


def of_the_ends(what: str, n: int, table: str) -> str:
    """Why these rows, of how many, and where the others are."""
    return (
        f"Shown are the {limits.ENDS} {what} with the lowest and the {limits.ENDS} with the highest "
        f"knowledge gap of {n:,}; the table {table} has all. Those at the ends stand there partly by "
        "chance, which their intervals do not allow for."
    )


def gap_panels(frame: pd.DataFrame, gaps: Iterable[str] = GAPS) -> Any:
    """Titles of the panels, one per gap, in the usual order; a Categorical."""
    headings = {gap.name: gap.heading for gap in GAP_TABLE}
    return pd.Categorical(frame["gap"].map(headings), categories=[headings[g] for g in gaps])


def rows_in_words(frame: pd.DataFrame, row: str) -> str:
    """The range of the estimates, gap by gap."""
    known = frame[frame["estimate"].notna()]
    parts = []
    for gap, own in known.groupby("gap", sort=False):
        ranked = own.sort_values("estimate")[[row, "estimate"]].to_numpy()
        (lowest, least), (highest, most) = ranked[0], ranked[-1]
        name = str(gap).replace("_", " ")
        parts.append(f"{name} from {signed(least)} ({lowest}) to {signed(most)} ({highest})")
    return f"{known[row].nunique()} rows. " + "; ".join(parts) + "."
