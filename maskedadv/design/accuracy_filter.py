"""The accuracy filter: models too close to chance are left out of a locale (arXiv 2606.07422: above 0.35)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import asked_items, language_code, rows_of_language
from maskedadv.errors import NothingLeft
from maskedadv.vocabulary import SUBSETS

if TYPE_CHECKING:
    from maskedadv.responses import Responses


@dataclass(frozen=True)
class Dropped:
    """A model left out of one locale, and its worst cell."""

    locale: str
    model: str
    subset: str
    language: str
    accuracy: float

    def __str__(self) -> str:
        return f"{self.model} in {self.locale} ({self.subset} {self.language}: accuracy {self.accuracy:.3f})"


def cell_accuracy(
    responses: Responses, values: NDArray[np.float64], locale: str, pivot: str
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Accuracy and number of observed answers, shapes (J, 2 subsets, 2 queries: local, pivot)."""
    n_models = len(responses.models)
    accuracy = np.full((n_models, 2, 2), np.nan)
    count = np.zeros((n_models, 2, 2), dtype=np.intp)
    asked = asked_items(responses, values, language_code(responses, locale))
    for query, language in enumerate((locale, pivot)):
        rows = rows_of_language(responses, language_code(responses, language))
        item, answer = responses.item[rows], values[rows]
        use = asked[item] & ~np.isnan(answer)
        key = responses.model[rows][use] * 2 + responses.item_subset[item[use]]
        n = np.bincount(key, minlength=2 * n_models)
        right = np.bincount(key, answer[use], minlength=2 * n_models)
        count[:, :, query] = n.reshape(n_models, 2)
        with np.errstate(invalid="ignore"):
            accuracy[:, :, query] = (right / n).reshape(n_models, 2)
    return accuracy, count


def filter_models(
    responses: Responses,
    values: NDArray[np.float64],
    locales: Sequence[str],
    pivot: str,
    least: float,
    on: str = "all",
) -> tuple[NDArray[np.bool_], list[Dropped]]:
    """Keep a model in a locale if its accuracy exceeds `least` in each of its cells there.

    Parameters
    ----------
    values : answers whose mean is the accuracy, shape (N,)
    least : accuracy that every cell must exceed; 0 keeps every model
    on : `all` cells, or those in the `pivot` language alone

    Returns
    -------
    keep : shape (n_locales, J)
    dropped : one entry per model and locale left out, with its worst cell

    Raises
    ------
    NothingLeft
        No model is left in a locale.
    """
    keep = np.ones((len(locales), len(responses.models)), dtype=bool)
    dropped: list[Dropped] = []
    if least <= 0.0:
        return keep, dropped
    for k, locale in enumerate(locales):
        accuracy, count = cell_accuracy(responses, values, locale, pivot)
        low = np.where(np.isnan(accuracy), np.inf, accuracy)
        if on == "pivot":
            low[:, :, 0] = np.inf
        for j in np.flatnonzero((low <= least).any(axis=(1, 2))):
            subset, query = np.unravel_index(np.argmin(low[j]), (2, 2))
            keep[k, j] = False
            language = (locale, pivot)[query]
            worst = float(low[j, subset, query])
            dropped.append(Dropped(locale, str(responses.models[j]), SUBSETS[subset], language, worst))
        present = count.sum(axis=(1, 2)) > 0
        if present.any() and not (keep[k] & present).any():
            example = next(d for d in reversed(dropped) if d.locale == locale)
            raise NothingLeft(
                f"locale {locale!r}: every model is at or under the accuracy floor {least:g} in some cell "
                f"(for example {example}); lower it with --min-accuracy, or leave the locale out."
            )
    return keep, dropped
