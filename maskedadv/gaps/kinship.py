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

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Kinship:
        """What `dataclasses.asdict` and JSON made of one."""
        return Kinship(
            tuple(values["models"]),
            tuple(tuple(row) for row in values["correlation"]),
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


def find_kinship(design: Design, response: str) -> Kinship | None:
    """Residual correlations from right and wrong answers; None for other answers or a single model."""
    from maskedadv.likelihoods.relatives import find_relatives, language_covariances  # not to read a result

    if response != "binary":
        return None
    parts: list[Covariances] = []
    items: set[str] = set()
    for locale in design.locales:
        for block in design.of_locale(locale).values():
            parts += language_covariances(*block.in_both(locale, design.models, design.cells[locale].keep))
            items.update(block.item)
    found = find_relatives(parts, len(items))
    used = np.flatnonzero(np.isfinite(found.correlation).any(axis=1))
    if len(used) < 2:
        return None
    names: NDArray[np.object_] = design.models
    order = [j for j in found.order if j in used]
    matrix = found.correlation[np.ix_(order, order)]
    return Kinship(
        models=tuple(str(names[j]) for j in order),
        correlation=tuple(
            tuple(round(v, 4) if np.isfinite(v) else None for v in row) for row in matrix.tolist()
        ),
        groups=tuple(tuple(str(names[j]) for j in group) for group in found.groups),
    )
