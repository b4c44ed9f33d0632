"""Power, width and coverage by simulation: studies drawn from a plan and estimated as a fit would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from maskedadv.engines import choose_engine
from maskedadv.errors import NotConverged
from maskedadv.files.journal import Journal
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit
from maskedadv.maximum_likelihood.guessing import fit_floor
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.paired import fit_paired, fit_paired_floor
from maskedadv.settings import LEVEL
from maskedadv.simulation.answers import draw_answers
from maskedadv.simulation.plan import Plan
from maskedadv.simulation.world import draw_world
from maskedadv.vocabulary import BASE_TABLE

Array = NDArray[np.float64]
Difference = tuple[Array, Array]
"""Local less pivot of every model (J,), and rows (I, J) whose squares sum to the variance."""

BASES = tuple(base.name for base in BASE_TABLE)
CHUNK = 20


@dataclass(frozen=True)
class Simulated:
    """The mean knowledge gap over simulated studies.

    Attributes
    ----------
    power, power_error : share of studies whose interval lies on the truth's side of zero (either side where
        the truth is 0), and its Monte Carlo standard error
    width : mean width of the intervals, logit
    coverage : share of the intervals that hold the mean true gap of the models
    estimate, sd : mean and sd of the estimates, logit
    studies : that gave an interval; those without one count as not seeing the gap
    """

    power: float
    power_error: float
    width: float
    coverage: float
    estimate: float
    sd: float
    studies: int


def simulate_power(
    plan: Plan,
    variants: Sequence[str],
    *,
    replicates: int = 200,
    level: float = LEVEL,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Simulated]:
    """Studies of one locale under a plan, in `jobs` processes; see `simulate_powers`."""
    (found,) = simulate_powers(
        [plan], variants, replicates=replicates, level=level, launcher=Local(jobs), tell=tell
    )
    return found


def simulate_powers(
    plans: Sequence[Plan],
    variants: Sequence[str],
    *,
    replicates: int = 200,
    level: float = LEVEL,
    launcher: Launcher | None = None,
    tell: Callable[[str], None] = lambda _: None,
    kept: Journal | None = None,
) -> list[dict[str, Simulated]]:
    """Studies of one locale under several plans, robust intervals; no model is left out for its accuracy.

    Parameters
    ----------
    plans : that differ in their numbers of CS items
    variants : of `plain` (marginal), `floor`, `paired`, `paired+floor`
    replicates : studies of each plan; the same wherever they are simulated
    launcher : where; default: in this process
    kept : finished studies, a few at a time, and where they are kept
    """
    kept = kept or Journal()
    chunks = [range(first, min(first + CHUNK, replicates)) for first in range(0, replicates, CHUNK)]
    keys = [[f"{plan.items_cs} CS items, studies from {c.start + 1} on" for c in chunks] for plan in plans]
    units = [
        Unit(key, partial(_some, plan, tuple(variants), chunk))
        for plan, own in zip(plans, keys, strict=True)
        for chunk, key in zip(chunks, own, strict=True)
        if kept.get(key) is None
    ]

    def keep(k: int, values: Array) -> None:
        kept.add(units[k].name, values.tolist())
        done = len(kept.values)
        if done % 5 == 0 or done == len(plans) * len(chunks):
            tell(f"study {min(done * CHUNK, len(plans) * replicates)} of {len(plans) * replicates}")

    complete(units, launcher or Local(), keep=keep, tell=tell)
    out = []
    for plan, own in zip(plans, keys, strict=True):
        parts = [np.array(kept.get(key), dtype=np.float64) for key in own]
        values = np.concatenate(parts)  # (R, V, 3): estimate, sd, truth
        out.append({v: _summary(values[:, k], plan.knowledge_gap, level) for k, v in enumerate(variants)})
    return out


def _some(plan: Plan, variants: Sequence[str], chunk: range, _: Callable[[str], None]) -> Array:
    return np.array([one_study(plan, variants, replicate) for replicate in chunk])


def one_study(plan: Plan, variants: Sequence[str], replicate: int) -> Array:
    """Estimate, standard error and truth of the mean knowledge gap under every variant, shape (V, 3)."""
    rng = np.random.default_rng([plan.seed, replicate])
    world = draw_world(plan, rng)
    answers = draw_answers(world, rng)
    gaps = world.ability[1] - world.ability[0]
    out = np.full((len(variants), 3), np.nan)
    for v, variant in enumerate(variants):
        parts = []
        for subset in (0, 1):
            own = answers[:, :, (world.subset == subset) & world.asked[1]]
            parts.append(_differences(own[1], own[0], variant, plan))
        (ca, ca_rows), (cs, cs_rows) = parts
        known = np.isfinite(ca) & np.isfinite(cs)
        if known.any():
            variance = sum(float((rows[:, known].mean(axis=1) ** 2).sum()) for rows in (ca_rows, cs_rows))
            truth = (gaps[:, 1] - gaps[:, 0])[known].mean()
            out[v] = (cs[known] - ca[known]).mean(), np.sqrt(variance) if variance > 0 else np.nan, truth
    return out


def _differences(local: Array, pivot: Array, variant: str, plan: Plan) -> Difference:
    """Local less pivot of every model, as a fit gives it."""
    chance = np.full(local.shape[1], plan.chance)
    if variant == "paired":
        found = fit_paired(local, pivot, interval="robust")
        return found.gap, found.rows
    if variant == "paired+floor":
        found = fit_paired_floor(local, pivot, chance, interval="robust")
        return found.gap, found.rows
    cells = np.concatenate([local, pivot])
    engine = choose_engine("auto")
    try:
        if variant == "floor":
            estimate = fit_floor(cells, chance, engine, interval="robust", seed=1)
        else:
            estimate = fit_marginal(cells, engine, interval="robust", seed=1)
    except (NotConverged, np.linalg.LinAlgError):
        return np.full(len(local), np.nan), np.zeros((local.shape[1], len(local)))
    j = len(local)
    with np.errstate(invalid="ignore"):
        gap = estimate.ability[:j] - estimate.ability[j:]
    return gap, estimate.uncertainty[:, :j] - estimate.uncertainty[:, j:]


def _summary(values: Array, truth: float, level: float) -> Simulated:
    kept = values[np.isfinite(values).all(axis=1)]
    estimate, sd, own = kept.T
    reach = float(ndtri(0.5 + level / 2)) * sd
    side = 1.0 if truth >= 0 else -1.0
    seen = side * estimate - reach > 0
    if truth == 0.0:
        seen |= estimate + reach < 0
    share = float(seen.sum() / len(values))
    nothing = float("nan")
    some = len(kept) > 0
    return Simulated(
        power=share,
        power_error=float(np.sqrt(share * (1 - share) / len(values))),
        width=float(2 * reach.mean()) if some else nothing,
        coverage=float((np.abs(estimate - own) <= reach).mean()) if some else nothing,
        estimate=float(estimate.mean()) if some else nothing,
        sd=float(estimate.std(ddof=1)) if len(kept) > 1 else nothing,
        studies=len(kept),
    )
