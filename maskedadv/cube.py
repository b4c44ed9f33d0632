"""The cube: one `xarray.Dataset` of abilities and gaps, model × subset × language per locale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.contrasts import GAPS
from maskedadv.responses import SUBSETS

Array = NDArray[np.float64]

QUERIES = ("local", "pivot")


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
    parts: Sequence[LocaleCube], locales: Sequence[str], models: Sequence[str], pivot: str
) -> xr.Dataset:
    """Stack the locales' parts into one labelled data set.

    Returns
    -------
    Dataset with the dims locale, model, subset, query and gap; `language` is a coordinate over
    (locale, query).
    """
    variables = {
        name: (dims, np.stack([getattr(p, name) for p in parts]), {"long_name": text, "units": units})
        for name, (dims, text, units) in _VARIABLES.items()
    }
    language = np.array([[locale, pivot] for locale in locales], dtype=object)
    return xr.Dataset(
        variables,
        coords={
            "locale": ("locale", np.array(locales, dtype=object), {"long_name": "local language"}),
            "model": ("model", np.array(models, dtype=object), {"long_name": "language model"}),
            "subset": (
                "subset",
                np.array(SUBSETS, dtype=object),
                {"long_name": "CA culture-agnostic, CS culture-specific"},
            ),
            "query": ("query", np.array(QUERIES, dtype=object), {"long_name": "language of the question"}),
            "gap": ("gap", np.array(GAPS, dtype=object), {"long_name": "contrast of abilities"}),
            "language": (("locale", "query"), language, {"long_name": "language code of the question"}),
        },
    )
