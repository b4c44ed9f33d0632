"""What is known about models and locales: the tables that group the gaps."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.datasets import DATA
from maskedadv.errors import BadLocaleFacts, BadValue, UnreadableFile
from maskedadv.files.text_tables import check_ids, check_unique, offenders, read_text_table

MODEL_COLUMNS = (
    "family",
    "parameters",
    "active_parameters",
    "origin",
    "kind",
    "tuning",
    "adapted_for",
)
LOCALE_KEYS = ("name", "resource_level", "home_origins")
_WHAT = "the model table"
_SIZE = re.compile(r"([0-9.eE+-]+)\s*([KMBT]?)", re.IGNORECASE)
_UNIT = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_LEAST = 1e5  # a smaller plain number is surely meant in billions


def model_facts(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Read the model table (`models.csv`).

    Parameters
    ----------
    source
        CSV, Parquet or DataFrame with the column `model`, and any of: family; parameters and
        active_parameters (a count: `7e9`, `7B`, `360M`); origin (as in home_origins of the locales); kind
        (`open` or `closed`); tuning; adapted_for (locale codes, several apart by `;`). Others are ignored.
        Empty is not known; an empty `adapted_for` means general purpose.

    Returns
    -------
    DataFrame indexed by model with the columns above; text, '' where not known; sizes as numbers, NaN where
    not known. A column that the table does not have is left out.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, DuplicateRows, BadValue
    """
    frame = read_text_table(source, _WHAT, ["model"])
    check_ids(frame, ["model"], _WHAT)
    check_unique(frame, ["model"], _WHAT)
    out = frame[["model", *(c for c in MODEL_COLUMNS if c in frame)]].copy()
    for column in out.columns:
        out[column] = out[column].str.strip()
    for column in ("parameters", "active_parameters"):
        if column in out:
            out[column] = _sizes(out, column)
    if "kind" in out:
        out["kind"] = out["kind"].str.casefold()
        _refuse(out, "kind", ~out["kind"].isin(["", "open", "closed"]), "are neither open nor closed")
    if "adapted_for" in out:
        _refuse(
            out, "adapted_for", out["adapted_for"].str.contains(","), "have a comma; put ';' between codes"
        )
    if {"parameters", "active_parameters"} <= set(out.columns):
        more = np.flatnonzero((out["active_parameters"] > out["parameters"]).to_numpy())
        if len(more):
            shown = [repr(out["model"].iloc[row]) for row in more[:3]]
            raise BadValue(
                f"{_WHAT}, column 'active_parameters': {len(more)} values exceed the parameters "
                f"({offenders(more, shown, len(more))})."
            )
    return out.set_index("model")


def _refuse(frame: pd.DataFrame, column: str, bad: pd.Series, what: str) -> None:
    rows = np.flatnonzero(bad.to_numpy())
    if len(rows):
        where = offenders(rows, [repr(frame[column].iloc[row]) for row in rows[:3]], len(rows))
        raise BadValue(f"{_WHAT}, column {column!r}: {len(rows)} values {what} ({where}).")


def _sizes(frame: pd.DataFrame, column: str) -> pd.Series:
    values = np.full(len(frame), np.nan)
    bad = []
    for row, text in enumerate(frame[column]):
        if text == "":
            continue
        match = _SIZE.fullmatch(text)
        try:
            value = float(match.group(1)) * _UNIT[match.group(2).upper()] if match else np.nan
        except ValueError:
            value = np.nan
        if np.isfinite(value) and value >= _LEAST:
            values[row] = value
        else:
            bad.append(row)
    if bad:
        where = offenders(bad, [repr(frame[column].iloc[row]) for row in bad[:3]], len(bad))
        raise BadValue(
            f"{_WHAT}, column {column!r}: {len(bad)} values are not numbers of parameters ({where}); "
            "write 7B, 360M or 7e9, or leave it empty."
        )
    return pd.Series(values, index=frame.index)


def locale_facts(source: str | Path | None = None) -> pd.DataFrame:
    """The facts about locales that come with the package, with the user's own on top.

    Parameters
    ----------
    source
        A TOML file with a table per locale code (`[zh]`, `["pt-BR"]`) and any of the keys `name`,
        `resource_level` (a number, higher for more resources) and `home_origins` (a list of text). Keys
        given there replace the shipped ones; others stay.

    Returns
    -------
    DataFrame indexed by locale: name (text, the code where not known), resource_level (number or NaN),
    home_origins (tuple of text).

    Raises
    ------
    UnreadableFile, BadLocaleFacts
    """
    known = _read_toml(DATA / "locales.toml")
    if source is not None:
        for code, own in _read_toml(Path(source)).items():
            known[code] = known.get(code, {}) | own
    rows = {
        code: {
            "name": facts.get("name", code),
            "resource_level": float(facts.get("resource_level", np.nan)),
            "home_origins": tuple(facts.get("home_origins", ())),
        }
        for code, facts in known.items()
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(LOCALE_KEYS))
    return frame.rename_axis("locale")


def _read_toml(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read ({error}); give a TOML file in UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadLocaleFacts(f"{path} is not TOML ({error}).") from error
    for code, facts in content.items():
        if not isinstance(facts, dict):
            raise BadLocaleFacts(f"{path}: {code!r} stands outside a table; write [{code}] with keys below.")
        for key, value in facts.items():
            _check(path, code, key, value)
    return content


def _check(path: Path, code: str, key: str, value: Any) -> None:
    good = {
        "name": isinstance(value, str) and bool(value),
        "resource_level": isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e9,  # a comparison, as it takes integers of any length; false for nan
        "home_origins": isinstance(value, list) and all(isinstance(v, str) and v for v in value),
    }
    wanted = {"name": "text", "resource_level": "a number", "home_origins": 'a list of text: ["China"]'}
    if key not in good:
        raise BadLocaleFacts(f"{path}, [{code}]: unknown key {key!r}; known are {', '.join(LOCALE_KEYS)}.")
    if not good[key]:
        raise BadLocaleFacts(f"{path}, [{code}]: {key} must be {wanted[key]} (is {value!r}).")
