"""What the paired gap is worth beforehand: its expectation and variance per item, by the information formula.

Of a model's answers to an item, y10 is that the local one alone is right, y01 that the pivot's is. The
estimate is log(n10/n01), so an item moves it by y10/E[y10] − y01/E[y01] (over the number of items), whose
square has the mean 1/E[y10] + 1/E[y01]: the inverse conditional information (Andersen 1970,
doi:10.1111/j.2517-6161.1970.tb00842.x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.simulation.plan import Plan

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerItem:
    """What one item says of the mean over models of local less pivot.

    Attributes
    ----------
    estimate : what the estimate tends to with many items, logit; the truth where the estimator's model holds
    own : variance of one model's gap, times the number of items, logit²
    common : covariance of two models' gaps, times the number of items, logit²
    second : next term of one model's variance in few items, times the square of their number, logit²
    """

    estimate: float
    own: float
    common: float
    second: float = 0.0

    def variance(self, models: int, items: int) -> float:
        """Of the mean over models, logit²."""
        own = self.own / items + self.second / items**2
        return own / models + self.common / items * (1.0 - 1.0 / models)


def paired_per_item(plan: Plan, subset: int) -> PerItem:
    """The paired gap of one subset under a plan.

    Answers of two models to one item are independent given the item. Where the conditional model holds, their
    scores are then uncorrelated; a floor, unequal discrimination and DIF make them correlated, which counts.
    A count n of items right in one language only is binomial: the mean of 1/n is not the inverse of its mean.

    Parameters
    ----------
    subset : 0 CA, 1 CS
    """
    up, down, item_weight, model_weight = _discordant(plan, subset)
    n_up, n_down = item_weight @ up, item_weight @ down  # of every ability
    seen = (1.0 - plan.missing) ** 2
    common = (up / n_up - down / n_down) @ model_weight
    own = model_weight @ (1.0 / n_up + 1.0 / n_down) / seen
    second = model_weight @ sum((1.0 - seen * n) / (seen * n) ** 2 for n in (n_up, n_down))
    estimate = model_weight @ np.log(n_up / n_down)
    return PerItem(float(estimate), float(own), float(item_weight @ common**2), float(second))


def _discordant(plan: Plan, subset: int) -> tuple[Array, Array, Array, Array]:
    """Probability that the local answer alone is right, and that the pivot's is, (items, models); weights.

    An item is a difficulty, a discrimination and DIF; a model an ability. What a model and its family know of
    the item is integrated out. Normal distributions are cut into nodes.
    """
    theta, model_weight = _normal(plan.ability_sd, 21)
    u, u_weight = _normal(float(np.hypot(plan.pair_sd[subset], plan.family_sd)), 15)
    b, b_weight = _normal(plan.difficulty_sd, 31)
    log_a, a_weight = _normal(plan.discrimination_sd, 9)
    share = plan.dif_share if plan.dif_size else 0.0
    d = np.array([0.0, plan.dif_size, -plan.dif_size]) if share else np.zeros(1)
    d_weight = np.array([1.0 - share, share / 2, share / 2]) if share else np.ones(1)
    grid = np.meshgrid(b, log_a, d, indexing="ij")
    difficulty, log_slope, dif = (v.reshape(-1, 1, 1) for v in grid)
    item_weight = np.einsum("b,a,d->bad", b_weight, a_weight, d_weight).reshape(-1)
    slope = plan.slopes[subset] * np.exp(log_slope)
    level = theta[:, None] + u + plan.ability - (plan.harder if subset else 0.0) - difficulty
    c = plan.chance
    pivot = c + (1.0 - c) * expit(slope * level)
    local = c + (1.0 - c) * expit(slope * (level + plan.gaps[subset] - dif))
    up, down = (local * (1.0 - pivot)) @ u_weight, (pivot * (1.0 - local)) @ u_weight
    return up, down, item_weight, model_weight


def _normal(sd: float, count: int) -> tuple[Array, Array]:
    """Nodes and weights of N(0, sd) (Gauss and Hermite)."""
    if not sd:
        return np.zeros(1), np.ones(1)
    node, weight = np.polynomial.hermite_e.hermegauss(count)
    return sd * node, weight / weight.sum()
