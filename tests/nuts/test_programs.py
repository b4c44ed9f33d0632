"""Log densities of the Stan programs against SciPy, written from the model's formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from maskedadv.engines.embedded import Embedded
from maskedadv.fitting.nuts.layout import Layout
from maskedadv.fitting.nuts.priors import Priors
from maskedadv.fitting.nuts.sample import Task, make_plan
from tests import simulate
from tests.nuts.locales import layout_of, task

PRIORS = Priors(level=1.7, gap=0.9, spread=0.8, spread_log_sd=0.6, correlation=1.5, difficulty=1.1)


def _layout(models: int = 2, *, missing: float = 0.0, items: tuple[int, int] = (6, 5)) -> Layout:
    return layout_of(simulate.table(models, items, missing=missing, seed=4), "zh")


def _values(plan_values: dict, rng: np.random.Generator) -> dict:
    """A random point near a plan's start, correlations and zero sums kept."""
    out = {}
    for name, value in plan_values.items():
        value = np.asarray(value, dtype=float)
        if name == "correlation_root":
            out[name] = value
        elif name in ("facet_spread", "sigma_b", "noise"):
            out[name] = value * np.exp(rng.normal(0, 0.3, value.shape))
        else:
            moved = value + rng.normal(0, 0.4, value.shape)
            out[name] = moved - moved.mean() if name.startswith(("difficulty", "departure")) else moved
    return out


def _log_prior(
    ability: np.ndarray, values: dict, layout: Layout, p: Priors, mean: np.ndarray, *, explicit: bool
) -> float:
    """Everything but the answers, at independent abilities (identity correlation), with Jacobians of logs."""
    total = stats.norm.logpdf(ability, mean, values["facet_spread"]).sum()
    for s in (0, 1):
        n = layout.answers[s].shape[1]
        variance = values["sigma_b"][s] ** 2 / (n - 1) if explicit else 0.0
        one, two = mean[2 * s], mean[2 * s + 1]
        total += stats.norm.logpdf((one + two) / 2, 0, np.sqrt(p.level**2 + variance))
        total += stats.norm.logpdf(one - two, 0, p.gap)
    for value, median, log_sd in (
        (values["facet_spread"], p.spread, p.spread_log_sd),
        (values["sigma_b"], p.difficulty, p.difficulty_log_sd),
    ):
        total += (stats.lognorm.logpdf(value, log_sd, scale=median) + np.log(value)).sum()
    return float(total)


def _log_anchored(values: dict, layout: Layout) -> float:
    """Density of centred normal difficulties in an orthonormal basis of their n - 1 dimensions."""
    total = 0.0
    for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
        n = layout.answers[s].shape[1]
        basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
        scale = values["sigma_b"][s] * np.sqrt(n / (n - 1))
        total += stats.norm.logpdf(basis.T @ values[name], 0, scale).sum()
    return total


def _rows(ability: np.ndarray, s: int) -> np.ndarray:
    return ability[:, 2 * s : 2 * s + 2].T.ravel()


def _differences(task_: Task, density, points: int = 4) -> np.ndarray:
    """Stan's log density less ours at random points: constant if both are right."""
    plan = make_plan(task_)
    rng = np.random.default_rng(2)
    out = []
    for _ in range(points):
        values = _values(plan.inits[0], rng)
        out.append(Embedded().log_density(plan.program, plan.data, values)[0] - density(values, plan))
    return np.array(out)


def test_the_joint_program_has_the_density_of_the_model():
    layout = _layout(missing=0.2)

    def density(v: dict, _plan) -> float:
        total = _log_prior(v["ability_centred"], v, layout, PRIORS, v["facet_mean"], explicit=True)
        total += _log_anchored(v, layout)
        for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
            y = layout.answers[s]
            p = expit(_rows(v["ability_centred"], s)[:, None] - v[name])
            total += np.nansum(np.where(y == 1, np.log(p), np.where(y == 0, np.log1p(-p), np.nan)))
        return total

    found = _differences(task(layout, "joint", priors=PRIORS, centred=True), density)
    np.testing.assert_allclose(found, found[0], atol=1e-9)


def test_the_continuous_program_has_the_density_of_the_model():
    table = simulate.table(3, (6, 5), missing=0.2, seed=3)
    rng = np.random.default_rng(0)
    table["p_correct"] = expit(rng.normal(0.5, 2.0, len(table)))
    layout = layout_of(table, "zh", "crm")

    def density(v: dict, _plan) -> float:
        total = _log_prior(v["ability_centred"], v, layout, PRIORS, v["facet_mean"], explicit=True)
        total += _log_anchored(v, layout)
        total += (stats.lognorm.logpdf(v["noise"], 1.0, scale=2.0) + np.log(v["noise"])).sum()
        for s, name in enumerate(("difficulty_ca", "difficulty_cs")):
            mean = _rows(v["ability_centred"], s)[:, None] - v[name]
            total += np.nansum(stats.norm.logpdf(layout.answers[s], mean, v["noise"][s]))
        return total

    found = _differences(task(layout, response="crm", priors=PRIORS, centred=True), density)
    np.testing.assert_allclose(found, found[0], atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_marginal_program_integrates_every_item(missing: float):
    """One item at a time by adaptive quadrature; with holes, items have several patterns."""
    layout = _layout(missing=missing)

    def density(v: dict, _plan) -> float:
        level = np.repeat(v["level"], 2)
        n = len(layout.models)
        ability = np.concatenate(
            [(v["level"][s] + v[f"departure_{x}"]).reshape(2, n).T for s, x in enumerate(("ca", "cs"))],
            axis=1,
        )
        total = _log_prior(ability, v, layout, PRIORS, v["facet_departure"] + level, explicit=False)
        for s in (0, 1):
            y, theta = layout.answers[s], _rows(ability, s)
            n_items = y.shape[1]
            sigma = v["sigma_b"][s] * np.sqrt(n_items / (n_items - 1))
            for i in range(n_items):
                seen = ~np.isnan(y[:, i])

                def integrand(b: float, answer=y[seen, i], own=theta[seen], sigma=sigma) -> float:
                    p = expit(own - b)
                    return float(np.prod(np.where(answer == 1, p, 1 - p)) * stats.norm.pdf(b, 0, sigma))

                total += np.log(
                    integrate.quad(integrand, -12 * sigma, 12 * sigma, epsabs=0, epsrel=1e-10, limit=200)[0]
                )
        return total

    found = _differences(task(layout, "forced", priors=PRIORS, centred=True), density, 3)
    np.testing.assert_allclose(found, found[0], atol=1e-6)


@pytest.mark.parametrize("estimator", ["joint", "forced"])
def test_centred_and_standard_forms_are_one_density(estimator: str):
    """log density(standard) = log density(centred) + log |d ability / d standard|."""
    layout = _layout(3)
    densities = []
    rng = np.random.default_rng(8)
    root = np.linalg.cholesky(0.5 * np.eye(4) + 0.5)
    for _ in range(3):
        standard = rng.normal(size=(4, 3))
        mean, spread = rng.normal(0, 1, 4), np.exp(rng.normal(0, 0.4, 4))
        ability = mean + (np.diag(spread) @ root @ standard).T
        common = {"facet_spread": spread, "correlation_root": root, "sigma_b": np.array([1.2, 0.9])}
        level = np.array([ability[:, :2].mean(), ability[:, 2:].mean()])
        b = {"difficulty_ca": rng.normal(size=6), "difficulty_cs": rng.normal(size=5)}
        b = {k: v - v.mean() for k, v in b.items()}
        if estimator == "joint":
            one = common | b | {"facet_mean": mean, "ability_centred": ability, "standard": np.empty((4, 0))}
            two = common | b | {"facet_mean": mean, "ability_centred": np.empty((0, 4)), "standard": standard}
        else:
            off = {f"departure_{x}": _rows(ability, s) - level[s] for s, x in enumerate(("ca", "cs"))}
            none = {f"departure_{x}": np.zeros(1) for x in ("ca", "cs")}
            one = common | off | {"level": level, "standard": np.empty((4, 0))}
            one["facet_departure"] = mean - np.repeat(level, 2)
            two = common | none | {"level": np.empty(0), "standard": standard, "facet_departure": mean}
        pair = []
        for centred, values in ((True, one), (False, two)):
            plan = make_plan(task(layout, estimator, centred=centred))
            pair.append(Embedded().log_density(plan.program, plan.data, values)[0])
        jacobian = 3 * (np.log(spread).sum() + np.log(np.diag(root)).sum())
        densities.append(pair[0] - pair[1] + jacobian)
    np.testing.assert_allclose(densities, densities[0], atol=1e-7)
