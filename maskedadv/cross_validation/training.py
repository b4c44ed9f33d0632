"""A block without the answers of one fold, and how what the rest leaves open is filled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import Block

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]
"""From abilities, shape (C', 1), to probabilities of a right answer, shape (C', I)."""

EDGE = 20.0
"""Abilities and difficulties that the answers leave infinite are sought within so many logits."""


@dataclass(frozen=True)
class Training:
    """What one fold leaves to learn from.

    Attributes
    ----------
    block : the whole block
    answers : shape (C, I), NaN where not observed or held out
    cells, items : those that have any answer left
    """

    block: Block
    answers: Array
    cells: NDArray[np.intp]
    items: NDArray[np.intp]

    @staticmethod
    def without(block: Block, fold: Array, k: int) -> Training:
        """Leave out the answers of fold `k`; `fold` of every answer (C, I)."""
        answers = np.where(fold == k, np.nan, block.answers)
        seen = ~np.isnan(answers)
        return Training(block, answers, np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0)))

    @property
    def left(self) -> Block:
        """The block of what is left, without the cells and items that have no answer in it."""
        b = self.block
        return replace(
            b,
            model=b.model[self.cells],
            language=b.language[self.cells],
            item=b.item[self.items],
            place=b.place[self.items],
            answers=self.answers[np.ix_(self.cells, self.items)],
            chance=None if b.chance is None else b.chance[self.items],
        )

    def spread_out(self, cells: Array) -> Array:
        """Values of the cells left, shape (C', ...), at their places among all; NaN elsewhere."""
        out = np.full((len(self.block.model), *cells.shape[1:]), np.nan)
        out[self.cells] = cells
        return out


def base_rates(t: Training) -> Array:
    """Share of right answers of every cell, half a right and half a wrong one added, shape (C, I).

    A new model's is that of all cells in its language.
    """
    seen = ~np.isnan(t.answers)
    right, count = np.nansum(t.answers, axis=1), seen.sum(axis=1)
    share = np.where(count > 0, (right + 0.5) / (count + 1.0), np.nan)
    for language in np.unique(t.block.language):
        own = t.block.language == language
        if count[own].any():
            share[own & (count == 0)] = share[own & (count > 0)].mean()
    return np.repeat(share[:, None], t.answers.shape[1], axis=1)


def mix_new_models(t: Training, p: Array) -> Array:
    """A new model is one of those known, each as likely: the mean of the predictions in its language.

    Parameters
    ----------
    p : shape (C, I), predictions of the cells that have answers left
    """
    out = p.copy()
    new = np.setdiff1d(np.arange(len(p)), t.cells)
    for language in np.unique(t.block.language[new]):
        known = t.cells[t.block.language[t.cells] == language]
        own = p[known]
        have = (~np.isnan(own)).sum(axis=0)
        mean = np.where(have > 0, np.nansum(own, axis=0) / np.maximum(have, 1), np.nan)
        out[new[t.block.language[new] == language]] = mean
    return out


def half_answer(answers: Array, curve: Curve) -> Array:
    """Abilities of cells whose answers are all right or all wrong, half an answer moved, shape (C',).

    An infinite ability would predict with certainty, and one answer against it would cost without bound. As
    is the custom for extreme scores (Wright & Stone 1979, Best Test Design), the total is taken as half an
    answer off the end.

    Parameters
    ----------
    answers : shape (C', I), NaN where not observed
    curve : rising in the ability, shape (C', 1), to shape (C', I)

    Returns
    -------
    logit, within `EDGE`; NaN for a cell without answers
    """
    seen = ~np.isnan(answers)
    count = seen.sum(axis=1)
    total = np.clip(np.nansum(answers, axis=1), 0.5, np.maximum(count - 0.5, 0.5))
    low, high = np.full(len(answers), -EDGE), np.full(len(answers), EDGE)
    for _ in range(50):
        middle = (low + high) / 2
        expected = np.where(seen, curve(middle[:, None]), 0.0).sum(axis=1)
        above = expected > total
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(count > 0, (low + high) / 2, np.nan)
