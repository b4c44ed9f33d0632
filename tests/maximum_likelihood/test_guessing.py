"""The guessing floor: against brute force, the plain fit and known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from maskedadv.engines.embedded import Embedded
from maskedadv.likelihoods import guessing as floor
from maskedadv.likelihoods import integrated as marginal
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.maximum_likelihood.guessing import cells_at_chance, fit_floor, stan_data
from maskedadv.maximum_likelihood.integrated_optimum import Start
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.stan_optimum import contrast_data
from tests.simulate import block

ENGINE = Embedded()
Array = np.ndarray


def with_floor(
    rng: np.random.Generator,
    ability: Array,
    gap: float,
    items: int,
    chance: Array,
    shift: float,
    sd: float = 1.0,
) -> Array:
    """Answers (2J, items), local cells first, under P = c + (1 − c)·logit⁻¹(θ − b), b ~ N(shift, sd)."""
    b = shift + sd * rng.standard_normal(items)
    eta = np.stack([ability + gap, ability])[:, :, None] - b
    p = chance + (1 - chance) * expit(eta)
    return (rng.random(p.shape) < p).astype(float).reshape(2 * len(ability), items)


def gaps(found: BlockEstimate) -> tuple[Array, Array]:
    models = len(found.ability) // 2
    rows = found.uncertainty[:, :models] - found.uncertainty[:, models:]
    return found.ability[:models] - found.ability[models:], np.sqrt((rows**2).sum(axis=0))


def brute_force(answers: Array, chance: Array, ability: Array, sigma: float) -> float:
    """Log likelihood, item by item, as a plain sum over 2,801 points of z from -14 to 14."""
    z = np.linspace(-14.0, 14.0, 2801)
    eta = ability[:, None, None] - sigma * z
    p = chance[:, None] + (1 - chance[:, None]) * expit(eta)
    y = answers[:, :, None]
    density = np.where(np.isnan(y), 1.0, np.where(y == 1, p, 1 - p)).prod(axis=0)
    return float(np.log(density @ np.exp(-(z**2) / 2) * 0.01 / np.sqrt(2 * np.pi)).sum())


@given(seed=st.integers(0, 10_000), holes=st.sampled_from([0.0, 0.3]))
@settings(max_examples=8, deadline=None)
def test_likelihood_and_optimum_equal_brute_force(seed: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.choice([0.2, 0.25, 1 / 3], 25)
    answers = with_floor(rng, np.array([1.0, 2.0]), -0.7, 25, chance, 0.0)
    answers[rng.random(answers.shape) < holes] = np.nan
    empty = np.isnan(answers).all(axis=0)
    answers, chance = answers[:, ~empty], chance[~empty]
    if cells_at_chance(answers, chance).any() or (np.nanmean(answers, axis=1) == 1).any():
        return
    found = fit_floor(answers, chance, ENGINE, interval="information", seed=1)
    if found.bound or not np.isfinite(found.ability).all():
        return
    assert found.log_likelihood == pytest.approx(
        brute_force(answers, chance, found.ability, found.sigma), abs=1e-8
    )
    if found.sigma > 4:  # so flat that a general-purpose optimiser with numeric gradients stops early
        return
    start = np.append(found.ability, np.log(found.sigma)) + 0.1
    best = minimize(
        lambda q: -brute_force(answers, chance, q[:-1], np.exp(q[-1])),
        start,
        method="BFGS",
        options={"gtol": 1e-6},
    )
    np.testing.assert_allclose(best.x[:-1], found.ability, atol=1e-4)
    assert np.exp(best.x[-1]) == pytest.approx(found.sigma, abs=2e-4)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_a_floor_of_zero_is_the_plain_fit(holes: float) -> None:
    rng = np.random.default_rng(1)
    answers = block(rng, -0.8, 3, 120)
    answers[rng.random(answers.shape) < holes] = np.nan
    for interval in ("robust", "information"):
        zero = fit_floor(answers, np.zeros(120), ENGINE, interval=interval, seed=1)
        plain = fit_marginal(answers, ENGINE, interval=interval, seed=1)
        np.testing.assert_allclose(zero.ability, plain.ability, atol=1e-8)
        np.testing.assert_allclose(gaps(zero)[1], gaps(plain)[1], atol=1e-8)
        assert zero.sigma == pytest.approx(plain.sigma, abs=1e-8)
        assert zero.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-8)


def test_the_stan_program_is_the_same_likelihood() -> None:
    rng = np.random.default_rng(2)
    chance = rng.choice([0.0, 0.25, 0.5], 30)
    answers = with_floor(rng, np.array([0.5, 1.5]), -0.7, 30, chance, 0.0)
    answers[0, 3] = np.nan
    data = floor.find_answers(answers, chance)
    counts = np.bincount(data.item_group).astype(float)
    nodes = marginal.make_nodes(-8.5, 8.5, 0.1)
    ability, sigma = np.array([0.1, 0.4, 0.9, 1.3]), 1.2
    at = {"ability": ability, "log_sigma": float(np.log(sigma))}
    rough = Start(np.zeros(4), np.ones(4), 1.0, 1.0).data
    whole = stan_data(data, nodes, counts) | rough | contrast_data(np.array([[0, 2]]))
    density, gradient = ENGINE.log_density("ml_guessing", whole, at)
    point = floor.expect(data, nodes, counts, ability, sigma)
    assert density == pytest.approx(point.log_likelihood, abs=1e-9)
    np.testing.assert_allclose(gradient, floor.score(point, counts), atol=1e-7)


def test_information_is_the_derivative_of_the_score() -> None:
    rng = np.random.default_rng(3)
    chance = rng.choice([0.2, 0.25, 1 / 3], 40)
    answers = with_floor(rng, np.array([0.5, 1.5, 2.0]), -0.7, 40, chance, 0.0)
    answers[rng.random(answers.shape) < 0.2] = np.nan
    data = floor.find_answers(answers, chance)
    counts = np.bincount(data.item_group).astype(float)
    nodes = marginal.make_nodes(-8.5, 8.5, 0.1)
    q = np.append(rng.normal(size=6), 0.1)

    def score(at: Array) -> Array:
        return floor.score(floor.expect(data, nodes, counts, at[:-1], np.exp(at[-1])), counts)

    step = 1e-5
    numeric = -np.array([(score(q + step * e) - score(q - step * e)) / (2 * step) for e in np.eye(7)])
    point = floor.expect(data, nodes, counts, q[:-1], np.exp(q[-1]))
    exact = floor.information(data, nodes, counts, q[:-1], np.exp(q[-1]), point)
    np.testing.assert_allclose(exact, numeric, atol=1e-6)


def test_cells_at_chance_have_no_ability() -> None:
    rng = np.random.default_rng(4)
    answers = with_floor(rng, np.array([1.0, 1.5, 2.0]), -0.5, 400, np.full(400, 0.25), 0.0)
    answers[0] = rng.permutation(400) < 108
    lost = cells_at_chance(answers, np.full(400, 0.25))
    assert lost.tolist() == [True] + [False] * 5
    assert not cells_at_chance(answers, np.zeros(400)).any()
    found = fit_floor(answers, np.full(400, 0.25), ENGINE, interval="robust", seed=1)
    assert np.isnan(found.ability[0])
    assert found.part[0] == -2
    assert np.isfinite(found.ability[1:]).all()
    without = fit_floor(answers[1:], np.full(400, 0.25), ENGINE, interval="robust", seed=1)
    np.testing.assert_allclose(found.ability[1:], without.ability, atol=1e-7)


def study(chance: Array, models: int, sets: int, seed: int) -> tuple[float, float, float]:
    """Mean plain and floor knowledge gap (true 0, CS harder by 1 logit), share of intervals covering."""
    rng = np.random.default_rng(seed)
    items = len(chance)
    plain, corrected, hits = [], [], []
    for _ in range(sets):
        ability = 1.5 + 0.7 * rng.standard_normal(models)
        ca, cs = (with_floor(rng, ability, -2.0, items, chance, shift) for shift in (0.0, 1.0))
        fits = [fit_marginal(a, ENGINE, interval="information", seed=1) for a in (ca, cs)]
        plain.append(np.nanmean(gaps(fits[1])[0] - gaps(fits[0])[0]))
        (g, g_sd), (h, h_sd) = (
            gaps(fit_floor(a, chance, ENGINE, interval="robust", seed=1)) for a in (ca, cs)
        )
        knowledge, sd = h - g, np.hypot(g_sd, h_sd)
        known = np.isfinite(knowledge)
        corrected.append(knowledge[known].mean())
        hits.append(np.mean(np.abs(knowledge[known]) < 1.959964 * sd[known]))
    return float(np.mean(plain)), float(np.mean(corrected)), float(np.mean(hits))


def test_the_floor_takes_out_what_it_put_in() -> None:
    plain, corrected, covered = study(np.full(500, 0.25), 30, 8, seed=5)
    assert 0.18 < plain < 0.32, "the artefact is there"
    assert abs(corrected) < 0.05
    assert 0.9 < covered < 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "values", "models"),
    [
        ("0.2", [0.2], 30),
        ("0.25", [0.25], 30),
        ("0.33", [1 / 3], 30),
        ("mixed", [0.2, 0.25, 1 / 3, 0.5], 20),
        ("0.25", [0.25], 80),
    ],
)
def test_floor_bias_and_coverage(name: str, values: list[float], models: int) -> None:
    rng = np.random.default_rng(11)
    plain, corrected, covered = study(rng.choice(values, 600), models, 60, seed=12)
    print(
        f"\nfloor {name}, {models} models: plain {plain:+.3f}, floor {corrected:+.3f}, covered {covered:.3f}"
    )
    assert abs(corrected) < 0.03
    assert 0.93 < covered < 0.97
    assert plain > 0.1
