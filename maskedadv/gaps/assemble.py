"""From block estimates to one locale's part of the cube and its joint uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.blocks import language_code
from maskedadv.gaps.contrasts import Uncertainty, differences, interval
from maskedadv.responses import Responses
from maskedadv.result.cube import LocaleCube
from maskedadv.vocabulary import GAPS, SUBSETS, gaps_of, subsets_of

if TYPE_CHECKING:
    from maskedadv.maximum_likelihood.block_estimate import Fitted
    from maskedadv.settings import Settings

ROWS_SHARED = {"bootstrap": "replicate", "posterior": "draw"}
"""Kinds of uncertainty whose rows are drawn for both blocks of a locale at once, and what a row is called."""


def cell_index(responses: Responses, fitted: Fitted, locale: str, pivot: str) -> NDArray[np.intp]:
    """Cell of every (model, query) in a block, -1 where there is none, shape (J, 2)."""
    block = fitted.block
    index = np.full((len(responses.models), 2), -1, dtype=np.intp)
    for query, language in enumerate((locale, pivot)):
        cells = np.flatnonzero(block.language == language_code(responses, language))
        index[block.model[cells], query] = cells
    return index


def assemble_locale(
    responses: Responses,
    settings: Settings,
    locale: str,
    own: Mapping[int, Fitted],
    keep: NDArray[np.bool_] | None = None,
) -> tuple[LocaleCube, Uncertainty]:
    """Abilities, gaps, intervals and notes of one locale.

    Parameters
    ----------
    own
        The locale's fitted blocks by subset index; a subset without answers is absent.
    keep
        Models that count in the locale, shape (J,); a block that serves several locales may hold others.
    """
    n_models = len(responses.models)
    shape = (n_models, 2, 2)
    ability, ability_sd, accuracy = (np.full(shape, np.nan) for _ in range(3))
    n_items = np.zeros(shape, dtype=np.intp)
    n_paired = np.zeros((n_models, 2), dtype=np.intp)
    part, weak = np.full(shape, -1, dtype=np.intp), np.full(shape, -1, dtype=np.intp)
    rows: list[NDArray[np.float64]] = []
    keys: list[NDArray[np.object_]] = []
    for subset, fitted in own.items():
        index = cell_index(responses, fitted, locale, settings.pivot)
        if keep is not None:
            index[~keep] = -1
        estimate, answers = fitted.estimate, fitted.block.answers
        model, query = np.nonzero(index >= 0)
        cell = index[model, query]
        seen = ~np.isnan(answers)
        ability[model, subset, query] = estimate.ability[cell]
        ability_sd[model, subset, query] = estimate.ability_sd[cell]
        accuracy[model, subset, query] = np.nanmean(answers[cell], axis=1)
        n_items[model, subset, query] = seen[cell].sum(axis=1)
        part[model, subset, query] = estimate.part[cell]
        weak[model, subset, query] = estimate.weak[cell]
        both = np.flatnonzero((index >= 0).all(axis=1))
        n_paired[both, subset] = (seen[index[both, 0]] & seen[index[both, 1]]).sum(axis=1)
        spread = np.zeros((len(estimate.uncertainty), 2, n_models))
        spread[:, subset, both] = (
            estimate.uncertainty[:, index[both, 0]] - estimate.uncertainty[:, index[both, 1]]
        )
        rows.append(spread)
        keys.append(_keys(responses, settings.interval, locale, subset, fitted))
    uncertainty = _join(settings.interval, rows, keys, n_models)
    by_subset = differences(ability, part)
    estimates = gaps_of(by_subset)
    gaps = uncertainty.gaps()
    found = interval(settings.interval, np.moveaxis(gaps, 1, 2), estimates, settings.level)
    notes = _of_gaps(_notes(locale, settings.pivot, ability, part, weak, n_items, by_subset))
    if keep is not None:
        notes[~keep] = f"left out: accuracy at or under {settings.min_accuracy:g} in some cell"
    bare = ~np.isnan(estimates) & np.isnan(found.sd) & (notes == "")
    notes[bare] = (
        "no interval: most replicates have no finite estimate"
        if settings.interval == "bootstrap"
        else "no interval: too few items"
    )
    return (
        LocaleCube(
            ability=ability,
            ability_sd=ability_sd,
            accuracy=accuracy,
            n_items=n_items,
            n_paired=n_paired,
            estimate=estimates,
            sd=found.sd,
            lower=found.lower,
            upper=found.upper,
            p_positive=found.p_positive,
            note=notes,
        ),
        uncertainty,
    )


def _keys(responses: Responses, kind: str, locale: str, subset: int, fitted: Fitted) -> NDArray[np.object_]:
    """What each row of a block's uncertainty is, so that equal keys mean the same source of noise."""
    n_rows = len(fitted.estimate.uncertainty)
    if kind == "robust" and n_rows == len(fitted.block.item):
        return responses.items[fitted.block.item]
    if kind in ROWS_SHARED:
        return np.array([f"{ROWS_SHARED[kind]} {b}" for b in range(n_rows)], dtype=object)
    place = locale if len(fitted.locales) == 1 else "all"
    return np.array([f"{place} {SUBSETS[subset]} {d}" for d in range(n_rows)], dtype=object)


def _join(
    kind: str, rows: list[NDArray[np.float64]], keys: list[NDArray[np.object_]], n_models: int
) -> Uncertainty:
    """Blocks share replicates and draws; otherwise their rows stand one below the other."""
    if kind in ROWS_SHARED and rows:
        longest = max(range(len(rows)), key=lambda k: len(rows[k]))
        total = np.zeros_like(rows[longest])
        for part in rows:
            total[: len(part)] += part
        return Uncertainty(kind, keys[longest], total)
    if not rows:
        return Uncertainty(kind, np.zeros(0, dtype=object), np.zeros((0, 2, n_models)))
    return Uncertainty(kind, np.concatenate(keys), np.concatenate(rows))


def _notes(
    locale: str,
    pivot: str,
    ability: NDArray[np.float64],
    part: NDArray[np.intp],
    weak: NDArray[np.intp],
    n_items: NDArray[np.intp],
    by_subset: NDArray[np.float64],
) -> NDArray[np.object_]:
    """Why local less pivot is unknown on a subset, shape (J, 2); empty where it is known."""
    notes = np.full(by_subset.shape, "", dtype=object)
    for j, s in zip(*np.nonzero(np.isnan(by_subset)), strict=True):
        reasons = []
        for query, language in enumerate((locale, pivot)):
            name = f"{SUBSETS[s]} {language}"
            if n_items[j, s, query] == 0:
                reasons.append(f"no answers in {name}")
            elif np.isinf(ability[j, s, query]) and part[j, s, query] < 0:
                side = "above" if ability[j, s, query] > 0 else "below"
                reasons.append(f"{name} is {side} every finite level")
            elif part[j, s, query] == -2:
                reasons.append(f"at_chance: {name} is not above guessing")
            elif part[j, s, query] < 0:
                reasons.append(f"{name} has no finite level")
        if not reasons:
            apart = weak[j, s, 0] != weak[j, s, 1]
            how = (
                "share no chain of items"
                if apart
                else "are separated: one never fails where the other succeeds"
            )
            reasons.append(f"{SUBSETS[s]} {locale} and {pivot} {how}")
        notes[j, s] = "; ".join(reasons)
    return notes


def _of_gaps(notes: NDArray[np.object_]) -> NDArray[np.object_]:
    """Notes of the gaps, shape (J, gaps), from those of the subsets that each needs, shape (J, 2)."""
    out = np.full((len(notes), len(GAPS)), "", dtype=object)
    for g in range(len(GAPS)):
        used = notes[:, subsets_of(g)]
        out[:, g] = ["; ".join(dict.fromkeys(t for t in row if t)) for row in used]
    return out
