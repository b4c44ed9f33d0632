"""Blocks with a known truth about single items and about relatives among the models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.likelihoods import conditional, item_difference
from maskedadv.likelihoods.inflation import inflation
from tests.simulate import expit

Array = NDArray[np.float64]


def block(
    rng: np.random.Generator,
    models: int,
    items: int = 200,
    *,
    gap: float = -0.8,
    difference: Array | float = 0.0,
    family: int = 1,
    family_sd: float = 0.0,
    model_item: float = 0.0,
    chance: float = 0.0,
    languages: int = 2,
    central: int = 0,
) -> Array:
    """Answers (languages·models, items), the focal language first.

    Parameters
    ----------
    difference : how much easier each item is in the focal language, shape (items,)
    family, family_sd : models a family, and sd of an item effect in one language that its members share
    model_item : sd of an effect that a model's answers to an item share in all languages
    chance : of a right answer by guessing
    central : so many first items lie in the middle of the models' abilities
    """
    ability = 0.8 + 0.7 * rng.standard_normal(models)
    b = 1.2 * rng.standard_normal(items)
    b[:central] = 0.8 + gap / 2
    shift = np.zeros((languages, 1, items))
    shift[0] = gap + np.broadcast_to(difference, (items,))
    families = -(-models // family)
    own = family_sd * rng.standard_normal((languages, families, items))
    eta = ability[None, :, None] + shift - b + np.repeat(own, family, axis=1)[:, :models]
    eta = eta + model_item * rng.standard_normal((models, items))
    return (
        (rng.random(eta.shape) < chance + (1 - chance) * expit(eta))
        .astype(float)
        .reshape(languages * models, items)
    )


def run_tests(answers: Array, models: int) -> tuple[item_difference.ItemDifference, float]:
    """The tests of the first `models` cells' language, and the inflation of their deviates."""
    fitted = conditional.fit(answers.T)
    keep = fitted.finite
    focal = (np.arange(len(answers)) < models)[keep]
    totals = conditional.group_totals(answers[keep].T)
    spread = item_difference.distributions(totals, fitted.ability[keep], focal)
    found = item_difference.test_items(spread, answers[keep][focal].sum(axis=0))
    return found, inflation(spread, found.z, float(models))
