"""The accuracy filter: models too close to chance are left out of a locale (arXiv 2606.07422: above 0.35)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.answered import Answered
from maskedadv.errors import NothingLeft
from maskedadv.vocabulary import SUBSETS


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
    answered: Answered, locale: str, pivot: str
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Accuracy and number of observed answers, shapes (J, 2 subsets, 2 queries: local, pivot)."""
    shape = len(answered.responses.models), 2, 2
    accuracy, count = np.full(shape, np.nan), np.zeros(shape, dtype=np.intp)
    asked = answered.asked(locale)
    for subset in (0, 1):
        wanted = asked & (answered.responses.item_subset == subset)
        for query, language in enumerate((locale, pivot)):
            own = answered.of_items(language, wanted)
            n = (~np.isnan(own.values)).sum(axis=1)
            count[own.model, subset, query] = n
            accuracy[own.model, subset, query] = np.nansum(own.values, axis=1) / n
    return accuracy, count


def filter_models(
    answered: Answered,
    locales: Sequence[str],
    pivot: str,
    least: float,
    on: str = "all",
) -> tuple[NDArray[np.bool_], list[Dropped]]:
    """Keep a model in a locale if its accuracy exceeds `least` in each of its cells there.

    Parameters
    ----------
    answered : answers whose mean is the accuracy
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
    keep = np.ones((len(locales), len(answered.responses.models)), dtype=bool)
    dropped: list[Dropped] = []
    if least <= 0.0:
        return keep, dropped
    for k, locale in enumerate(locales):
        accuracy, count = cell_accuracy(answered, locale, pivot)
        low = np.where(np.isnan(accuracy), np.inf, accuracy)
        if on == "pivot":
            low[:, :, 0] = np.inf
        for j in np.flatnonzero((low <= least).any(axis=(1, 2))):
            subset, query = np.unravel_index(np.argmin(low[j]), (2, 2))
            keep[k, j] = False
            language = (locale, pivot)[query]
            worst = float(low[j, subset, query])
            dropped.append(
                Dropped(locale, str(answered.responses.models[j]), SUBSETS[subset], language, worst)
            )
        present = count.sum(axis=(1, 2)) > 0
        if present.any() and not (keep[k] & present).any():
            example = next(d for d in reversed(dropped) if d.locale == locale)
            raise NothingLeft(
                f"locale {locale!r}: every model is at or under the accuracy floor {least:g} in some cell "
                f"(for example {example}); lower it with --min-accuracy, or leave the locale out."
            )
    return keep, dropped
