"""The program of pairs: density by quadrature, posterior by an independent sampler, copies of a model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from maskedadv.engines import Sampler
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.pairs import count_pairs, nodes, pairs_only, pattern_probabilities, replicate_pairs
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Plan, Task, sample_locale
from tests import simulate
from tests.monte_carlo import assert_moments, assert_same
from tests.sampling.locales import layout_of, task
from tests.sampling.test_programs import PRIORS, _differences, _log_prior, _map


def _paired(layout: Layout, chance: tuple[np.ndarray, np.ndarray] | None = None, **changes: object) -> Task:
    return task(pairs_only(layout), paired=True, chance=chance, **changes)


def _of_one_pair(y: np.ndarray, theta: np.ndarray, c: float, sigma: float) -> float:
    """Probability of a model's two answers to an item, its effect integrated out by adaptive quadrature."""

    def integrand(e: float) -> float:
        p = c + (1 - c) * expit(theta - e)
        return float(np.prod(np.where(y == 1, p, 1 - p)) * stats.norm.pdf(e, 0, sigma))

    return float(integrate.quad(integrand, -12 * sigma, 12 * sigma, epsabs=0, epsrel=1e-10, limit=300)[0])


@pytest.mark.parametrize("floors", [False, True])
def test_the_program_integrates_every_pair(floors: bool):
    """Answers in one language only are no pairs; items may differ in their floors."""
    layout = layout_of(simulate.table(3, (7, 5), missing=0.2, seed=5), "zh")
    rng = np.random.default_rng(1)
    first, second = (rng.choice([0.0, 0.25, 0.5], a.shape[1]) for a in layout.answers)
    chance = (first, second) if floors else None

    def density(v: dict, plan: Plan) -> float:
        ability = _map(v, plan)[0]
        total = _log_prior(v, plan, layout, PRIORS, explicit=False)
        for s, y in enumerate(layout.answers):
            n, sigma = len(y) // 2, float(np.exp(v["log_sigma_b"][s]))
            for j in range(n):
                for i in range(y.shape[1]):
                    both = y[[j, n + j], i]
                    if not np.isnan(both).any():
                        c = chance[s][i] if chance else 0.0
                        total += np.log(_of_one_pair(both, ability[j, 2 * s : 2 * s + 2], c, sigma))
        return total

    found = _differences(_paired(layout, chance, priors=PRIORS), density, 3)
    np.testing.assert_allclose(found, found[0], atol=1e-7)


def test_nodes_are_fine_enough():
    _, weight = nodes()
    assert weight.sum() == pytest.approx(1.0, abs=1e-14)
    for sigma, off in ((0.5, 1e-13), (3.0, 1e-12), (8.0, 1e-6)):
        theta = np.array([[1.3, 0.2]])
        exact = _of_one_pair(np.array([1, 0]), theta[0], 0.0, sigma)
        assert pattern_probabilities(theta, sigma, np.zeros(1))[0, 0, 1] == pytest.approx(exact, abs=off)


def test_replicated_totals_have_the_probabilities_of_the_patterns():
    rng = np.random.default_rng(2)
    answers = (rng.random((4, 9)) < 0.5).astype(float)
    answers[0, :3] = np.nan
    layout = Layout("zh", "en", np.arange(2), (np.arange(9), np.arange(0)), (answers, np.empty((4, 0))), ())
    answers = pairs_only(layout).answers[0]
    counts = count_pairs(answers, np.repeat([0.0, 0.25, 0.5], 3))
    theta = np.array([[0.4, 1.1], [-0.6, 0.3]])
    p = pattern_probabilities(theta, 1.4, counts.chance)[counts.floor_of_item]  # (I, J, 4)
    local, pivot = (p[..., 0] + p[..., k] for k in (1, 2))
    seen = ~np.isnan(answers[:2])
    mean = np.concatenate([(seen * local.T).sum(axis=1), (seen * pivot.T).sum(axis=1)])
    cells = np.array([replicate_pairs(answers, counts, theta, 1.4, rng)[0] for _ in range(5000)])
    variance = np.concatenate([(seen * (q * (1 - q)).T).sum(axis=1) for q in (local, pivot)])
    assert_moments(cells, mean=mean, sd=np.sqrt(variance), independent=True)


def _one_model(seed: int, items: int, gap: float, copies: int) -> Layout:
    """Copies of one model: the same answers under other names."""
    rng = np.random.default_rng(seed)
    answers = []
    for own in (gap, gap + 0.5):
        b = rng.standard_normal(items)
        p = expit(np.array([1.0 + own, 1.0])[:, None] - b)
        y = (rng.random(p.shape) < p).astype(float)
        answers.append(np.repeat(y, copies, axis=0))
    names = np.array([f"m{k}" for k in range(copies)], dtype=object)
    item = np.arange(items).astype(object)
    rows = np.arange(2 * copies)
    return Layout("zh", "en", names, (item, item), (answers[0], answers[1]), (rows, rows))


def test_six_copies_of_a_model_say_what_it_says_alone():
    """The plain posterior makes −2 of six copies a gap of over −3; pairs do not."""
    sampler = Sampler(warmup=400, draws=600)
    mean = {}
    for copies in (1, 6):
        tree = sample_locale(_paired(_one_model(3, 300, -2.0, copies), sampler=sampler))
        mean[copies] = tree["posterior"]["contrast"].mean(("chain", "draw")).values[0]
    # The prior draws one model's gaps to 0 a little more than six models'.
    np.testing.assert_allclose(mean[6], mean[1], atol=0.1)


def _prior(rng: np.random.Generator, draws: int, models: int, p: Priors) -> tuple[np.ndarray, np.ndarray]:
    """Abilities (draws, J, 4) and sds of effects (draws, 2) from the priors, written from docs' formulas."""
    partial = np.empty((draws, 4, 4))
    for i in range(1, 4):
        for j in range(i):
            shape = p.correlation + (2 - j) / 2
            partial[:, i, j] = 2 * rng.beta(shape, shape, draws) - 1
    root = np.zeros((draws, 4, 4))
    root[:, 0, 0] = 1.0
    for i in range(1, 4):
        left = np.ones(draws)
        for j in range(i):
            root[:, i, j] = partial[:, i, j] * np.sqrt(left)
            left = left - root[:, i, j] ** 2
        root[:, i, i] = np.sqrt(left)
    level, gap = p.level * rng.standard_normal((draws, 2)), p.gap * rng.standard_normal((draws, 2))
    mean = np.stack([level + gap / 2, level - gap / 2], axis=2).reshape(draws, 4)
    spread = p.spread * np.exp(p.spread_log_sd * rng.standard_normal((draws, 4)))
    departure = np.einsum("dab,djb->dja", root, rng.standard_normal((draws, models, 4)))
    sigma = p.difficulty * np.exp(p.difficulty_log_sd * rng.standard_normal((draws, 2)))
    return mean[:, None] + spread[:, None] * departure, sigma


def _log_probability(layout: Layout, ability: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Of all pairs at every draw's abilities (draws, J, 4) and sds (draws, 2), by Gauss-Hermite nodes."""
    x, w = np.polynomial.hermite_e.hermegauss(40)
    total = np.zeros(len(ability))
    for s, y in enumerate(layout.answers):
        n = len(y) // 2
        for j in range(n):
            eta = ability[:, j, 2 * s : 2 * s + 2, None] - sigma[:, s, None, None] * x
            for pair in y[[j, n + j]][:, ~np.isnan(y[j])].T:
                one, other = (expit(eta[:, k] if pair[k] else -eta[:, k]) for k in (0, 1))
                total += np.log((one * other) @ (w / w.sum()))
    return total


def test_the_posterior_is_that_of_weighted_draws_from_the_prior():
    """No Markov chain, no Stan, other nodes: prior draws taken by the probability of every pair."""
    layout = layout_of(simulate.table(2, (4, 3), seed=5), "zh")
    own = _paired(layout, sampler=Sampler(warmup=400, draws=1500, adapt_delta=0.95))
    posterior = sample_locale(own)["posterior"].to_dataset()
    rng = np.random.default_rng(0)
    parts = [_prior(rng, 50_000, 2, Priors()) for _ in range(6)]
    log_weight = np.concatenate([_log_probability(own.layout, *part) for part in parts])
    ability, sigma = (np.concatenate(x) for x in zip(*parts, strict=True))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    size = int(1 / (weight**2).sum())
    assert size > 4000
    taken = rng.choice(len(weight), size, p=weight)
    gaps = ability[taken, :, ::2] - ability[taken, :, 1::2]
    exact = {"gaps": gaps, "knowledge": gaps[..., 1] - gaps[..., 0], "effects": sigma[taken]}
    contrast = posterior["contrast"].values
    found = {
        "gaps": contrast[..., :2],
        "knowledge": contrast[..., 2],
        "effects": posterior["sigma_b"].values,
    }
    assert_same(found, {k: v[None] for k, v in exact.items()})
