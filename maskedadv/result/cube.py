"""The cube: one `xarray.Dataset` of abilities and gaps, model × subset × language per locale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.vocabulary import GAPS, QUERIES, SUBSETS

if TYPE_CHECKING:
    from maskedadv.design.prepare import Design
    from maskedadv.gaps.assemble import GapPart
    from maskedadv.maximum_likelihood.block_estimate import Fitted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AbilityPart:
    """One locale's cells, as arrays over models.

    Attributes
    ----------
    ability, ability_sd, accuracy, n_items : shape (J, 2 subsets, 2 queries)
    n_paired : shape (J, 2 subsets), items answered in both languages
    """

    ability: Array
    ability_sd: Array
    accuracy: Array
    n_items: NDArray[np.intp]
    n_paired: NDArray[np.intp]


_CELL = ("locale", "model", "subset", "query")
_GAP = ("variant", "locale", "model", "gap")
_OF_CELLS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "ability": (_CELL, "ability, relative to the difficulties of its subset", "logit"),
    "ability_sd": (_CELL, "sampling standard deviation of the ability", "logit"),
    "accuracy": (_CELL, "share of right answers", "1"),
    "n_items": (_CELL, "number of observed answers", "1"),
    "n_paired": (_CELL[:3], "number of items answered in both languages", "1"),
}
OF_GAPS: dict[str, tuple[str, str]] = {
    "estimate": ("gap", "logit"),
    "sd": ("standard deviation of the gap", "logit"),
    "lower": ("lower end of the interval of the gap", "logit"),
    "upper": ("upper end of the interval of the gap", "logit"),
    "p_positive": ("probability that the gap is above zero", "1"),
    "note": ("why a gap is not known, empty where it is", ""),
}
"""Name, words and unit of what is told of a gap: variables of the cube and columns of the tables of gaps."""
NUMBERS = tuple(name for name in OF_GAPS if name != "note")


def ability_part(design: Design, locale: str, fitted: Sequence[Fitted]) -> AbilityPart:
    """A locale's abilities from its blocks; NaN where there is no cell."""
    cells = design.cells[locale]
    ability, ability_sd = (np.full(cells.accuracy.shape, np.nan) for _ in range(2))
    for f in fitted:
        if locale not in f.block.locales:
            continue
        index = f.block.cells(locale, design.models)
        index[~cells.keep] = -1
        model, query = np.nonzero(index >= 0)
        cell = index[model, query]
        ability[model, f.block.subset, query] = f.estimate.ability[cell]
        ability_sd[model, f.block.subset, query] = f.estimate.ability_sd[cell]
    return AbilityPart(ability, ability_sd, cells.accuracy, cells.n_items, cells.n_paired)


def build_cube(
    cells: Mapping[str, AbilityPart],
    gaps: Mapping[str, Mapping[str, GapPart]],
    models: Sequence[str],
    pivot: str,
) -> xr.Dataset:
    """Stack the locales' parts into one labelled data set.

    Parameters
    ----------
    cells : one part per locale
    gaps : one part per variant and locale, `plain` first

    Returns
    -------
    Dataset with the dims variant, locale, model, subset, query and gap; `language` is a coordinate over
    (locale, query).
    """
    locales = list(cells)
    variables: dict[str, Any] = {}
    for name, (dims, text, units) in _OF_CELLS.items():
        values = np.stack([getattr(part, name) for part in cells.values()])
        variables[name] = (dims, values, {"long_name": text, "units": units})
    for name, (text, units) in OF_GAPS.items():
        values = np.stack([[getattr(own[k], name) for k in locales] for own in gaps.values()])
        variables[name] = (_GAP, values, {"long_name": text, "units": units})
    language = np.array([[locale, pivot] for locale in locales], dtype=object)
    coords: dict[str, Any] = {
        "variant": _labels("variant", list(gaps), "assumptions that the gap is measured under"),
        "locale": _labels("locale", locales, "local language"),
        "model": _labels("model", models, "language model"),
        "subset": _labels("subset", SUBSETS, "CA culture-agnostic, CS culture-specific"),
        "query": _labels("query", QUERIES, "language of the question"),
        "gap": _labels("gap", GAPS, "contrast of abilities"),
        "language": (("locale", "query"), language, {"long_name": "language code of the question"}),
    }
    return xr.Dataset(variables, coords=coords)


def _labels(dim: str, values: Sequence[str], text: str) -> tuple[str, NDArray[np.object_], dict[str, str]]:
    return dim, np.array(list(values), dtype=object), {"long_name": text}
