"""The cube: one `xarray.Dataset` of abilities and gaps, model × subset × language per locale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.vocabulary import GAPS, QUERIES, SUBSETS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LocaleCube:
    """One locale's part of the cube, as arrays over models.

    Attributes
    ----------
    ability, ability_sd, accuracy, n_items : shape (J, 2 subsets, 2 queries)
    n_paired : shape (J, 2 subsets), items answered in both languages
    estimate, sd, lower, upper, p_positive, note : shape (J, 3 gaps)
    """

    ability: Array
    ability_sd: Array
    accuracy: Array
    n_items: NDArray[np.intp]
    n_paired: NDArray[np.intp]
    estimate: Array
    sd: Array
    lower: Array
    upper: Array
    p_positive: Array
    note: NDArray[np.object_]


_CELL = ("locale", "model", "subset", "query")
_GAP = ("locale", "model", "gap")
_VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "ability": (_CELL, "ability, relative to the difficulties of its subset", "logit"),
    "ability_sd": (_CELL, "sampling standard deviation of the ability", "logit"),
    "accuracy": (_CELL, "share of right answers", "1"),
    "n_items": (_CELL, "number of observed answers", "1"),
    "n_paired": (("locale", "model", "subset"), "number of items answered in both languages", "1"),
    "estimate": (_GAP, "gap", "logit"),
    "sd": (_GAP, "standard deviation of the gap", "logit"),
    "lower": (_GAP, "lower end of the interval of the gap", "logit"),
    "upper": (_GAP, "upper end of the interval of the gap", "logit"),
    "p_positive": (_GAP, "probability that the gap is above zero", "1"),
    "note": (_GAP, "why a gap is not known, empty where it is", ""),
}


def build_cube(
    parts: Mapping[str, Sequence[LocaleCube]], locales: Sequence[str], models: Sequence[str], pivot: str
) -> xr.Dataset:
    """Stack the locales' parts into one labelled data set.

    Parameters
    ----------
    parts
        One part per locale for every variant, `plain` first.

    Returns
    -------
    Dataset with the dims locale, model, subset, query and gap; `language` is a coordinate over
    (locale, query). With several variants the gap variables have a leading dim `variant`.
    """
    several = len(parts) > 1
    variables: dict[str, Any] = {}
    for name, (dims, text, units) in _VARIABLES.items():
        stacked = {v: np.stack([getattr(p, name) for p in own]) for v, own in parts.items()}
        attributes = {"long_name": text, "units": units}
        if several and dims == _GAP:
            variables[name] = (("variant", *dims), np.stack(list(stacked.values())), attributes)
        else:
            variables[name] = (dims, stacked["plain"], attributes)
    language = np.array([[locale, pivot] for locale in locales], dtype=object)
    coords: dict[str, Any] = {
        "locale": _labels("locale", locales, "local language"),
        "model": _labels("model", models, "language model"),
        "subset": _labels("subset", SUBSETS, "CA culture-agnostic, CS culture-specific"),
        "query": _labels("query", QUERIES, "language of the question"),
        "gap": _labels("gap", GAPS, "contrast of abilities"),
        "language": (("locale", "query"), language, {"long_name": "language code of the question"}),
    }
    if several:
        coords["variant"] = _labels("variant", list(parts), "model and scale that the gap is measured with")
    return xr.Dataset(variables, coords=coords)


def plain_cube(cube: xr.Dataset) -> xr.Dataset:
    """The cube with the gaps as the papers define them, without a `variant` dimension."""
    return cube.sel(variant="plain", drop=True) if "variant" in cube.dims else cube


def _labels(dim: str, values: Sequence[str], text: str) -> tuple[str, NDArray[np.object_], dict[str, str]]:
    return dim, np.array(list(values), dtype=object), {"long_name": text}
