"""A table's answers by language, as models × items: its rows are gone through once, whatever they serve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # a result is read without what reads tables
    from maskedadv.responses import Responses

_ROOM = 4
"""Places a row that a language's answers may take as a whole; sparser ones are arranged when asked for."""


@dataclass(frozen=True)
class Answers:
    """Observed answers in one language, of the models and items that have any.

    Attributes
    ----------
    model, item : codes in the table, sorted, shapes (J,), (I,)
    values : shape (J, I), NaN where not observed
    """

    model: NDArray[np.intp]
    item: NDArray[np.intp]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Answered:
    """What some answers of a table are, language by language.

    Attributes
    ----------
    responses : the table, rows sorted by language, model and item
    values : shape (N,), NaN where not observed
    """

    responses: Responses
    values: NDArray[np.float64]
    _known: dict[str, tuple[NDArray[np.bool_], Answers | None]] = field(default_factory=dict, repr=False)

    def code(self, language: str) -> int:
        """Code of a language, -1 if the table does not hold it."""
        found = np.flatnonzero(self.responses.languages == language)
        return int(found[0]) if len(found) else -1

    def asked(self, language: str) -> NDArray[np.bool_]:
        """Which items have an observed answer in a language, shape (I,)."""
        return self._of(language)[0]

    def of_items(self, language: str, wanted: NDArray[np.bool_]) -> Answers:
        """The answers in a language to some of the items (I,); models that have none are left out."""
        _, whole = self._of(language)
        if whole is None:
            model, item, value = self._rows(language)
            use = wanted[item]
            return _arrange(model[use], item[use], value[use])
        column = wanted[whole.item]
        values = whole.values[:, column]
        there = (~np.isnan(values)).any(axis=1)
        return Answers(whole.model[there], whole.item[column], values if there.all() else values[there])

    def _of(self, language: str) -> tuple[NDArray[np.bool_], Answers | None]:
        """Items asked in a language, and its answers as a whole where they are not too sparse."""
        if language not in self._known:
            model, item, value = self._rows(language)
            asked = np.zeros(len(self.responses.items), dtype=bool)
            asked[item] = True
            places = np.count_nonzero(np.bincount(model)) * np.count_nonzero(asked)
            fits = places <= _ROOM * len(value)
            self._known[language] = asked, _arrange(model, item, value) if fits else None
        return self._known[language]

    def _rows(self, language: str) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]:
        """Model, item and value of the observed answers in a language."""
        table, code = self.responses, self.code(language)
        ends = np.array([code, code + 1], dtype=table.language.dtype)  # another type would copy the column
        start, stop = np.searchsorted(table.language, ends)
        model, item, value = table.model[start:stop], table.item[start:stop], self.values[start:stop]
        seen = ~np.isnan(value)
        return (model, item, value) if seen.all() else (model[seen], item[seen], value[seen])


def _arrange(model: NDArray[np.integer], item: NDArray[np.integer], value: NDArray[np.float64]) -> Answers:
    models, row = _codes(model)
    items, column = _codes(item)
    values = np.full(len(models) * len(items), np.nan)
    values[row * len(items) + column] = value
    return Answers(models, items, values.reshape(len(models), len(items)))


def _codes(values: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Distinct small whole numbers in order, and the place of each value among them: a sort is dearer."""
    present = np.bincount(values) > 0
    place = np.cumsum(present) - 1
    return np.flatnonzero(present), place[values]
