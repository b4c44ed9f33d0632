"""Maximum likelihood of the Rasch model with pair effects, difficulties and pair effects integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from maskedadv.errors import NotConverged
from maskedadv.likelihoods import pair_effects as core
from maskedadv.likelihoods.moments import rough_moments
from maskedadv.likelihoods.newton import LOG_SIGMA

Array = NDArray[np.float64]

FARTHEST = 12.0
"""Abilities are held within so many logits: where every answer is right (or wrong) there is no maximum."""


@dataclass(frozen=True)
class PairEffectsEstimate:
    """Where the search ended.

    Attributes
    ----------
    ability : shape (2, J), logit; NaN where a model has no answer in a language
    sigma, tau : sd of the difficulties and of the pair effects, logit
    log_likelihood : at the maximum
    gradient : largest absolute score of a parameter that no bound holds
    answers, point : what the likelihood was evaluated on, and its value there
    """

    ability: Array
    sigma: float
    tau: float
    log_likelihood: float
    gradient: float
    answers: core.PairAnswers
    point: core.PairPoint


def fit_pair_effects(local: Array, pivot: Array, chance: Array | None = None) -> PairEffectsEstimate:
    """Estimate abilities, the spread of difficulties and that of pair effects.

    Parameters
    ----------
    local, pivot : shape (J, I), right or wrong, NaN where not observed
    chance : shape (I,), guessing floor of every item; None for none

    Raises
    ------
    NotConverged
        The search ended where the score is not zero.
    """
    n_models, n_items = local.shape
    both = np.concatenate([local, pivot])
    answers = core.code_answers(local, pivot, np.zeros(n_items) if chance is None else chance)
    rough = rough_moments(both)
    start = np.concatenate([rough.ability, [np.log(rough.sigma), np.log(0.5)]])
    bounds = [(-FARTHEST, FARTHEST)] * (2 * n_models) + [LOG_SIGMA, core.LOG_TAU]
    low, high = np.array(bounds).T
    scale = 1e-5 * max(1.0, float((~np.isnan(both)).sum(axis=1).max()))
    values = np.clip(start, low, high)
    for _ in range(4):  # nodes are laid for where the search begins, and again for where it ended
        nodes = core.lay_pair_nodes(values[:-2].reshape(2, -1), float(np.exp(values[-2])))

        def objective(v: Array, nodes: core.PairNodes = nodes) -> tuple[float, Array]:
            point = _at(answers, v, nodes)
            return -point.log_likelihood, -point.gradient

        before = values
        found = minimize(
            objective,
            values,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 0.3 * scale, "maxcor": 30},
        )
        values = np.asarray(found.x)
        if np.abs(values - before).max() < 1e-3:
            break
    point = _at(answers, values, nodes)
    held = ((values <= low) & (point.gradient < 0)) | ((values >= high) & (point.gradient > 0))
    gradient = float(np.abs(np.where(held, 0.0, point.gradient)).max())
    if gradient > 10 * scale:
        raise NotConverged(
            f"the score of the model with pair effects is {gradient:.2g} where the search ended."
        )
    seen = ~np.isnan(both).all(axis=1)
    return PairEffectsEstimate(
        ability=np.where(seen, values[:-2], np.nan).reshape(2, -1),
        sigma=float(np.exp(values[-2])),
        tau=float(np.exp(values[-1])),
        log_likelihood=point.log_likelihood,
        gradient=gradient,
        answers=answers,
        point=point,
    )


def _at(answers: core.PairAnswers, values: Array, nodes: core.PairNodes) -> core.PairPoint:
    return core.evaluate(
        answers, values[:-2].reshape(2, -1), float(np.exp(values[-2])), float(np.exp(values[-1])), nodes
    )
