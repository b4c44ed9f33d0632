"""What an item is worth beforehand to the marginal estimator: its expected information, exactly.

With complete answers, an item's score in the abilities is y_c − m_c(T), T its number of right answers and
m_c(t) = E[p_c | T = t]; in log σ it is E[z² | T] − 1. The expected information is the mean of the products of
scores, which needs the distribution of T given the difficulty (Poisson-binomial; by its characteristic
function, Hong 2013, doi:10.1016/j.csda.2012.10.006) and nothing that is random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from maskedadv.power.paired_information import PerItem
from maskedadv.simulation.plan import Plan

Array = NDArray[np.float64]


def expected_information(ability: Array, sigma: float) -> Array:
    """Expected information of one item in (θ, log σ), shape (C + 1, C + 1), of the marginal Rasch likelihood.

    Parameters
    ----------
    ability : shape (C,), logit, of the cells that answer the item
    sigma : standard deviation of the difficulties, above 0
    """
    z = np.linspace(-8.0, 8.0, 161)
    weight = np.exp(-0.5 * z**2)
    weight /= weight.sum()
    p = expit(ability[:, None] - sigma * z)  # (C, Q)
    count = len(ability) + 1 + len(ability) % 2  # odd, so that no factor is zero
    turn = np.exp(-2j * np.pi * np.arange(count) / count)
    factor = 1.0 - p[:, :, None] + p[:, :, None] * turn
    whole = np.exp(np.log(factor).sum(axis=0))  # (Q, N)
    total = np.fft.ifft(whole, axis=1).real  # P(T = t | z)
    joint = np.empty((len(ability), count))  # P(y_c = 1, T = t)
    for c in range(len(ability)):
        others = np.fft.ifft(whole / factor[c], axis=1).real
        joint[c] = np.roll((weight * p[c]) @ others, 1)
    of_total = weight @ total
    kept = of_total > 1e-11  # what is rarer is beyond the precision of the transform, and of no weight
    posterior = (weight[:, None] * total)[:, kept] / of_total[kept]
    expected = np.zeros((len(ability), count))
    expected[:, kept] = p @ posterior
    spread = np.zeros(count)
    spread[kept] = z**2 @ posterior - 1.0
    cross = joint @ expected.T
    cells = (p * weight) @ p.T - cross - cross.T + (expected * of_total) @ expected.T
    cells[np.diag_indices_from(cells)] += (weight * p * (1.0 - p)).sum(axis=1)
    edge = joint @ spread - expected @ (of_total * spread)
    return np.block([[cells, edge[:, None]], [edge[None, :], np.array([[of_total @ spread**2]])]])


def marginal_per_item(plan: Plan, subset: int) -> PerItem:
    """The plain gap (marginal) of one subset under a plan without a `misfit`."""
    place = (np.arange(plan.models) + 0.5) / plan.models
    slope, gap = plan.slopes[subset], plan.gaps[subset]
    pivot = plan.ability - (plan.harder if subset else 0.0) + plan.ability_sd * ndtri(place)
    ability = slope * np.concatenate([pivot + gap, pivot])
    information = expected_information(ability, max(slope * plan.difficulty_sd, 0.01))
    j = plan.models
    contrast = np.zeros((j, len(information)))
    contrast[:, :j], contrast[:, j : 2 * j] = np.eye(j), -np.eye(j)
    covariance = contrast @ np.linalg.solve(information, contrast.T)
    own = float(np.trace(covariance)) / j
    common = (float(covariance.sum()) - j * own) / max(j * (j - 1), 1)
    return PerItem(slope * gap, own, common)


def misfit(plan: Plan) -> str:
    """Why a plan's answers do not follow the Rasch model, so that there is no formula; empty if they do."""
    reasons = {
        "a floor": plan.options is not None,
        "discriminations that differ": plan.discrimination_sd > 0,
        "what models know of single items": max(plan.pair_sd) > 0,
        "what families know of single items": plan.family_sd > 0,
        "DIF": plan.dif_share > 0 and plan.dif_size > 0,
        "missing answers": plan.missing > 0,
    }
    return " and ".join(name for name, there in reasons.items() if there)
