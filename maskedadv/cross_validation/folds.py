"""Which answers are held out together, the same for every candidate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.responses import Responses

Array = NDArray[np.float64]

SCHEMES = {
    "block": "items and models in groups each, held out as the squares of a Latin square: every item and "
    "every ability keeps most of its answers, and a model's answers to an item in all languages go together",
    "random": "single answers, spread evenly over models and languages",
    "item": "whole items: how well new questions are predicted",
    "model": "whole models: how well new models are predicted",
}
"""Schemes by name, and what they hold out."""

NEVER = -1.0
"""Fold of an answer that is never held out: without it a parameter would have no answer left."""


@dataclass(frozen=True)
class Folds:
    """Fold of every answer that a table can hold.

    Attributes
    ----------
    scheme : one of `SCHEMES`
    count : number of folds
    models, languages : ids of the axes, sorted
    fold : shape (models, languages, items of the table), −1 where there is no answer
    """

    scheme: str
    count: int
    models: NDArray[np.object_]
    languages: NDArray[np.object_]
    fold: NDArray[np.int8]

    def of_block(self, block: Block) -> Array:
        """Fold of every answer of a block, shape (C, I), NaN where it has none; `NEVER` as `spare` says."""
        model = np.searchsorted(self.models, block.model)
        language = np.searchsorted(self.languages, block.language)
        own = self.fold[model[:, None], language[:, None], block.place].astype(np.float64)
        return spare(np.where(np.isnan(block.answers), np.nan, own), self.scheme)


def assign_folds(
    responses: Responses, observed: NDArray[np.bool_], scheme: str, count: int, seed: int
) -> Folds:
    """Folds of a table's answers; the order of its rows changes nothing.

    Items are spread over the groups evenly within each set of one subset's items asked in the same languages.

    Parameters
    ----------
    observed : which rows hold an answer, shape (N,)
    scheme : one of `SCHEMES`
    count : number of folds, at most 100
    """
    rng = np.random.default_rng(seed)
    shape = (len(responses.models), len(responses.languages), len(responses.items))
    model, language, item = (a[observed] for a in (responses.model, responses.language, responses.item))
    if scheme == "random":
        cell = (model.astype(np.int64) * shape[1] + language) * 2 + responses.item_subset[item]
        rows = _dealt(cell, count, rng)
    else:
        asked = np.zeros((shape[2], shape[1]), dtype=bool)
        asked[item, language] = True
        alike = np.concatenate(
            [responses.item_subset[:, None].astype(np.uint8), np.packbits(asked, axis=1)], axis=1
        )
        stratum = np.unique(alike, axis=0, return_inverse=True)[1].reshape(-1)
        of_item = _dealt(stratum, count, rng)
        of_model = _dealt(np.zeros(shape[0], dtype=np.int64), count, rng)
        by_scheme = {
            "item": of_item[item],
            "model": of_model[model],
            "block": (of_item[item] + of_model[model]) % count,
        }
        rows = by_scheme[scheme]
    fold = np.full(shape, -1, dtype=np.int8)
    fold[model, language, item] = rows
    return Folds(scheme, count, responses.models, responses.languages, fold)


def _dealt(stratum: NDArray[np.integer], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Things dealt out in turn, stratum after stratum, in random order within each."""
    order = np.lexsort((rng.permutation(len(stratum)), stratum))
    out = np.empty(len(stratum), dtype=np.intp)
    out[order] = np.arange(len(stratum)) % count
    return out


def spare(fold: Array, scheme: str) -> Array:
    """Folds of a block, shape (C, I), with `NEVER` where an answer may not be held out.

    An ability or a difficulty all of whose answers lie in one fold would have none left to be estimated
    from: those answers stay in every training set. New items and new models are what `item` and `model` hold
    out, so there only the other side is spared.
    """
    out = fold.copy()
    if scheme != "model":
        out[_alone(fold)] = NEVER
    if scheme != "item":
        out[:, _alone(fold.T)] = NEVER
    out[np.isnan(fold)] = np.nan
    return out


def _alone(fold: Array) -> NDArray[np.bool_]:
    """Rows all of whose answers lie in one fold."""
    low = np.where(np.isnan(fold), np.inf, fold).min(axis=1, initial=np.inf)
    high = np.where(np.isnan(fold), -np.inf, fold).max(axis=1, initial=-np.inf)
    return np.asarray(low == high)
