"""A world in which every ability and every item is known, drawn from plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.simulation.plan import Plan

Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """What decides the answers; languages with the pivot first.

    Attributes
    ----------
    languages : codes, length K + 1, the pivot first
    models, families : ids, shape (J,)
    ability : shape (K + 1, J, 2 subsets), logit; infinite: always or never right; NaN: not asked
    observed : shape (K + 1, J, 2), probability that an answer is not missing
    items : ids, shape (I,); `subset` their subset, an index
    difficulty, slope : shape (I,), in the pivot
    dif : shape (K + 1, I), how much harder an item is in a language than in the pivot, logit
    asked : shape (K + 1, I)
    chance : probability of a lucky guess
    pair_sd : spread of what a model knows of single items, CA and CS; `family_sd` of what a family knows
    """

    languages: tuple[str, ...]
    models: NDArray[np.object_]
    families: NDArray[np.object_]
    ability: Array
    observed: Array
    items: NDArray[np.object_]
    subset: NDArray[np.intp]
    difficulty: Array
    slope: Array
    dif: Array
    asked: NDArray[np.bool_]
    chance: float = 0.0
    pair_sd: tuple[float, float] = (0.0, 0.0)
    family_sd: float = 0.0


def draw_world(plan: Plan, rng: np.random.Generator) -> World:
    """Abilities, gaps and items drawn from the plan's normal distributions."""
    j, k = plan.models, len(plan.locale)
    base = plan.ability + plan.ability_sd * rng.standard_normal(j)
    own = plan.gap_sd * rng.standard_normal((2, k, j))
    overall = plan.global_gap + own[0]
    ability = np.empty((k + 1, j, 2))
    ability[0] = base[:, None]
    ability[1:, :, 0] = base + overall
    ability[1:, :, 1] = base + overall + plan.knowledge_gap + own[1]
    n_ca, n_cs = plan.n_items
    subset = np.repeat([0, 1], [n_ca, k * n_cs])
    n = len(subset)
    asked = np.ones((k + 1, n), dtype=bool)
    for place in range(k):  # culture-specific items are a locale's own
        asked[1 + place, n_ca:] = np.arange(k * n_cs) // n_cs == place
    difficulty = plan.harder * subset + plan.difficulty_sd * rng.standard_normal(n)
    slope = np.array(plan.slopes)[subset] * np.exp(plan.discrimination_sd * rng.standard_normal(n))
    families = j if plan.families is None else plan.families
    return World(
        languages=(plan.pivot, *plan.locale),
        models=_ids("model", j),
        families=_ids("family", families)[np.arange(j) % families],
        ability=ability,
        observed=np.full(ability.shape, 1.0 - plan.missing),
        items=_item_ids(plan),
        subset=subset,
        difficulty=difficulty,
        slope=slope,
        dif=draw_dif(plan, asked, rng),
        asked=asked,
        chance=plan.chance,
        pair_sd=plan.pair_sd,
        family_sd=plan.family_sd,
    )


def draw_dif(plan: Plan, asked: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    """An item is harder or easier in a local language by `dif_size`, with equal chance; 0 in the pivot."""
    moved = rng.random(asked.shape) < plan.dif_share
    dif = np.where(moved, plan.dif_size * rng.choice([-1.0, 1.0], asked.shape), 0.0)
    dif[0] = 0.0
    return np.where(asked, dif, 0.0)


def _ids(noun: str, count: int) -> NDArray[np.object_]:
    width = len(str(count))
    return np.array([f"{noun}-{n:0{width}d}" for n in range(1, count + 1)], dtype=object)


def _item_ids(plan: Plan) -> NDArray[np.object_]:
    own = [_ids(f"CS-{locale}", plan.items_cs) for locale in plan.locale]
    return np.concatenate([_ids("CA", plan.items_ca), *own])
