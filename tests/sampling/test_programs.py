"""Log densities of the Stan programs against SciPy, written from the model's formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from maskedadv.engines.embedded import Embedded
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Plan, Task, make_plan
from tests import simulate
from tests.sampling.locales import layout_of, task

PRIORS = Priors(level=1.7, gap=0.9, spread=0.8, spread_log_sd=0.6, correlation=1.5, difficulty=1.1)


def _layout(models: int = 2, *, missing: float = 0.0, items: tuple[int, int] = (6, 5)) -> Layout:
    return layout_of(simulate.table(models, items, missing=missing, seed=4), "zh")


def _values(start: dict, rng: np.random.Generator) -> dict:
    """A random point near a plan's start; zero sums are kept."""
    out = {}
    for name, value in start.items():
        moved = np.asarray(value, dtype=float) + rng.normal(0, 0.4, np.shape(value))
        if name.startswith(("difficulty", "standard")):
            moved = moved - moved.mean(axis=-1, keepdims=True)
        out[name] = moved
    return out


def _map(v: dict, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Abilities (J, 4) and facet means (4,) by the formulas in stan/functions/locale.stan."""
    covariance = _covariance(v)
    rough, variance = plan.data["rough"], plan.data["rough_variance"]
    precision = np.linalg.inv(covariance) + np.diag(1 / variance)
    half = np.linalg.inv(np.linalg.cholesky(precision)).T
    departure = np.linalg.inv(precision) @ (rough / variance[:, None]) + half @ v["standard"]
    mean = np.repeat(v["level"], 2) + np.array([0.5, -0.5, 0.5, -0.5]) * np.repeat(v["gap"], 2)
    root = np.linalg.cholesky(covariance)
    return (mean[:, None] + departure).T, mean + root @ v["facet_offset"] / np.sqrt(rough.shape[1])


def _covariance(v: dict) -> np.ndarray:
    scale = np.exp(v["log_spread"])
    return _correlation(v["partial"]) * np.outer(scale, scale)


def _correlation(partial: np.ndarray) -> np.ndarray:
    """From partial correlations by the recursion for regressions, first facet first; no Cholesky factor."""
    r = dict(zip([(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)], np.tanh(partial), strict=True))
    out = np.eye(4)
    for (i, j), value in r.items():
        given = out[:j, :j]
        a, b = out[i, :j], out[j, :j]
        solve = np.linalg.inv(given)
        spread = np.sqrt((1 - a @ solve @ a) * (1 - b @ solve @ b))
        out[i, j] = out[j, i] = value * spread + a @ solve @ b
    return out


def _log_lkj(partial: np.ndarray, shape: float) -> float:
    """det(R)^(shape - 1) and the volume of the map from partial correlations to R's six correlations."""
    below = np.tril_indices(4, -1)
    step = 1e-5 * np.eye(6)
    columns = [(_correlation(partial + d)[below] - _correlation(partial - d)[below]) / 2e-5 for d in step]
    determinant = np.linalg.slogdet(_correlation(partial))[1]
    return float((shape - 1) * determinant + np.linalg.slogdet(np.array(columns))[1])


def _log_jacobian(v: dict, plan: Plan) -> float:
    """Log volume of the map from the sampled coordinates, which is affine: its columns are differences."""
    n = plan.data["J"]
    basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    steps = [
        (name, np.eye(size)[k])
        for name, size in (("level", 2), ("gap", 2), ("facet_offset", 4))
        for k in range(size)
    ]
    steps += [("standard", np.outer(np.eye(4)[f], basis[:, k])) for f in range(4) for k in range(n - 1)]
    here = np.concatenate([x.ravel() for x in _map(v, plan)])
    columns = [
        np.concatenate([x.ravel() for x in _map(v | {name: v[name] + d}, plan)]) - here for name, d in steps
    ]
    return float(np.linalg.slogdet(np.array(columns))[1])


def _log_prior(v: dict, plan: Plan, layout: Layout, p: Priors, *, explicit: bool) -> float:
    """Everything but the answers, in the sampled coordinates."""
    ability, mean = _map(v, plan)
    total = stats.multivariate_normal.logpdf(ability, mean, _covariance(v)).sum() + _log_jacobian(v, plan)
    for s in (0, 1):
        n = layout.answers[s].shape[1]
        variance = np.exp(v["log_sigma_b"][s]) ** 2 / (n - 1) if explicit else 0.0
        one, two = mean[2 * s], mean[2 * s + 1]
        total += stats.norm.logpdf((one + two) / 2, 0, np.sqrt(p.level**2 + variance))
        total += stats.norm.logpdf(one - two, 0, p.gap)
    total += _log_lkj(v["partial"], p.correlation)
    total += stats.norm.logpdf(v["log_spread"], np.log(p.spread), p.spread_log_sd).sum()
    total += stats.norm.logpdf(v["log_sigma_b"], np.log(p.difficulty), p.difficulty_log_sd).sum()
    return float(total)


def _log_anchored(v: dict, layout: Layout) -> float:
    """Density of centred normal difficulties in an orthonormal basis of their n - 1 dimensions."""
    total = 0.0
    for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
        n = layout.answers[s].shape[1]
        basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
        scale = np.exp(v["log_sigma_b"][s]) * np.sqrt(n / (n - 1))
        total += stats.norm.logpdf(basis.T @ v[name], 0, scale).sum()
    return total


def _rows(ability: np.ndarray, s: int) -> np.ndarray:
    return ability[:, 2 * s : 2 * s + 2].T.ravel()


def _differences(task_: Task, density: Callable[[dict, Plan], float], points: int = 4) -> np.ndarray:
    """Stan's log density less ours at random points: constant if both are right."""
    plan = make_plan(task_)
    rng = np.random.default_rng(2)
    out = []
    for _ in range(points):
        v = _values(plan.inits[0], rng)
        out.append(Embedded().log_density(plan.program, plan.data, v)[0] - density(v, plan))
    return np.array(out)


@pytest.mark.parametrize("models", [1, 3])
def test_the_joint_program_has_the_density_of_the_model(models: int):
    layout = _layout(models, missing=0.2)

    def density(v: dict, plan: Plan) -> float:
        ability = _map(v, plan)[0]
        total = _log_prior(v, plan, layout, PRIORS, explicit=True) + _log_anchored(v, layout)
        for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
            y = layout.answers[s]
            p = expit(_rows(ability, s)[:, None] - v[name])
            total += np.nansum(np.where(y == 1, np.log(p), np.where(y == 0, np.log1p(-p), np.nan)))
        return total

    found = _differences(task(layout, "joint", priors=PRIORS), density)
    np.testing.assert_allclose(found, found[0], atol=1e-8)


def test_the_continuous_program_has_the_density_of_the_model():
    table = simulate.table(3, (6, 5), missing=0.2, seed=3)
    rng = np.random.default_rng(0)
    table["p_correct"] = expit(rng.normal(0.5, 2.0, len(table)))
    layout = layout_of(table, "zh", "crm")

    def density(v: dict, plan: Plan) -> float:
        ability = _map(v, plan)[0]
        total = _log_prior(v, plan, layout, PRIORS, explicit=True) + _log_anchored(v, layout)
        total += stats.norm.logpdf(v["log_noise"], np.log(2.0), 1.0).sum()
        for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
            mean = _rows(ability, s)[:, None] - v[name]
            total += np.nansum(stats.norm.logpdf(layout.answers[s], mean, np.exp(v["log_noise"][s])))
        return total

    found = _differences(task(layout, response="crm", priors=PRIORS), density)
    np.testing.assert_allclose(found, found[0], atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_marginal_program_integrates_every_item(missing: float):
    """One item at a time by adaptive quadrature; with holes, items have several patterns."""
    layout = _layout(missing=missing)

    def density(v: dict, plan: Plan) -> float:
        ability = _map(v, plan)[0]
        total = _log_prior(v, plan, layout, PRIORS, explicit=False)
        for s in (0, 1):
            y, theta = layout.answers[s], _rows(ability, s)
            n_items = y.shape[1]
            sigma = np.exp(v["log_sigma_b"][s]) * np.sqrt(n_items / (n_items - 1))
            for i in range(n_items):
                seen = ~np.isnan(y[:, i])

                def integrand(
                    b: float,
                    answer: np.ndarray = y[seen, i],
                    own: np.ndarray = theta[seen],
                    sigma: float = sigma,
                ) -> float:
                    p = expit(own - b)
                    return float(np.prod(np.where(answer == 1, p, 1 - p)) * stats.norm.pdf(b, 0, sigma))

                edge = 12 * sigma
                found = integrate.quad(integrand, -edge, edge, epsabs=0, epsrel=1e-10, limit=200)[0]
                total += np.log(found)
        return total

    found = _differences(task(layout, "forced", priors=PRIORS), density, 3)
    np.testing.assert_allclose(found, found[0], atol=1e-6)
