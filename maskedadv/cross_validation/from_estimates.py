"""Predictions from maximum likelihood: each integrates over what its estimator integrates over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.cross_validation.training import Training, half_answer, mix_new_models
from maskedadv.design.components import find_components
from maskedadv.engines import Engine
from maskedadv.likelihoods import guessing, paired_floor
from maskedadv.likelihoods import pair_effects as core
from maskedadv.likelihoods.integrated import cover
from maskedadv.likelihoods.paired import find_pairs
from maskedadv.maximum_likelihood.estimators import estimate_block
from maskedadv.maximum_likelihood.pair_effects import fit_pair_effects
from maskedadv.settings import Settings

Array = NDArray[np.float64]

_X, _W = np.polynomial.hermite_e.hermegauss(31)
_WEIGHT = _W / _W.sum()


def expected_logistic(mean: Array, sd: Array | float) -> Array:
    """E[logit⁻¹(x)] of x ~ N(mean, sd²), by Gauss–Hermite; to 1e-3 at an sd of 5, far better below 3."""
    at = np.asarray(mean)[..., None] + np.asarray(sd)[..., None] * _X
    return np.asarray(expit(at) @ _WEIGHT)


def joint(t: Training, settings: Settings, engine: Engine) -> Array:
    """Abilities and difficulties as estimated, each item's difficulty a number; shape (C, I).

    Answers of 0 to 1 or right and wrong. What has no finite estimate is given one by `half_answer`.
    """
    left = t.left
    estimate = estimate_block(left, settings, engine, 1)
    parts = find_components(left.answers).finite_parts()
    ability, difficulty = np.full(len(t.cells), np.nan), np.full(len(t.items), np.nan)
    if parts:
        cells, items = parts[0]
        ability[cells], difficulty[items] = estimate.ability[cells], estimate.difficulty[items]
        for _ in range(2):
            _fill(left.answers.T, -ability, difficulty, sign=-1.0)
            _fill(left.answers, difficulty, ability, sign=1.0)
    p = np.full(t.answers.shape, np.nan)
    p[np.ix_(t.cells, t.items)] = expit(ability[:, None] - difficulty)
    return mix_new_models(t, p)


def _fill(answers: Array, others: Array, own: Array, *, sign: float) -> None:
    """Give the unknown of one side (rows) values from the known of the other (columns), in place.

    `sign` −1: rows are items, whose difficulties are what `half_answer` finds, turned round.
    """
    rows, known = np.flatnonzero(np.isnan(own)), np.flatnonzero(~np.isnan(others))
    if not len(rows) or not len(known):
        return
    if sign < 0:  # P(right) = logit⁻¹(−b − (−θ)): an easiness against the negative abilities
        own[rows] = -half_answer(answers[np.ix_(rows, known)], lambda a: expit(a - others[known]))
    else:
        own[rows] = half_answer(answers[np.ix_(rows, known)], lambda a: expit(a - others[known]))


def continuous(t: Training, settings: Settings, engine: Engine) -> Array:
    """The expected probability on the right option, of a logit ~ N(θ − b, noise²); shape (C, I)."""
    estimate = estimate_block(t.left, settings, engine, 1)
    noise = estimate.noise if np.isfinite(estimate.noise) else 0.0
    together = estimate.weak[:, None] >= 0
    p = np.full(t.answers.shape, np.nan)
    own = expected_logistic(estimate.ability[:, None] - estimate.difficulty, noise)
    p[np.ix_(t.cells, t.items)] = np.where(together, own, np.nan)
    return mix_new_models(t, p)


def marginal(t: Training, settings: Settings, engine: Engine) -> Array:
    """Abilities and σ as estimated, every difficulty over its distribution given the answers left; (C, I)."""
    return _integrated(t, settings, engine, with_floor=False)


def floor(t: Training, settings: Settings, engine: Engine) -> Array:
    """As `marginal`, where a right answer may be a guess."""
    return _integrated(t, settings, engine, with_floor=True)


def _integrated(t: Training, settings: Settings, engine: Engine, *, with_floor: bool) -> Array:
    estimate = estimate_block(t.left, settings, engine, 1, with_floor=with_floor)
    if not np.isfinite(estimate.sigma):
        return np.full(t.answers.shape, np.nan)
    chance = _chance(t, with_floor=with_floor)
    ability = t.spread_out(estimate.ability)
    finite = np.flatnonzero(np.isfinite(ability))
    inside = t.answers[finite]
    data = guessing.find_answers(inside, chance)
    count = np.ones(len(data.chance))
    sigma, theta = estimate.sigma, ability[finite]
    nodes = cover(lambda n: guessing.expect(data, n, count, theta, sigma).weights, theta, sigma)
    weights = guessing.expect(data, nodes, count, theta, sigma).weights[data.item_group]

    def curve(a: Array) -> Array:
        """Cells (C', 1) to (C', I), over every item's difficulty."""
        return chance + (1.0 - chance) * (expit(a - sigma * nodes.z) @ weights.T)

    lost = np.setdiff1d(t.cells, finite)
    ability[lost] = half_answer(t.answers[lost], curve)
    p = np.full(t.answers.shape, np.nan)
    p[t.cells] = curve(ability[t.cells, None])
    return mix_new_models(t, p)


def pair_effects(t: Training, settings: Settings, engine: Engine) -> Array:  # noqa: ARG001
    """As `marginal`, with what a model happens to know of an item shared by its two answers; (C, I)."""
    return _pair_effects(t, with_floor=False)


def pair_effects_floor(t: Training, settings: Settings, engine: Engine) -> Array:  # noqa: ARG001
    """As `pair_effects`, where a right answer may be a guess."""
    return _pair_effects(t, with_floor=True)


def _pair_effects(t: Training, *, with_floor: bool) -> Array:
    rows = _two_rows(t)  # (2, J), −1 where a model has no such cell
    padded = np.vstack([t.answers, np.full((1, t.answers.shape[1]), np.nan)])
    local, pivot = padded[rows[0]], padded[rows[1]]
    known = np.flatnonzero(~np.isnan(local).all(axis=1) | ~np.isnan(pivot).all(axis=1))
    found = fit_pair_effects(local[known], pivot[known], _chance(t, with_floor=with_floor))
    own = core.predict(found.answers, found.point)
    alone = core.predict(found.answers, found.point, alone=True)
    p = _placed(t, rows[:, known], own, alone)
    share = np.full(len(p), np.nan)
    share[t.cells] = np.nanmean(t.answers[t.cells], axis=1)
    for c in np.flatnonzero((share == 0.0) | (share == 1.0)):

        def curve(a: Array) -> Array:
            """One cell (1, 1) to (1, I), over difficulties and effects."""
            return core.expected_right(found.answers, found.point, float(a[0, 0]), found.sigma, found.tau)[
                None
            ]

        p[c] = curve(half_answer(t.answers[c : c + 1], curve)[:, None])[0]
    return p


def paired(t: Training, settings: Settings, engine: Engine) -> Array:  # noqa: ARG001
    """Every model by itself, from its own other answer to the item alone; shape (C, I)."""
    return _paired(t, with_floor=False)


def paired_with_floor(t: Training, settings: Settings, engine: Engine) -> Array:  # noqa: ARG001
    """As `paired`, where a right answer may be a guess."""
    return _paired(t, with_floor=True)


def _paired(t: Training, *, with_floor: bool) -> Array:
    rows = _two_rows(t)
    padded = np.vstack([t.answers, np.full((1, t.answers.shape[1]), np.nan)])
    local, pivot = padded[rows[0]], padded[rows[1]]
    chance = _chance(t, with_floor=with_floor)
    pairs = find_pairs(local, pivot)
    patterns = paired_floor.count_patterns(paired_floor.indicators(pairs, local), chance)
    found = paired_floor.solve(patterns, paired_floor.start_values(patterns), tolerance=1e-5, max_steps=60)
    solved = (found.gradient <= 1e-3 * np.maximum(pairs.both.sum(axis=1), 1)) & pairs.both.any(axis=1)
    q = paired_floor.probabilities(found.theta, patterns.chance)[:, patterns.item_floor]  # (J, I, 4)
    q[~solved] = np.nan
    nothing = np.full_like(local, np.nan)
    return _placed(t, rows, given_the_other(q, local, pivot), given_the_other(q, nothing, nothing))


def _placed(t: Training, rows: NDArray[np.intp], own: Array, alone: Array) -> Array:
    """Predictions by model and language at their cells, (C, I); new models as those known, answers aside.

    Parameters
    ----------
    rows : shape (2, J), cell of every model and language, −1 for none
    own, alone : shape (2, J, I), predictions with and without the model's own answers
    """
    p, bare = np.full(t.answers.shape, np.nan), np.full(t.answers.shape, np.nan)
    for k in (0, 1):
        there = rows[k] >= 0
        p[rows[k, there]], bare[rows[k, there]] = own[k, there], alone[k, there]
    new = np.setdiff1d(np.arange(len(p)), t.cells)
    bare[new] = np.nan
    p[new] = mix_new_models(t, bare)[new]
    return p


def given_the_other(q: Array, local: Array, pivot: Array) -> Array:
    """P(right) in either language given the model's other answer where it is known, shape (2, J, I).

    Parameters
    ----------
    q : shape (J, I, 4), probabilities of both right, local alone, pivot alone, none
    local, pivot : shape (J, I), answers, NaN where not known
    """
    out = []
    for other, right in ((pivot, (0, 1, 2, 3)), (local, (0, 2, 1, 3))):
        both, alone, theirs, none = (q[..., k] for k in right)
        out.append(
            np.select(
                [np.isnan(other), other > 0.5],
                [both + alone, both / (both + theirs)],
                alone / (alone + none),
            )
        )
    return np.stack(out)


def _two_rows(t: Training) -> NDArray[np.intp]:
    """Local and pivot cell of every model of the block, −1 where there is none, shape (2, J)."""
    models = np.unique(t.block.model)
    return t.block.cells(t.block.locale, models).T


def _chance(t: Training, *, with_floor: bool) -> Array:
    if not with_floor:
        return np.zeros(t.answers.shape[1])
    assert t.block.chance is not None
    return t.block.chance
