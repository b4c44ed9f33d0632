"""What is known about models and locales: the tables that group the gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.datasets import DATA
from maskedadv.errors import BadLocaleFacts
from maskedadv.files.toml import read_toml
from maskedadv.models_table import FACTS, read_models

LOCALE_KEYS = ("name", "resource_level", "home_origins")


def model_facts(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """The facts of the model table that group the gaps; see `maskedadv.models_table.read_models`.

    Returns
    -------
    DataFrame indexed by model with those of the columns family, parameters, active_parameters, origin, kind,
    tuning, adapted_for that the table has.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, DuplicateRows, BadValue
    """
    table = read_models(source)
    return table[[column for column in FACTS if column in table]]


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
    content: dict[str, dict[str, Any]] = read_toml(path, BadLocaleFacts)
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
