"""The tables that a fit gives: their columns, and how they are made of the cube and of `Info`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.errors import BadSetting
from maskedadv.gaps.headline import Departure
from maskedadv.result.cube import NUMBERS
from maskedadv.result.info import Info
from maskedadv.words.lists import first_few

COLUMNS = ("locale", "model", "gap", *NUMBERS, "n_items_ca", "n_items_cs", "note")


LINK_COLUMNS = (
    "locale",
    "variant",
    "ratio",
    "lower",
    "upper",
    "slope",
    "correlation",
    "models",
    "common_ratio",
    "common_lower",
    "common_upper",
    "common_p",
    "note",
)


def chosen_ids(name: str, wanted: str | Iterable[str] | None, have: list[str]) -> list[str]:
    """Those of `have` that are wanted, in their own order; None is all.

    Raises
    ------
    BadSetting
        One of them is not there.
    """
    if wanted is None:
        return have
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    for value in listed:
        if value not in have:
            raise BadSetting(f"{name} {value!r} is not in this result; it has {first_few(have, 12)}.")
    return [value for value in have if value in listed]


def gap_rows(cube: xr.Dataset, locales: list[str], models: list[str], kinds: list[str]) -> pd.DataFrame:
    """The gaps of one variant of the cube, tidy, of models that were asked in the locale; see `Fit.gaps`."""
    part = cube.sel(locale=locales, model=models, gap=kinds)
    shape = part["estimate"].shape
    index = np.indices(shape).reshape(3, -1)
    paired = part["n_paired"].values
    frame = pd.DataFrame(
        {
            "locale": np.array(locales, dtype=object)[index[0]],
            "model": np.array(models, dtype=object)[index[1]],
            "gap": np.array(kinds, dtype=object)[index[2]],
            **{name: part[name].values.ravel() for name in NUMBERS},
            "n_items_ca": paired[index[0], index[1], 0],
            "n_items_cs": paired[index[0], index[1], 1],
            "note": part["note"].values.ravel().astype(object),
        }
    )
    present = np.asarray((part["n_items"].values[..., 0] > 0).any(axis=-1))
    return frame[present[index[0], index[1]]].reset_index(drop=True)


def departure_rows(info: Info) -> pd.DataFrame:
    """See `Fit.departures`."""
    names = [f.name for f in fields(Departure)]
    frame = pd.DataFrame([asdict(d) for d in info.departures], columns=names)
    return frame.astype({n: float for n in names if n not in ("locale", "gap", "n_models")})


def relative_rows(info: Info) -> pd.DataFrame:
    """See `Fit.relatives`."""
    rows = [] if info.relatives is None else info.relatives.pairs()
    return pd.DataFrame(rows, columns=["model", "other", "correlation", "group"])


def link_rows(info: Info) -> pd.DataFrame:
    """See `Fit.links`."""
    rows = [{**v, "note": v["reason"] or v.get("common_reason", "")} for v in info.links]
    return pd.DataFrame(rows, columns=list(LINK_COLUMNS))
