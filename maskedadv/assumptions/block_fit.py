"""How well the Rasch model fits one block: mean squares and their reference, reliabilities, Andersen's tests.

The reference of a mean square is what the fitted model gives when it is true: answers are drawn given the
totals of the items (exactly, see `conditional.draw_rows`), and what is estimated from the answers is
estimated anew. Models are taken as independent; relatives answer alike and stray from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from maskedadv.design.blocks import Block
from maskedadv.likelihoods import conditional, item_difference
from maskedadv.likelihoods.andersen import LikelihoodRatio, andersen_test, split_test
from maskedadv.likelihoods.inflation import inflation
from maskedadv.likelihoods.mean_squares import MeanSquares, mean_squares, separation_reliability
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]

_ITEM_DRAWS = 4000
_LARGEST = 4_000_000
"""Answers that are drawn at once."""


@dataclass(frozen=True)
class BlockFit:
    """The fit of one block.

    Attributes
    ----------
    items, cells : a row an item and a cell, with mean squares and their p values
    summary : one row of numbers about the block
    andersen : a row a test
    ability, covariance : shapes (C,), (C, C): conditional estimates (NaN where not finite) and their
        covariance, clustered by item; for comparisons between subsets
    """

    items: pd.DataFrame
    cells: pd.DataFrame
    summary: Mapping[str, Any]
    andersen: Sequence[Mapping[str, Any]]
    ability: Array
    covariance: Array


def fit_block(
    block: Block, *, replicates: int, seed: int, alpha: float, families: Mapping[str, str] | None = None
) -> BlockFit:
    """Fit and check one block of right and wrong answers that serves one locale.

    Parameters
    ----------
    replicates : tables drawn for the cells' references
    families : family of each model, for Andersen's test by family
    """
    rng = np.random.default_rng([seed, block.subset, *block.locale.encode()])
    rows = block.answers.T
    fitted = conditional.fit(rows)
    keep = fitted.finite
    names = {"locale": block.locale, "subset": SUBSETS[block.subset]}
    inside, ability = rows[:, keep], fitted.ability[keep]
    totals = conditional.group_totals(inside)
    level = conditional.row_levels(totals, ability)
    own = level[totals.group]
    error = _error(conditional.variances(totals, ability, level).sum(axis=1))[totals.group]
    found = mean_squares(inside, ability, own)
    items = _items(block, names, inside, own, error, found)
    cells = _cells(block, names, fitted.ability)
    covariance = np.full((len(keep), len(keep)), np.nan)
    if keep.sum() > 1:
        items["infit_p"], items["outfit_p"] = _item_reference(totals, ability, level, found, rng)
        at = np.flatnonzero(keep)
        inverse: Array = np.asarray(
            np.linalg.pinv(conditional.profile_information(totals, ability), hermitian=True), dtype=np.float64
        )
        covariance[np.ix_(at, at)] = _clustered(inside, ability, own, inverse)
        cells.loc[at, "ability_sd"] = np.sqrt(np.diag(covariance)[at])
        cells.loc[at, "infit"], cells.loc[at, "outfit"] = found.column_infit, found.column_outfit
        p = _cell_reference(inside, totals, ability, found, rng, replicates)
        cells.loc[at, "infit_p"], cells.loc[at, "outfit_p"] = p
    items["flagged"] = _flags(items, alpha)
    cells["flagged"] = _flags(cells, alpha)
    andersen = _andersen(block, names, inside, keep, ability, totals, rng, families)
    summary = {
        **names,
        "items": len(items),
        "items_fitted": int(np.isfinite(items["infit"]).sum()),
        "items_flagged": int(items["flagged"].sum()),
        "cells": len(cells),
        "cells_flagged": int(cells["flagged"].sum()),
        "item_infit_sd": float(items["infit"].std()),
        "reliability_items": separation_reliability(own, error),
        **_reliability_of_models(block, cells),
    }
    return BlockFit(items, cells, summary, andersen, fitted.ability, covariance)


def _error(information: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.where(information > 0, 1.0 / np.sqrt(information), np.nan)


def _items(
    block: Block, names: Mapping[str, str], rows: Array, level: Array, error: Array, found: MeanSquares
) -> pd.DataFrame:
    seen = (~np.isnan(rows)).sum(axis=1)
    return pd.DataFrame(
        {
            **names,
            "item": block.item,
            "answers": seen,
            "right": np.nan_to_num(rows).sum(axis=1).astype(int),
            "difficulty": np.where(seen > 0, level, np.nan),
            "difficulty_sd": error,
            "infit": found.row_infit,
            "outfit": found.row_outfit,
            "infit_p": np.nan,
            "outfit_p": np.nan,
        }
    )


def _cells(block: Block, names: Mapping[str, str], ability: Array) -> pd.DataFrame:
    columns = ("ability_sd", "infit", "outfit", "infit_p", "outfit_p")
    return pd.DataFrame(
        {
            **names,
            "model": block.model,
            "language": block.language,
            "answers": (~np.isnan(block.answers)).sum(axis=1),
            "right": np.nan_to_num(block.answers).sum(axis=1).astype(int),
            "ability": ability,
            **dict.fromkeys(columns, np.nan),
        }
    )


def _clustered(rows: Array, ability: Array, level: Array, inverse: Array) -> Array:
    """Covariance of the abilities: inverse information around the sum of the items' squared scores."""
    finite = np.isfinite(level)
    p = 1.0 / (1.0 + np.exp(np.where(finite, level, 0.0)[:, None] - ability))
    score = np.where(~np.isnan(rows) & finite[:, None], rows - p, 0.0)
    score = np.nan_to_num(score) @ inverse
    return np.asarray(score.T @ score * (len(score) / max(len(score) - 1, 1)))


def _item_reference(
    totals: conditional.Totals, ability: Array, level: Array, found: MeanSquares, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Two-sided mid-p values of every item's infit and outfit, given its total."""
    infit, outfit = np.full(len(totals.group), np.nan), np.full(len(totals.group), np.nan)
    columns = len(ability)
    draws = int(np.clip(_LARGEST * 10 // (columns * max(len(level), 1)), 200, _ITEM_DRAWS))
    for g in np.flatnonzero(np.isfinite(level)):
        pattern = totals.pattern[g]
        zero = np.zeros(1, dtype=np.intp)
        one = conditional.Totals(
            totals.seen[pattern : pattern + 1], zero, totals.total[g : g + 1], np.ones(1), zero
        )
        drawn = conditional.draw_rows(one, ability, rng, draws)[:, 0]
        null = mean_squares(drawn, ability, np.full(draws, level[g]))
        at = np.flatnonzero(totals.group == g)
        infit[at] = _two_sided(found.row_infit[at], null.row_infit[:, None])
        outfit[at] = _two_sided(found.row_outfit[at], null.row_outfit[:, None])
    return infit, outfit


def _two_sided(value: Array, null: Array) -> Array:
    """Mid-p values, twice the smaller tail, the value itself counted among the draws; null (B, N or 1)."""
    near = np.abs(null - value) <= 1e-9
    equal = near.sum(axis=0)
    above, below = ((null > value) & ~near).sum(axis=0), ((null < value) & ~near).sum(axis=0)
    return np.asarray(np.minimum(2 * (np.minimum(above, below) + (equal + 1) / 2) / (len(null) + 1), 1.0))


def _cell_reference(
    rows: Array,
    totals: conditional.Totals,
    ability: Array,
    found: MeanSquares,
    rng: np.random.Generator,
    replicates: int,
) -> tuple[Array, Array]:
    """The same of every cell, from whole tables, with abilities and levels estimated anew in each."""
    chunk = max(1, _LARGEST // max(rows.size, 1))
    infit: list[Array] = []
    outfit: list[Array] = []
    while len(infit) < replicates:
        for drawn in conditional.draw_rows(totals, ability, rng, min(chunk, replicates - len(infit))):
            # A drawn column that is all right has no finite ability: a few steps are as good as many.
            again, _, _ = conditional.solve(
                totals, np.nan_to_num(drawn).sum(axis=0), ability, tolerance=1e-6, max_steps=15
            )
            level = conditional.row_levels(totals, again)[totals.group]
            one = mean_squares(drawn, again, level)
            infit.append(one.column_infit)
            outfit.append(one.column_outfit)
    return (
        _beyond_the_draws(found.column_infit, np.array(infit)),
        _beyond_the_draws(found.column_outfit, np.array(outfit)),
    )


def _beyond_the_draws(value: Array, null: Array) -> Array:
    """As `_two_sided`; where fewer than ten draws are as far out, from t on the log scale.

    A few hundred draws give no p that would survive many cells' correction; logs of mean squares of cells,
    which rest on many items, are close to normal.
    """
    counted = _two_sided(value, null)
    with np.errstate(divide="ignore"):
        log_null = np.log(np.maximum(null, 1e-12))
        spread = log_null.std(axis=0, ddof=1) * np.sqrt(1 + 1 / len(null))
        off = np.abs(np.log(np.maximum(value, 1e-12)) - log_null.mean(axis=0)) / np.maximum(spread, 1e-12)
    tail = 2 * student.sf(off, len(null) - 1)
    rare = counted < 20 / (len(null) + 1)
    return np.where(rare, np.minimum(tail, counted), counted)


def _flags(frame: pd.DataFrame, alpha: float) -> NDArray[np.bool_]:
    """Infit or outfit below a false discovery rate over both and all rows."""
    p = frame[["infit_p", "outfit_p"]].to_numpy(float)
    out = np.zeros(p.shape, dtype=bool)
    known = np.isfinite(p)
    if known.any():
        out[known] = false_discovery_control(p[known]) <= alpha
    return np.asarray(out.any(axis=1))


def _reliability_of_models(block: Block, cells: pd.DataFrame) -> dict[str, float]:
    """Separation reliability of the models' abilities in each of the two languages."""
    local = (block.language != block.pivot).astype(bool)
    out = {}
    for name, rows in (("local", cells[local]), ("pivot", cells[~local])):
        out[f"reliability_{name}"] = separation_reliability(
            rows["ability"].to_numpy(float), rows["ability_sd"].to_numpy(float)
        )
    return out


def _andersen(
    block: Block,
    names: Mapping[str, str],
    rows: Array,
    keep: NDArray[np.bool_],
    ability: Array,
    totals: conditional.Totals,
    rng: np.random.Generator,
    families: Mapping[str, str] | None,
) -> list[dict[str, Any]]:
    """By difficulty of the items, by language, by ability of the models, and by family."""
    found = []
    share = np.nan_to_num(rows).sum(axis=1) / np.maximum((~np.isnan(rows)).sum(axis=1), 1)
    inner = (share > 0) & (share < 1)
    group = np.where(inner, (share > np.median(share[inner])).astype(int), -1) if inner.any() else inner - 1
    found.append(_row(names, "items", "easy against hard", andersen_test(rows, np.asarray(group)), 1.0))
    model, language = block.model[keep], block.language[keep]
    splits = [("language", f"{block.locale} against {block.pivot}", language == block.locale)]
    standing = pd.Series(ability).groupby(model).transform("mean").to_numpy(float)
    if len(set(model)) > 3:
        splits.append(("models", "able against less able", standing > np.median(standing)))
    if families:
        own = np.array([families.get(str(m), "") for m in model], dtype=object)
        known = sorted(set(own) - {""})
        if len(known) > 1:
            splits += [("family", f"{name} against others", own == name) for name in known]
    for kind, words, focal in splits:
        if not focal.any() or focal.all():
            continue
        spread = item_difference.distributions(totals, ability, focal)
        right = np.nan_to_num(rows[:, focal]).sum(axis=1)
        tested = item_difference.test_items(spread, right)
        factor = inflation(spread, tested.z, float(min(len(set(model[focal])), len(set(model[~focal])))))
        found.append(_row(names, kind, words, split_test(spread, right, rng), factor))
    return found


def _row(
    names: Mapping[str, str], split: str, groups: str, found: LikelihoodRatio, factor: float
) -> dict[str, Any]:
    return {
        **names,
        "split": split,
        "groups": groups,
        "statistic": found.statistic,
        "expected": found.expected,
        "p": found.p,
        "inflation": factor,
    }
