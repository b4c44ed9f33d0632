"""Tests of every item of one block: is it as much easier or harder in a language as the others are?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from maskedadv.design.blocks import Block
from maskedadv.likelihoods import conditional, item_difference, mantel_haenszel
from maskedadv.likelihoods.difference_spread import Spread, difference_spread
from maskedadv.likelihoods.inflation import inflation
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]

COLUMNS = (
    "locale",
    "subset",
    "item",
    "n_local",
    "n_other",
    "accuracy_local",
    "accuracy_other",
    "expected_local",
    "effect",
    "lower",
    "upper",
    "size",
    "score",
    "p_score",
    "p",
    "p_robust",
    "q",
    "flagged",
    "direction",
    "likelihood_ratio",
    "p_likelihood_ratio",
    "mh_log_odds",
    "mh_sd",
    "mh_p",
    "mh_class",
)
"""Of the table of items: in the order in which they are written."""


@dataclass(frozen=True)
class BlockTest:
    """The tests of one block for one language.

    Attributes
    ----------
    items : a row an item, the columns of `COLUMNS` but for those that are filled in over all blocks
    inflation : factor by which deviates of the bulk of the items exceed what independent models give
    spread : sd of the items' differences, models taken as independent
    cells : cells that the test rests on, those of the language and the others
    left_out : cells without a finite ability
    """

    items: pd.DataFrame
    inflation: float
    spread: Spread
    cells: tuple[int, int]
    left_out: int


def test_block(block: Block, language: str, level: float) -> BlockTest:
    """Test every item of a block for a difference between a language and the block's others.

    Parameters
    ----------
    block : right and wrong answers
    language : the focal one
    level : coverage of the limits of effects
    """
    answers = block.answers
    fitted = conditional.fit(answers.T)
    keep = fitted.finite
    focal = (block.language == language)[keep]
    used = answers[keep]
    own, other = used[focal], used[~focal]
    frame = pd.DataFrame(
        {
            "locale": language,
            "subset": SUBSETS[block.subset],
            "item": block.item,
            "n_local": _seen(own),
            "n_other": _seen(other),
            "accuracy_local": _mean(own),
            "accuracy_other": _mean(other),
        }
    )
    cells, left_out = (int(focal.sum()), int((~focal).sum())), int((~keep).sum())
    if not min(cells):
        nan = float("nan")
        return BlockTest(_nothing(frame), 1.0, Spread(nan, nan, nan), cells, left_out)
    totals = conditional.group_totals(used.T)
    spread = item_difference.distributions(totals, fitted.ability[keep], focal)
    right = np.nan_to_num(own).sum(axis=0)
    found = item_difference.test_items(spread, right)
    models = len(set(block.model[keep][focal]))
    factor = inflation(spread, found.z, float(models))
    lower, upper = item_difference.limits(
        spread, right, quantile=float(norm.isf((1 - level) / 2)), inflation=factor
    )
    free = np.isfinite(found.z)
    with np.errstate(invalid="ignore", divide="ignore"):
        frame["expected_local"] = np.where(frame["n_local"] > 0, found.expected / frame["n_local"], np.nan)
    frame["effect"] = found.effect
    frame["lower"], frame["upper"] = np.where(free, lower, np.nan), np.where(free, upper, np.nan)
    frame["score"] = found.score
    frame["p_score"] = 2 * norm.sf(np.abs(found.score))
    frame["p"] = 2 * norm.sf(np.abs(found.z))
    frame["p_robust"] = 2 * norm.sf(np.abs(found.z) / np.sqrt(factor))
    frame["size"] = _size(found.effect, found.variance, frame["p_robust"].to_numpy(), factor)
    frame["likelihood_ratio"], frame["p_likelihood_ratio"] = found.likelihood_ratio, found.p_ratio
    stratum = mantel_haenszel.strata_by_score(used)
    tested = mantel_haenszel.mantel_haenszel(mantel_haenszel.count_tables(used, focal, stratum))
    frame["mh_log_odds"], frame["mh_sd"], frame["mh_p"] = tested.log_odds, tested.sd, tested.p
    frame["mh_class"] = mantel_haenszel.ets_class(tested.log_odds, tested.sd, tested.p)
    return BlockTest(frame, factor, difference_spread(spread, right), cells, left_out)


test_block.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def _seen(answers: Array) -> NDArray[np.intp]:
    return np.asarray((~np.isnan(answers)).sum(axis=0), dtype=np.intp)


def _mean(answers: Array) -> Array:
    n = _seen(answers)
    return np.where(n > 0, np.nan_to_num(answers).sum(axis=0) / np.maximum(n, 1), np.nan)


def _size(effect: Array, variance: Array, p: Array, factor: float) -> NDArray[np.object_]:
    """ETS class of the effect itself, which needs no strata; its error from the information at no effect."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sd = np.sqrt(factor / variance)
    return mantel_haenszel.ets_class(effect, sd, p)


def _nothing(frame: pd.DataFrame) -> pd.DataFrame:
    """A block without a determined cell on one of the sides: nothing can be tested."""
    for name in COLUMNS:
        if name not in frame:
            frame[name] = "" if name in {"size", "mh_class", "direction"} else np.nan
    return frame
