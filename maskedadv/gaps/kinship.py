"""Which models answer alike beyond their abilities and the items' difficulties, over a whole design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from maskedadv.design.prepare import Design
    from maskedadv.likelihoods.relatives import Covariances


_PARTS = 10_000
"""Correlations are kept to four digits."""
_AT_ONCE = 4000
"""Models times blocks whose spreads are found at once."""


@dataclass(frozen=True)
class Kinship:
    """Residual correlations of models, all locales and subsets together.

    Attributes
    ----------
    models : ids, in an order that puts the alike beside each other
    correlation : of each with each, None where two share no item
    groups : ids of models that answer alike, the most alike first
    """

    models: tuple[str, ...]
    correlation: tuple[tuple[float | None, ...], ...]
    groups: tuple[tuple[str, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values; a model's correlations are one text of ten-thousandths, or a matrix fills a file."""
        rows = [
            " ".join("-" if v is None else str(round(v * _PARTS)) for v in row) for row in self.correlation
        ]
        return {"models": list(self.models), "correlation": rows, "groups": [list(g) for g in self.groups]}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Kinship:
        """What `as_json` and JSON made of one."""
        return Kinship(
            tuple(values["models"]),
            tuple(
                tuple(None if v == "-" else int(v) / _PARTS for v in row.split(" "))
                for row in values["correlation"]
            ),
            tuple(tuple(group) for group in values["groups"]),
        )

    def pairs(self) -> list[tuple[str, str, float, int]]:
        """Two models, their residual correlation, and the number of the group that holds both, 0 for none."""
        label = {m: k for k, group in enumerate(self.groups, 1) for m in group}
        out = []
        for a, row in enumerate(self.correlation):
            for b, value in enumerate(row[:a]):
                if value is None:
                    continue
                one, other = sorted((self.models[a], self.models[b]))
                same = label.get(one, 0) if label.get(one) == label.get(other) else 0
                out.append((one, other, value, same))
        return sorted(out, key=lambda pair: (-pair[2], pair[:2]))

    def within(self, group: tuple[str, ...]) -> tuple[float, float]:
        """Lowest and highest residual correlation of a group's pairs."""
        at = [self.models.index(m) for m in group]
        pairs = [self.correlation[a][b] for k, a in enumerate(at) for b in at[:k]]
        known = [value for value in pairs if value is not None]
        return min(known), max(known)


@dataclass(frozen=True)
class Likeness:
    """Sums over locales, from which kinship is told.

    Attributes
    ----------
    total : of the locales' covariances, models in the order of the designs; None before any
    items : ids of the items behind them
    """

    total: Covariances | None = None
    items: frozenset[str] = frozenset()


def add_likeness(before: Likeness, design: Design) -> Likeness:
    """With the locales of a design, whose answers are right or wrong: one after the other, in their order."""
    from maskedadv.likelihoods.relatives import (  # not to read a result
        add_covariances,
        language_covariances,
        shared_spreads,
    )

    total, items = before.total, set(before.items)
    parts = [(k, block) for k in design.locales for block in design.of_locale(k).values()]
    step = max(1, _AT_ONCE // max(1, len(design.models)))
    for first in range(0, len(parts), step):
        some = parts[first : first + step]
        spreads = shared_spreads(design.in_both(*part) for part in some)
        for (locale, block), spread in zip(some, spreads, strict=True):
            for part in language_covariances(*design.in_both(locale, block), spread):
                total = add_covariances(total, part)
            items.update(block.item)
    return Likeness(total, frozenset(items))


def find_kinship(likeness: Likeness, models: NDArray[np.object_], used: NDArray[np.bool_]) -> Kinship | None:
    """Residual correlations; None for a single model, or where nothing was added.

    Parameters
    ----------
    models : ids in the order of the likeness, shape (J,)
    used : those that are to be told of, shape (J,)
    """
    from maskedadv.likelihoods.relatives import find_relatives

    if likeness.total is None:
        return None
    names = models[used]
    found = find_relatives([likeness.total.of(used)], len(likeness.items))
    known = np.logical_or.reduce(np.isfinite(found.correlation), axis=1)
    if known.sum() < 2:
        return None
    order = [j for j in found.order if known[j]]
    matrix = np.rint(found.correlation[np.ix_(order, order)] * _PARTS) / _PARTS
    return Kinship(
        models=tuple(str(names[j]) for j in order),
        correlation=tuple(tuple(None if v != v else v for v in row) for row in matrix.tolist()),
        groups=tuple(tuple(str(names[j]) for j in group) for group in found.groups),
    )
