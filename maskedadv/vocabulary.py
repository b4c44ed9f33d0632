"""The words that everything shares: subsets, queries, and the gaps as one matrix of contrasts.

A gap is a weighted sum of a model's four abilities in a locale (arXiv 2606.07422, section 4). To add one,
add it to `GAP_TABLE`: estimates, intervals, draws, tables and figures follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SUBSETS = ("CA", "CS")
"""Culture-agnostic and culture-specific, in the order of every subset axis."""

QUERIES = ("local", "pivot")
"""Language of the question, in the order of every query axis."""

CELLS = tuple(f"{subset} {query}" for subset in SUBSETS for query in QUERIES)
"""A model's four abilities in a locale, in the order of every axis of them."""


@dataclass(frozen=True)
class Gap:
    """One contrast of a model's four abilities.

    Attributes
    ----------
    name : in tables and code
    short : what it measures, in two words
    question : what it asks; `{pivot}` stands for the pivot language
    cells : weight of every ability, in the order of `CELLS`
    """

    name: str
    short: str
    question: str
    cells: tuple[int, int, int, int]

    @property
    def title(self) -> str:
        """The name as people write it."""
        return self.name.replace("_", " ")

    @property
    def heading(self) -> str:
        """The name and what it measures, as a heading."""
        return f"{self.title.capitalize()}: {self.short}"


GAP_TABLE = (
    Gap(
        "global_gap",
        "proficiency",
        "proficiency: agnostic questions, local language against {pivot}",
        (1, -1, 0, 0),
    ),
    Gap(
        "local_gap",
        "local questions",
        "local questions asked in the local language against {pivot}",
        (0, 0, 1, -1),
    ),
    Gap(
        "knowledge_gap",
        "access",
        "access: the local gap once proficiency is taken out",
        (-1, 1, 1, -1),
    ),
)

GAPS = tuple(gap.name for gap in GAP_TABLE)
"""Names of the gaps, in the order of every gap axis."""

KNOWLEDGE = "knowledge_gap"
"""The gap that the project is about: what variants, shares and verdicts speak of."""

CONTRASTS: Array = np.array([gap.cells for gap in GAP_TABLE], dtype=np.float64)
"""Weights of the four abilities, shape (gaps, 4)."""

BY_SUBSET: Array = CONTRASTS[:, ::2]
"""Weights of the two differences local − pivot, shape (gaps, 2)."""

OF_SUBSET = tuple(int(np.flatnonzero((unit == BY_SUBSET).all(axis=1))[0]) for unit in np.eye(2))
"""Which gap is the difference local − pivot of one subset alone, by subset index."""

# Each subset has a zero of its own, so nothing but sums of such differences can be told.
assert (CONTRASTS[:, 1::2] == -BY_SUBSET).all(), "a gap weighs local and pivot alike, with opposite signs"


def gaps_of(differences: Array, axis: int = -1) -> Array:
    """The gaps from the differences local − pivot of the two subsets.

    Parameters
    ----------
    differences : logit, any shape; along `axis` CA, CS
    axis : which becomes the axis of the gaps

    Returns
    -------
    array with the gaps along `axis`; NaN where a difference that a gap needs is NaN
    """
    parts = np.moveaxis(np.asarray(differences), axis, 0)
    gaps = np.empty((len(BY_SUBSET), *parts.shape[1:]))
    with np.errstate(invalid="ignore"):
        for gap, row in zip(gaps, BY_SUBSET, strict=True):
            first, *others = np.flatnonzero(row)
            np.multiply(parts[first], row[first], out=gap)
            for s in others:
                gap += row[s] * parts[s]
    return np.moveaxis(gaps, 0, axis)


def subsets_of(gap: int) -> Sequence[int]:
    """Which subsets a gap needs, as indices into `SUBSETS`."""
    return [s for s, w in enumerate(BY_SUBSET[gap]) if w]


def gap_titles(names: Sequence[str] = GAPS) -> dict[str, str]:
    """`{"global_gap": "global gap", ...}`."""
    return {gap.name: gap.title for gap in GAP_TABLE if gap.name in names}


@dataclass(frozen=True)
class Assumption:
    """What a variant of the gaps assumes otherwise than the papers.

    Attributes
    ----------
    name : in tables and code
    meaning : continues "The gaps ..."; `plain` as the papers have them
    cause : what a gap that is clear as plain but not under this may come from
    """

    name: str
    meaning: str
    cause: str = ""


BASE_TABLE = (
    Assumption("plain", "as the papers define it"),
    Assumption("floor", "with guessing taken into account", "the floor"),
    Assumption(
        "paired",
        "with every model by itself, on the items that it answered in both languages",
        "what models share beyond ability, or know of single items",
    ),
    Assumption(
        "paired+floor",
        "with every model by itself and guessing taken into account",
        "what models share or know of single items, or the floor",
    ),
)
"""Ways to get abilities from answers; their functions are in `maskedadv.gaps.bases`."""

TRANSFORMATION_TABLE = (Assumption("linked", "with CA and CS on one scale", "the scale"),)
"""What can be done to the gaps of any base; their functions are in `maskedadv.gaps.variants`."""

_BASES = [base.name for base in BASE_TABLE]

VARIANTS: dict[str, tuple[str, str]] = {base: (base, "") for base in _BASES} | {
    t.name if base == "plain" else f"{base}+{t.name}": (base, t.name)
    for t in TRANSFORMATION_TABLE
    for base in _BASES
}
"""Every variant of the gaps: its base and its transformation ('' for none), in the order of every axis."""


HEADLINES = ("auto", "plain", "paired")
"""Variants that may be spoken of first, and `auto`, which leaves it to the test of plain against paired."""


MEAN, BY_FAMILY = "(mean over models)", "(mean by family)"
LIKE_THESE, NEW_LOCALE = "(models like these)", "(a new locale)"
MEAN_ROWS = frozenset({MEAN, BY_FAMILY, LIKE_THESE, NEW_LOCALE})
"""What stands in the column of models where a row is a mean; no model bears such a name."""


def variant_meaning(name: str) -> str:
    """What a variant assumes, and its name in brackets: what follows "The knowledge gap ..."."""
    words = {a.name: a.meaning for a in (*BASE_TABLE, *TRANSFORMATION_TABLE)}
    base, transformation = VARIANTS[name]
    parts = [base] if not transformation else [b for b in (base,) if b != "plain"] + [transformation]
    return f"{' and '.join(words[part] for part in parts)} ({name})"
