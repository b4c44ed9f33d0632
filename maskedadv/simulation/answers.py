"""Answers drawn in a known world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.errors import BadSetting
from maskedadv.simulation.world import World

Array = NDArray[np.float64]

MOST = 20_000_000
"""Answers of one table that are drawn at once: more would not fit the memory of an ordinary machine."""


def check_size(models: int, items: int, languages: int) -> None:
    """Refuse a table that is too large to be drawn.

    Raises
    ------
    BadSetting
    """
    if (count := models * items * languages) > MOST:
        raise BadSetting(
            f"{models:,} models and {items:,} items in {languages} languages are {count:,} answers; at most "
            f"{MOST:,} can be simulated: ask for fewer models or items."
        )


def draw_answers(world: World, rng: np.random.Generator) -> Array:
    """Right (1) or wrong (0) of every model on every item in every language, NaN where there is no answer.

    What a model and its family know of an item is the same in every language.

    Returns
    -------
    shape (K + 1, J, I), the pivot first

    Raises
    ------
    BadSetting
        The table is too large.
    """
    shape = len(world.models), len(world.items)
    check_size(*shape, len(world.languages))
    known = np.zeros(shape)
    spread = np.array(world.pair_sd)[world.subset]
    if spread.any():
        known += spread * rng.standard_normal(shape)
    if world.family_sd:
        families, family = np.unique(world.families.astype(str), return_inverse=True)
        known += (world.family_sd * rng.standard_normal((len(families), shape[1])))[family]
    out = np.full((len(world.languages), *shape), np.nan)
    for k, ability in enumerate(world.ability):
        level = ability[:, world.subset]
        with np.errstate(invalid="ignore"):
            eta = world.slope * (level - (world.difficulty + world.dif[k]) + known)
        p = world.chance + (1.0 - world.chance) * expit(eta)
        right = rng.random(shape) < p
        seen = (rng.random(shape) < world.observed[k][:, world.subset]) & world.asked[k] & ~np.isnan(p)
        out[k] = np.where(seen, right, np.nan)
    return out
