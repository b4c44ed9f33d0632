"""Stan's optimum, the polished one, and what happens where Stan finds none."""

from __future__ import annotations

import numpy as np
import pytest

import maskedadv
from maskedadv.design.collapse import collapse
from maskedadv.engines import embedded
from maskedadv.engines.embedded import Embedded
from maskedadv.engines.protocol import Optimum
from maskedadv.errors import NotConverged, OptimaDiffer
from maskedadv.likelihoods import rasch
from maskedadv.maximum_likelihood.guessing import fit_floor
from maskedadv.maximum_likelihood.joint import fit_joint
from maskedadv.maximum_likelihood.joint_optimum import _distance, stan_data, sum_to_zero
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.stan_optimum import APART, contrast_data
from tests import simulate

PAIRS = np.stack([np.arange(3), 3 + np.arange(3)], axis=1)


def _answers(seed: int = 0) -> np.ndarray:
    answers = simulate.block(np.random.default_rng(seed), -0.8, 3, 60)
    answers[0, :7] = np.nan
    return answers


def _fit(program: str, engine: object, answers: np.ndarray):  # type: ignore[no-untyped-def]
    common = {"interval": "robust", "seed": 1, "pairs": PAIRS}
    if program == "ml_guessing":
        return fit_floor(answers, np.full(answers.shape[1], 0.2), engine, **common)
    return {"ml_joint": fit_joint, "ml_marginal": fit_marginal}[program](answers, engine, **common)


class _Shifted(Embedded):
    """An engine whose optimum is a little off: its own gap, or its gradient at our optimum, says so."""

    def log_density(self, program, data, values):  # type: ignore[no-untyped-def]
        density, gradient = super().log_density(program, data, values)
        return density, gradient + np.eye(len(gradient))[0]

    def optimize(self, program, data, inits, *, seed):  # type: ignore[no-untyped-def]
        stop = super().optimize(program, data, inits, seed=seed)
        return Optimum(stop.variables | {"gap": stop.variables["gap"] + 10 * APART}, stop.log_density)


class _Failing(Embedded):
    """An engine whose optimiser fails in some programs."""

    fails: tuple[str, ...] = ("ml_joint", "ml_marginal", "ml_guessing")

    def optimize(self, program, data, inits, *, seed):  # type: ignore[no-untyped-def]
        if program in self.fails:
            raise NotConverged("line search failed")
        return super().optimize(program, data, inits, seed=seed)


PROGRAMS = ("ml_joint", "ml_marginal", "ml_guessing")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_own_gaps_are_the_estimates(program: str):
    for seed in range(4):
        found = _fit(program, Embedded(), _answers(seed))
        assert found.apart < APART / 5
        assert not found.trouble


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_difference_between_the_optima_is_an_error(program: str):
    with pytest.raises(OptimaDiffer, match=rf"'{program}' differs by 0\.[01]"):
        _fit(program, _Shifted(), _answers())


@pytest.mark.parametrize("program", PROGRAMS)
def test_where_stan_fails_newton_gives_the_same_estimate(program: str):
    one, other = _fit(program, Embedded(), _answers()), _fit(program, _Failing(), _answers())
    assert other.converged
    assert other.trouble == "line search failed"
    np.testing.assert_allclose(other.ability, one.ability, atol=1e-7)
    np.testing.assert_allclose(other.ability_sd, one.ability_sd, rtol=1e-6)


def test_many_models_are_newtons_and_the_programs_gradient_tells(monkeypatch: pytest.MonkeyPatch):
    """Beyond some size no optimiser is asked: the same estimates, and another program would be noticed."""
    one = _fit("ml_joint", Embedded(), _answers())
    monkeypatch.setattr("maskedadv.maximum_likelihood.joint_optimum.MANY_CELLS", 5)
    other = _fit("ml_joint", _Failing(), _answers())
    assert not other.trouble
    assert other.apart < 1e-9
    np.testing.assert_allclose(other.ability, one.ability, atol=1e-9)
    with pytest.raises(OptimaDiffer):
        _fit("ml_joint", _Shifted(), _answers())


def test_distances_are_those_to_the_programs_maximum():
    """Away from the maximum the program's gradient tells how far away, up to the step's own curvature."""
    answers = _answers()
    groups = collapse(answers)
    trials, right = groups.trials, groups.successes
    pairs = groups.cell_group[PAIRS]
    best = rasch.solve(trials, right.sum(axis=1), right.sum(axis=0), *(np.zeros(n) for n in trials.shape))
    best = rasch.JointSolution(best.ability + 0.7, best.difficulty + 0.7, 0.0)  # any anchor will do
    data = stan_data(trials, right) | contrast_data(pairs)
    at = pairs[1, 0]
    moved = best.ability + 0.01 * np.eye(len(best.ability))[at]
    found = _distance(Embedded(), data, trials, rasch.JointSolution(moved, best.difficulty, 0.0), pairs)
    assert found == pytest.approx(0.01 / max(1.0, abs(moved[at] - moved[pairs[1, 1]])), rel=0.02)
    assert _distance(Embedded(), data, trials, best, pairs) < 1e-9


def test_sum_to_zero_is_stans():
    """Its coordinates as the engine makes them of vectors that sum to zero."""
    model = embedded._model("ml_joint", stan_data(*np.ones((2, 2, 6))) | contrast_data(PAIRS[:0]))
    vector = np.random.default_rng(1).standard_normal(6)
    vector -= vector.mean()
    free = model.unconstrain({"ability": [0.0, 0.0], "difficulty": vector.tolist()})[2:]
    np.testing.assert_allclose(sum_to_zero(free), vector, atol=1e-12)


def test_nearly_ordered_answers_with_two_maxima_are_fitted():
    """σ has a maximum at 4.4 and the likelihood rises again towards endless σ: climbs may end at either."""
    answers = np.ones((6, 8))
    answers[:, 4] = [0, 0, 1, 0, 1, 1]
    answers[0, [1, 2]] = answers[1, [1, 2]] = answers[4, [1, 2]] = answers[5, 1] = answers[2, 2] = 0
    found = _fit("ml_marginal", Embedded(), answers)
    assert found.converged


def test_a_failing_variant_or_block_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch):
    """The plain result survives a variant that fails altogether, and a warning names it."""
    table = simulate.table(3, (30, 30), seed=1)
    whole = maskedadv.fit(table, min_accuracy=0.0, guessing=0.2, estimator="marginal")

    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr("maskedadv.maximum_likelihood.estimators.fit_floor", fails)
    left = maskedadv.fit(table, min_accuracy=0.0, guessing=0.2, estimator="marginal")
    np.testing.assert_array_equal(
        left.gaps(variant="plain")["estimate"], whole.gaps(variant="plain")["estimate"]
    )
    assert left.gaps(variant="floor")["estimate"].isna().all()
    assert any("zh CA (floor), nothing is estimated there: no convergence" in w for w in left.warnings)


def test_a_failing_optimiser_is_told_and_costs_nothing(monkeypatch: pytest.MonkeyPatch):
    table = simulate.table(3, (30, 30), seed=1)
    whole = maskedadv.fit(table, min_accuracy=0.0, estimator="marginal", variants="none")
    monkeypatch.setattr(embedded, "Embedded", _Failing)
    left = maskedadv.fit(table, min_accuracy=0.0, estimator="marginal", variants="none", engine="embedded")
    np.testing.assert_allclose(left.gaps()["estimate"], whole.gaps()["estimate"], atol=1e-7)
    assert any("failed in zh CA, Newton's method from moment estimates" in w for w in left.warnings)
