"""The two-parameter model against published estimates, finite differences, the Rasch model and the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from maskedadv.engines import choose_engine
from maskedadv.likelihoods import guessing as floor
from maskedadv.likelihoods import two_parameter as core
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.two_parameter import fit_two_parameter, maximise
from maskedadv.simulation import Plan
from maskedadv.simulation.answers import draw_answers
from maskedadv.simulation.world import draw_world

LSAT6 = {
    "00000": 3,
    "00001": 6,
    "00010": 2,
    "00011": 11,
    "00100": 1,
    "00101": 1,
    "00110": 3,
    "00111": 4,
    "01000": 1,
    "01001": 8,
    "01011": 16,
    "01101": 3,
    "01110": 2,
    "01111": 15,
    "10000": 10,
    "10001": 29,
    "10010": 14,
    "10011": 81,
    "10100": 3,
    "10101": 28,
    "10110": 15,
    "10111": 80,
    "11000": 16,
    "11001": 56,
    "11010": 21,
    "11011": 173,
    "11100": 11,
    "11101": 61,
    "11110": 28,
    "11111": 298,
}
"""Section 6 of the Law School Admission Test, 1,000 persons by pattern (Bock & Lieberman 1970)."""

DISCRIMINATION = (0.8253715, 0.7229499, 0.8904748, 0.6885502, 0.6574516)
DIFFICULTY = (-3.3597341, -1.3696497, -0.2798983, -1.8659189, -3.1235725)
"""`ltm(LSAT ~ z1, IRT.param = TRUE)` of R's package ltm, log-likelihood −2466.653, as printed in many
tutorials (its largest gradient at the end is 0.024). Bock & Aitkin (1981) are the model's source."""


def lsat6() -> np.ndarray:
    """Persons take the place of items, items that of cells: (5, 1000)."""
    rows = [[float(v) for v in pattern] for pattern, count in LSAT6.items() for _ in range(count)]
    return np.array(rows).T


def test_slopes_by_cell_are_the_published_estimates_of_lsat6():
    answers = lsat6()
    assert answers.shape == (5, 1000)
    data = floor.find_answers(answers, np.zeros(1000))
    counts = np.bincount(data.item_group).astype(float)
    start = core.Parameters(np.ones(5), np.zeros(5), 1.0, 0.0)
    found = maximise(data, counts, start, by_cell=True)
    assert np.isclose(found.posterior.log_likelihood, -2466.653, atol=5e-4)
    np.testing.assert_allclose(np.exp(found.at.log_slope), DISCRIMINATION, atol=1e-3)
    np.testing.assert_allclose(-found.at.ability, DIFFICULTY, atol=3e-3)


@pytest.fixture(scope="module")
def small() -> tuple[floor.Answers, np.ndarray, core.Parameters]:
    rng = np.random.default_rng(4)
    answers = (rng.random((5, 30)) < 0.6).astype(float)
    answers[rng.random(answers.shape) < 0.1] = np.nan
    data = floor.find_answers(answers, np.repeat([0.0, 0.25], 15))
    counts = np.bincount(data.item_group).astype(float)
    return data, counts, core.Parameters(rng.normal(size=5), np.zeros(5), 1.1, 0.4)


GRID = core.make_grid(0.1, 0.15, reach=8.0)


def at(point: core.Parameters, free: np.ndarray, *, by_cell: bool) -> core.Parameters:
    n = len(point.ability)
    if by_cell:
        return replace(point, ability=free[:n], log_slope=free[n:])
    return replace(point, ability=free[:n], sigma=float(np.exp(free[n])), tau=float(np.exp(free[n + 1])))


@pytest.mark.parametrize("by_cell", [False, True])
def test_scores_and_information_are_finite_differences(small, by_cell):
    data, counts, point = small
    ends = point.log_slope + 0.2 if by_cell else np.log([point.sigma, point.tau])
    free = np.concatenate([point.ability, ends])

    def posterior(values: np.ndarray) -> core.Posterior:
        return core.expect(data, GRID, counts, at(point, values, by_cell=by_cell), by_cell=by_cell)

    def score(values: np.ndarray) -> np.ndarray:
        return counts @ posterior(values).scores

    steps = 1e-4 * np.eye(len(free))
    slope = [(posterior(free + s).log_likelihood - posterior(free - s).log_likelihood) / 2e-4 for s in steps]
    np.testing.assert_allclose(score(free), slope, atol=2e-5)
    if not by_cell:
        curvature = -np.array([(score(free + s) - score(free - s)) / 2e-4 for s in steps])
        here = at(point, free, by_cell=False)
        found = core.information(data, GRID, counts, here, posterior(free))
        np.testing.assert_allclose(found, curvature, atol=2e-4)


def test_without_a_spread_of_discriminations_it_is_the_rasch_model():
    plan = Plan(models=3, items_ca=150, items_cs=1)
    rng = np.random.default_rng(2)
    world = draw_world(plan, rng)
    answers = draw_answers(world, rng)[:, :, :150].reshape(6, 150)
    data = floor.find_answers(answers, np.zeros(150))
    counts = np.bincount(data.item_group).astype(float)
    start = core.Parameters(np.zeros(6), np.zeros(6), 1.0, 1e-9)
    found = maximise(data, counts, start, free_tau=False)
    rasch = fit_marginal(answers, choose_engine("auto"), interval="robust", seed=1)
    np.testing.assert_allclose(found.at.ability, rasch.ability, atol=1e-3)
    assert np.isclose(found.at.sigma, rasch.sigma, atol=1e-3)
    assert np.isclose(found.posterior.log_likelihood, rasch.log_likelihood, atol=1e-5)


@pytest.mark.parametrize("options", [None, 4])
def test_the_truth_is_recovered_where_items_differ_in_discrimination(options):
    plan = Plan(
        models=10,
        items_ca=1500,
        items_cs=1,
        discrimination_sd=0.5,
        global_gap=-1.2,
        options=options,
        ability=0.5,
    )
    rng = np.random.default_rng(6)
    world = draw_world(plan, rng)
    answers = draw_answers(world, rng)[::-1, :, :1500].reshape(20, 1500)
    chance = None if options is None else np.full(1500, plan.chance)
    found = fit_two_parameter(answers, chance, interval="robust")
    mean_slope = np.exp(0.5**2 / 2)  # the plan's median is 1, the model's mean
    gaps = (found.ability[:10] - found.ability[10:]) / mean_slope
    sd = np.sqrt(((found.uncertainty[:, :10] - found.uncertainty[:, 10:]).mean(axis=1) ** 2).sum())
    assert abs(gaps.mean() + 1.2) < 3.5 * sd
    assert sd < 0.15
    assert abs(found.noise - 0.5) < 0.15
    assert abs(found.sigma / mean_slope - 1.2) < 0.15
