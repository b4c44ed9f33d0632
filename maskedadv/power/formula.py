"""Power, width and the items needed, by the information formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from maskedadv.errors import BadSetting
from maskedadv.power.marginal_information import marginal_per_item, misfit
from maskedadv.power.observed_information import result_per_item
from maskedadv.power.paired_information import PerItem, paired_per_item
from maskedadv.result.fit_result import Fit
from maskedadv.settings import LEVEL
from maskedadv.simulation.plan import Plan

FORMULAS: dict[str, Callable[[Plan, int], PerItem]] = {"paired": paired_per_item, "plain": marginal_per_item}
"""Variants that have a formula; the others are simulated."""

MOST_ITEMS = 10_000_000

Parts = tuple[PerItem, PerItem]
"""CA and CS."""


@dataclass(frozen=True)
class Expected:
    """What the mean knowledge gap of a study will look like.

    Attributes
    ----------
    estimate : its expectation, logit
    sd : standard error that its interval rests on, logit
    total_sd : its sd over studies, in which the models' own mean gap differs too, logit
    """

    estimate: float
    sd: float
    total_sd: float


def no_formula(plan: Plan, variant: str) -> str:
    """Why there is no formula for a variant under a plan; empty if there is."""
    if variant not in FORMULAS:
        return f"{variant} has no formula"
    if variant == "plain" and (why := misfit(plan)):
        return f"plain has no formula with {why}"
    return ""


def per_item(plan: Plan, variant: str, result: Fit | None = None) -> Parts:
    """What an item of CA and of CS is worth; it does not depend on the numbers of items.

    Parameters
    ----------
    result : if given, what its items were worth, in place of the plan's; the gap stays the plan's
    """
    if result is None:
        return FORMULAS[variant](plan, 0), FORMULAS[variant](plan, 1)
    ca, cs = result_per_item(result, variant)
    return ca, PerItem(ca.estimate + plan.knowledge_gap, cs.own, cs.common)


def expected(plan: Plan, parts: Parts, *, items: tuple[int, int] | None = None) -> Expected:
    """The mean knowledge gap of a study; `parts` from `per_item`, `items` (CA, CS) other than the plan's."""
    counts = plan.n_items if items is None else items
    variance = sum(part.variance(plan.models, n) for part, n in zip(parts, counts, strict=True))
    between = plan.gap_sd**2 / plan.models
    estimate = parts[1].estimate - parts[0].estimate
    return Expected(estimate, float(np.sqrt(variance)), float(np.sqrt(variance + between)))


def power_of(found: Expected, truth: float, level: float) -> float:
    """Probability that the interval lies on the truth's side of zero; on either side where the truth is 0."""
    z = float(ndtri(0.5 + level / 2))
    above = float(ndtr((found.estimate - z * found.sd) / found.total_sd))
    below = float(ndtr((-found.estimate - z * found.sd) / found.total_sd))
    if truth == 0.0:
        return above + below
    return above if truth > 0 else below


def width_of(found: Expected, level: float) -> float:
    """Width of the interval, logit."""
    return 2.0 * float(ndtri(0.5 + level / 2)) * found.sd


def items_needed(
    plan: Plan | None = None,
    variant: str = "paired",
    *,
    result: Fit | None = None,
    power: float = 0.8,
    level: float = LEVEL,
    fixed_ca: bool = False,
) -> float:
    """The smallest number of CS items with which the mean knowledge gap is seen.

    Parameters
    ----------
    plan : its gap, numbers of models and ratio of CA to CS items count; default: `Plan()`
    variant : `paired` or `plain`; with a result, any that it holds
    result : if given, items are worth what they were there; else what they are under the plan
    power : share of studies whose interval lies on the gap's side of zero
    level : of the interval
    fixed_ca : keep the plan's CA items instead of their ratio to CS items

    Returns
    -------
    float
        Infinite where no number is enough; NaN where the plan's gap is zero.

    Raises
    ------
    BadSetting
        There is no formula for such a plan, or a share is no share.

    Examples
    --------
    >>> from maskedadv.power import items_needed
    >>> from maskedadv.simulation import Plan
    >>> items_needed(Plan(models=12, knowledge_gap=0.3), "paired")
    191.0
    """
    plan = plan or Plan()
    for name, share in (("power", power), ("level", level)):
        if not 0.0 < share < 1.0:
            raise BadSetting(f"{name} must lie between 0 and 1 (is {share!r}).")
    if result is None and (why := no_formula(plan, variant)):
        raise BadSetting(f"{why}; simulate it.")
    if plan.knowledge_gap == 0.0:
        return float("nan")
    parts = per_item(plan, variant, result)
    ratio = plan.items_ca / plan.items_cs

    def enough(cs: int) -> bool:
        ca = plan.items_ca if fixed_ca else max(round(ratio * cs), 1)
        return power_of(expected(plan, parts, items=(ca, cs)), plan.knowledge_gap, level) >= power

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_ITEMS:
            return float("inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
