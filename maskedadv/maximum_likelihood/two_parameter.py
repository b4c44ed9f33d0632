"""Marginal maximum likelihood of one block whose items differ in discrimination, with or without a floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotConverged
from maskedadv.likelihoods import guessing as floor
from maskedadv.likelihoods import two_parameter as core
from maskedadv.likelihoods.integrated import needed_step
from maskedadv.likelihoods.moments import logits_above_chance
from maskedadv.maximum_likelihood.block_estimate import (
    BlockEstimate,
    alike,
    beyond,
    clustered,
    covariance_factor,
    typical_cells,
)
from maskedadv.maximum_likelihood.guessing import finite_cells
from maskedadv.maximum_likelihood.marginal_result import nothing_finite

Array = NDArray[np.float64]

LEAST_CELLS = 16
"""From eight models on the spread of discriminations is estimated. With fewer, what models have in common
passes for it: of the bundled outcomes (six relatives), it grows without a bound."""

GIVEN_TAU = 0.5
"""Spread of the log discriminations where it is not estimated, as tests of knowledge have it."""

NO_GAIN = 1e-5
"""Gain of the log likelihood at which the climb ends: 0.3% of a standard error."""

BOUNDS = ((1e-2, 50.0), (2e-2, 1.0))
"""Of σ and τ."""


@dataclass(frozen=True)
class Optimum:
    """The maximum of a two-parameter likelihood.

    Attributes
    ----------
    at : the point
    posterior, grid : of the items there
    gradient : largest absolute score of what is free
    gain : what a Newton step from there would gain
    """

    at: core.Parameters
    posterior: core.Posterior
    grid: core.Grid
    gradient: float
    gain: float


def maximise(
    answers: floor.Answers,
    counts: Array,
    start: core.Parameters,
    *,
    by_cell: bool = False,
    free_tau: bool = True,
    scale: float = 1e-7,
) -> Optimum:
    """Climb from a start; the grid is laid anew where the optimum asks for a finer one.

    Parameters
    ----------
    counts : shape (I',), items that each distinct one stands for
    by_cell : θ and log α are free, all items have one discrimination, σ = 1; else θ and σ
    free_tau : and τ, too
    scale : the score that counts as zero, by item
    """
    at = start
    for _ in range(4):
        grid = _grid(at, by_cell=by_cell)
        problem = _Problem(answers, grid, counts, by_cell, free_tau, scale * float(counts.sum()))
        found = _climb(problem, at)
        at = found.at
        if len(_grid(at, by_cell=by_cell).z) <= 1.1 * len(grid.z):
            break
    return found


@dataclass(frozen=True)
class _Problem:
    """What is climbed, and which parameters are free."""

    answers: floor.Answers
    grid: core.Grid
    counts: Array
    by_cell: bool
    free_tau: bool
    scale: float

    def at(self, point: core.Parameters) -> core.Posterior:
        return core.expect(self.answers, self.grid, self.counts, point, by_cell=self.by_cell)

    def curvature(self, point: core.Parameters, now: core.Posterior) -> Array:
        """Observed information; `by_cell` the products of the items' scores, which have its expectation."""
        if self.by_cell:
            return np.asarray((now.scores * self.counts[:, None]).T @ now.scores)
        return core.information(self.answers, self.grid, self.counts, point, now)

    def free(self, point: core.Parameters, gradient: Array) -> NDArray[np.bool_]:
        """Parameters that are free and not held at a bound."""
        out = np.ones(len(gradient), dtype=bool)
        if not self.by_cell:
            for k, (value, (low, high)) in enumerate(zip((point.sigma, point.tau), BOUNDS, strict=True), -2):
                out[k] = not ((value <= low and gradient[k] <= 0) or (value >= high and gradient[k] >= 0))
            out[-1] &= self.free_tau
        return out


def _climb(problem: _Problem, at: core.Parameters) -> Optimum:
    """Newton steps with step halving; the curvature is renewed only when progress is slow.

    The scores of σ and τ are those of the integral, not of its sum over the grid: at a gain beyond all
    uncertainty the two may disagree, and the climb ends.
    """
    now = problem.at(at)
    matrix, fresh, previous, largest, gain = problem.curvature(at, now), True, np.inf, np.inf, np.inf
    for _ in range(200):
        gradient = problem.counts @ now.scores
        free = problem.free(at, gradient)
        largest = float(np.abs(gradient[free]).max())
        if largest <= problem.scale:
            gain = 0.0
            break
        if largest > 0.3 * previous and not fresh:
            matrix, fresh = problem.curvature(at, now), True
        step, size = np.zeros_like(gradient), 1.0
        step[free] = _ascend(matrix[np.ix_(free, free)], gradient[free])
        gain = float(gradient @ step)
        if not problem.by_cell and gain < NO_GAIN:
            break
        step *= min(1.0, 2.0 / float(np.abs(step).max()))
        while size > 1e-6:
            trial_at = _moved(at, size * step, by_cell=problem.by_cell)
            trial = problem.at(trial_at)
            if trial.log_likelihood >= now.log_likelihood - 1e-12 * abs(now.log_likelihood):
                break
            size /= 2
        else:
            if fresh:
                gain = 0.0
                break
            matrix, fresh = problem.curvature(at, now), True
            continue
        done = fresh and trial.log_likelihood - now.log_likelihood < NO_GAIN and not problem.by_cell
        at, now, previous, fresh = trial_at, trial, largest, False
        if done:
            gain = 0.0
            break
    return Optimum(at, now, problem.grid, largest, gain)


def _ascend(matrix: Array, gradient: Array) -> Array:
    """Newton direction along the positive part of the curvature."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    least = max(1e-6 * float(np.abs(values).max()), 1e-8)
    return np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), least)))


def _moved(at: core.Parameters, step: Array, *, by_cell: bool) -> core.Parameters:
    n = len(at.ability)
    ability = at.ability + step[:n]
    if by_cell:
        return core.Parameters(ability, at.log_slope + step[n:], at.sigma, at.tau)
    sigma, tau = (
        float(np.clip(value * np.exp(by), *bounds)) if by else value
        for value, by, bounds in zip((at.sigma, at.tau), step[n:], BOUNDS, strict=True)
    )
    return core.Parameters(ability, at.log_slope, sigma, tau)


def _grid(at: core.Parameters, *, by_cell: bool) -> core.Grid:
    """Fine enough for the narrowest posterior."""
    sigma = at.sigma * float(np.exp(at.log_slope.max()))
    if by_cell:
        return core.make_grid(min(needed_step(at.ability, sigma), 0.4), None)
    spread = float(((at.ability - at.ability.mean()) ** 2).sum()) / 4
    u_step = min(0.65 / float(np.sqrt(1.0 + at.tau**2 * (spread + at.sigma**2))), 0.6)
    return core.make_grid(needed_step(at.ability, sigma * float(np.exp(at.tau))), u_step)


def fit_two_parameter(answers: Array, chance: Array | None = None, *, interval: str) -> BlockEstimate:
    """Abilities where items differ in difficulty, b ~ N(0, σ), and in discrimination, log a ~ N(−τ²/2, τ).

    σ is estimated, and from eight models on τ; else it is 0.5.

    Parameters
    ----------
    answers : shape (C, I), right or wrong, NaN where not observed
    chance : shape (I,), floor of every item; None for none
    interval : `robust` or `information`

    Returns
    -------
    BlockEstimate
        Abilities are logits at the mean discrimination, 1. `noise` is τ.

    Raises
    ------
    NotConverged
        No maximum was found.
    """
    none = np.zeros(answers.shape[1]) if chance is None else chance
    finite, part, weak = finite_cells(answers, none)
    if not len(finite):
        return nothing_finite(answers, part, weak)
    inside = answers[finite]
    data = floor.find_answers(inside, none)
    counts = np.bincount(data.item_group).astype(np.float64)
    ability, _ = logits_above_chance(inside, none)
    free_tau = len(finite) >= LEAST_CELLS
    start = core.Parameters(1.3 * ability, np.zeros(len(finite)), 1.5, 0.3 if free_tau else GIVEN_TAU)
    optimum = maximise(data, counts, start, free_tau=free_tau)
    if optimum.gain > NO_GAIN:
        raise NotConverged(f"the two-parameter model stopped at a score of {optimum.gradient:.2g}.")
    rows = _rows(data, counts, optimum, interval, free_tau=free_tau)
    difficulty = optimum.at.sigma * (optimum.posterior.weights @ optimum.grid.z)
    found = beyond(answers, np.zeros(len(answers), dtype=np.intp))
    found[part == -2] = np.nan
    found[finite] = optimum.at.ability
    uncertainty, sd = np.zeros((len(rows), len(answers))), np.full(len(answers), np.nan)
    uncertainty[:, finite] = rows[:, : len(finite)]
    sd[finite] = np.sqrt((rows[:, : len(finite)] ** 2).sum(axis=0))
    informative = ~alike(answers)
    return BlockEstimate(
        ability=found,
        ability_sd=sd,
        part=part,
        weak=weak,
        difficulty=difficulty[data.item_group],
        difficulty_sd=np.full(answers.shape[1], np.nan),
        informative=informative,
        uncertainty=uncertainty,
        sigma=optimum.at.sigma,
        sigma_sd=float(np.sqrt((rows[:, len(finite)] ** 2).sum()) * optimum.at.sigma),
        log_likelihood=optimum.posterior.log_likelihood,
        gradient=optimum.gradient,
        converged=True,
        typical_cells=typical_cells(answers, informative),
        estimator="2pl",
        noise=optimum.at.tau,
    )


def _rows(data: floor.Answers, counts: Array, optimum: Optimum, interval: str, *, free_tau: bool) -> Array:
    """Uncertainty of (θ, log σ, log τ); what is given or at a bound is taken as known."""
    curvature = core.information(data, optimum.grid, counts, optimum.at, optimum.posterior)
    free = np.ones(len(curvature), dtype=bool)
    for k, (value, (low, high)) in enumerate(
        zip((optimum.at.sigma, optimum.at.tau), BOUNDS, strict=True), -2
    ):
        free[k] = 1.2 * low < value < high
    free[-1] &= free_tau
    inverse = np.zeros_like(curvature)
    inverse[np.ix_(free, free)] = np.linalg.pinv(curvature[np.ix_(free, free)], hermitian=True)
    if interval == "information":
        return covariance_factor(inverse)
    scores = optimum.posterior.scores[data.item_group]
    return clustered(scores @ inverse, len(scores))
