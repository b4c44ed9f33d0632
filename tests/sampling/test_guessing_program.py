"""The program with a guessing floor: against quadrature, the program without one, and simulated truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from maskedadv.engines import Sampler
from maskedadv.engines.embedded import Embedded
from maskedadv.sampling import guessing_grid as floor_grid
from maskedadv.sampling.guessing_grid import build_floor_grid, draw_totals
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Task, make_plan, sample_locale
from tests import simulate
from tests.monte_carlo import ALARM, assert_moments
from tests.sampling.locales import layout_of, task
from tests.sampling.test_programs import PRIORS, _differences, _log_prior, _map, _rows

Array = np.ndarray


def _layout(models: int, items: tuple[int, int], *, missing: float = 0.0) -> Layout:
    return layout_of(simulate.table(models, items, missing=missing, seed=5), "zh")


def _with_floor(layout: Layout, chance: float | tuple[Array, Array], **changes: object) -> Task:
    floors = (
        chance if isinstance(chance, tuple) else tuple(np.full(a.shape[1], chance) for a in layout.answers)
    )
    return task(layout, chance=floors, **changes)


def _of_one_item(answer: Array, theta: Array, c: float, sigma: float) -> float:
    """Probability of an item's answers, its difficulty integrated out by adaptive quadrature."""

    def integrand(b: float) -> float:
        p = c + (1 - c) * expit(theta - b)
        return float(np.prod(np.where(answer == 1, p, 1 - p)) * stats.norm.pdf(b, 0, sigma))

    return float(integrate.quad(integrand, -12 * sigma, 12 * sigma, epsabs=0, epsrel=1e-10, limit=300)[0])


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("group", [48, 2])
def test_the_program_integrates_every_item(missing: float, group: int, monkeypatch: pytest.MonkeyPatch):
    """Mixed floors, one of them zero; groups of all items and of two."""
    monkeypatch.setattr(floor_grid, "_GROUP", group)
    layout = _layout(2, (7, 5), missing=missing)
    rng = np.random.default_rng(1)
    first, second = (rng.choice([0.0, 0.2, 1 / 3], a.shape[1]) for a in layout.answers)
    chance = (first, second)

    def density(v: dict, plan: object) -> float:
        ability = _map(v, plan)[0]
        total = _log_prior(v, plan, layout, PRIORS, explicit=False)
        for s in (0, 1):
            y, theta = layout.answers[s], _rows(ability, s)
            n = y.shape[1]
            sigma = np.exp(v["log_sigma_b"][s]) * np.sqrt(n / (n - 1))
            for i in range(n):
                seen = ~np.isnan(y[:, i])
                total += np.log(_of_one_item(y[seen, i], theta[seen], chance[s][i], sigma))
        return total

    found = _differences(_with_floor(layout, chance, priors=PRIORS), density, 3)
    np.testing.assert_allclose(found, found[0], atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_floor_of_zero_is_the_program_without_one(missing: float):
    """Density and gradient at the same abilities and scales, at a size where windows cut nodes off."""
    layout = _layout(30, (150, 90), missing=missing)
    plain = make_plan(task(layout, "forced"))
    zero = make_plan(_with_floor(layout, 0.0))
    # Rough estimates only place the coordinates: with the same ones, coordinates mean the same.
    rough = {k: v for k, v in plain.data.items() if k.startswith("rough") or k.endswith("error")}
    zero = replace(zero, data=zero.data | rough)
    rng = np.random.default_rng(0)
    off = []
    for _ in range(3):
        v = {
            k: np.asarray(x) + 0.3 * rng.normal(size=np.shape(x)) * (k != "standard")
            for k, x in plain.inits[0].items()
        }
        one = Embedded().log_density(plain.program, plain.data, v)
        other = Embedded().log_density(zero.program, zero.data, v)
        off.append(one[0] - other[0])
        np.testing.assert_allclose(other[1], one[1], rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(off, off[0], atol=1e-6)


def test_replicated_totals_have_the_distribution_of_the_model():
    """Their means and variances against the item's exact conditional distribution by quadrature."""
    layout = _layout(2, (6, 5), missing=0.2)
    answers, chance = layout.answers[0], np.array([0.0, 0.25, 0.25, 0.5, 0.2, 0.2])
    grid = build_floor_grid(answers, chance, Priors())
    theta, sigma = np.array([0.5, 1.2, -0.3, 0.9]), 1.1
    rng = np.random.default_rng(3)
    found = np.array([draw_totals(grid, answers, chance, theta, sigma, rng)[1] for _ in range(8_000)])
    for i in range(answers.shape[1]):
        seen = ~np.isnan(answers[:, i])
        y, own = answers[seen, i], theta[seen]

        def moment(b: float, k: int, y: Array = y, own: Array = own, c: float = chance[i]) -> float:
            p = c + (1 - c) * expit(own - b)
            weight = np.prod(np.where(y == 1, p, 1 - p)) * stats.norm.pdf(b, 0, sigma)
            first = p.sum()
            return float(weight * (1.0, first, (p * (1 - p)).sum() + first**2)[k])

        norm, one, two = (integrate.quad(moment, -15, 15, args=(k,), epsrel=1e-10)[0] for k in range(3))
        mean, variance = one / norm, two / norm - (one / norm) ** 2
        assert_moments(
            found[:, i], mean=mean, sd=np.sqrt(variance), independent=True, alarm=ALARM / answers.shape[1]
        )


def test_the_posterior_agrees_with_maximum_likelihood_where_the_prior_is_flat():
    """Many items, wide priors: means and sds of gaps are those of `fit_floor`, of other code entirely."""
    from maskedadv.maximum_likelihood.guessing import fit_floor

    rng = np.random.default_rng(7)
    n, models = 400, 3
    answers = []
    for gap in (-1.0, -0.4):
        eta = np.array([0.8, 1.4, 2.0])[None, :, None] + np.array([gap, 0.0])[:, None, None]
        p = 0.25 + 0.75 * expit(eta - rng.standard_normal(n))
        answers.append((rng.random(p.shape) < p).astype(float).reshape(2 * models, n))
    names = [np.array([f"{x}{k}" for k in range(m)], dtype=object) for x, m in (("m", 3), ("a", n), ("s", n))]
    rows = np.arange(2 * models)
    layout = Layout("zh", "en", names[0], (names[1], names[2]), (answers[0], answers[1]), (rows, rows))
    flat = Priors(level=10, gap=10, spread=3, spread_log_sd=1.0)
    one = _with_floor(layout, 0.25, priors=flat, sampler=Sampler(warmup=400, draws=600))
    gaps = sample_locale(one)["posterior"].to_dataset()["contrast"].values
    for s in (0, 1):
        found = fit_floor(answers[s], np.full(n, 0.25), Embedded(), interval="information", seed=1)
        estimate = found.ability[:models] - found.ability[models:]
        spread = found.uncertainty[:, :models] - found.uncertainty[:, models:]
        sd = np.sqrt((spread**2).sum(axis=0))
        # A skewed likelihood: its mean is not its top.
        assert_moments(gaps[..., s], mean=estimate, sd=sd, slack=0.15, alarm=ALARM / 2)


def test_a_subset_without_items_and_a_single_model_are_sampled():
    table = simulate.table(1, (12, 8), seed=2)
    one = _with_floor(layout_of(table[table["subset"] == "CA"], "zh"), 0.2, sampler=Sampler(60, 40), chains=2)
    tree = sample_locale(one)
    contrast = tree["posterior"].to_dataset()["contrast"]
    assert np.isfinite(contrast.sel(gap="global_gap")).all()
    assert np.isnan(contrast.sel(gap="local_gap")).all()
    assert "difficulty" not in tree["posterior"].to_dataset()
