"""The model table (`models.csv`): what is known about models, read in one way wherever it is used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import BadValue, MissingFacts
from maskedadv.files.text_tables import check_ids, check_unique, offenders, read_text_table

WHAT = "the model table"
SIZES = ("parameters", "active_parameters")
FACTS = ("family", *SIZES, "origin", "kind", "tuning", "adapted_for")
_SIZE = re.compile(r"([0-9.eE+-]+)\s*([KMBT]?)", re.IGNORECASE)
_UNIT = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_BILLIONS = 1e5  # a plain number under this is a size as people say it: 7 means 7 billion


def read_models(source: str | Path | pd.DataFrame, required: Sequence[str] = ()) -> pd.DataFrame:
    """Read and check the model table.

    Parameters
    ----------
    source
        CSV, Parquet or DataFrame with the column `model`, and any of: family; parameters and
        active_parameters (a count: `7e9`, `7B`, `360M`); origin (as in home_origins of the locales); kind
        (`open` or `closed`); tuning; adapted_for (locale codes, several apart by `;`). Others are kept as
        they are. Empty is not known; an empty `adapted_for` means general purpose.
    required
        Columns that must be there, and known of every model.

    Returns
    -------
    DataFrame indexed by model: text, '' where not known; sizes as numbers, NaN where not known. A column
    that the table does not have is left out.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, DuplicateRows, BadValue
    """
    frame = read_text_table(source, WHAT, ["model", *required])
    check_ids(frame, ["model"], WHAT)
    check_unique(frame, ["model"], WHAT)
    for column in frame.columns.drop("model"):
        frame[column] = frame[column].str.strip()
    check_ids(frame, required, WHAT)
    for column in SIZES:
        if column in frame:
            frame[column] = _sizes(frame, column)
    if "kind" in frame:
        frame["kind"] = frame["kind"].str.casefold()
        _refuse(frame, "kind", ~frame["kind"].isin(["", "open", "closed"]), "are neither open nor closed")
    if "adapted_for" in frame:
        comma = frame["adapted_for"].str.contains(",")
        _refuse(frame, "adapted_for", comma, "have a comma; put ';' between codes")
    if set(SIZES) <= set(frame.columns):
        more = np.flatnonzero((frame["active_parameters"] > frame["parameters"]).to_numpy())
        if len(more):
            shown = [repr(frame["model"].iloc[row]) for row in more[:3]]
            raise BadValue(
                f"{WHAT}, column 'active_parameters': {len(more)} values exceed the parameters "
                f"({offenders(more, shown, len(more))})."
            )
    return frame.set_index("model")


def family_column(source: str | Path | pd.DataFrame) -> dict[str, str]:
    """The family of every model that has one, from a model table or what `read_models` made of it.

    Raises
    ------
    MissingFacts
        The table has no column `family`.
    InputError
        As `read_models`.
    """
    ready = isinstance(source, pd.DataFrame) and source.index.name == "model"
    table = source if isinstance(source, pd.DataFrame) and ready else read_models(source)
    if "family" not in table:
        raise MissingFacts("the model table has no column `family`; add it, or leave the table out.")
    return {str(m): str(f) for m, f in table["family"].items() if f}


def _refuse(frame: pd.DataFrame, column: str, bad: pd.Series, what: str) -> None:
    rows = np.flatnonzero(bad.to_numpy())
    if len(rows):
        where = offenders(rows, [repr(frame[column].iloc[row]) for row in rows[:3]], len(rows))
        raise BadValue(f"{WHAT}, column {column!r}: {len(rows)} values {what} ({where}).")


def _sizes(frame: pd.DataFrame, column: str) -> pd.Series:
    """Counts of parameters from `7B`, `360M`, `7e9` or `7`; plain numbers under 100,000 are billions."""
    values = np.full(len(frame), np.nan)
    bad = []
    for row, text in enumerate(frame[column]):
        if text == "":
            continue
        match = _SIZE.fullmatch(text)
        try:
            number, unit = (float(match.group(1)), match.group(2).upper()) if match else (np.nan, "")
        except ValueError:
            number, unit = np.nan, ""
        value = number * (1e9 if not unit and number < _BILLIONS else _UNIT[unit])
        if np.isfinite(value) and value > 0:
            values[row] = value
        else:
            bad.append(row)
    if bad:
        where = offenders(bad, [repr(frame[column].iloc[row]) for row in bad[:3]], len(bad))
        raise BadValue(
            f"{WHAT}, column {column!r}: {len(bad)} values are not numbers of parameters ({where}); "
            "write 7B, 360M or 7e9, or leave it empty."
        )
    return pd.Series(values, index=frame.index)
