"""Every item's log likelihood against quadrature, and leaving items out with ArviZ on our files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

import maskedadv
from maskedadv.engines import Sampler, choose_engine
from maskedadv.sampling.item_likelihood import explicit, integrated
from maskedadv.sampling.pairs import pairs_only
from maskedadv.sampling.programs import PROGRAMS
from maskedadv.sampling.sample import make_plan
from maskedadv.sampling.task import Plan, Task
from tests import simulate
from tests.sampling.locales import layout_of, task

Array = NDArray[np.float64]
SHORT = Sampler(warmup=60, draws=10)


def sampled(own: Task) -> tuple[Plan, dict[str, Array]]:
    """A plan and a few draws of its program's variables, all digits."""
    plan = make_plan(own)
    engine = choose_engine(own.engine)
    chains = engine.sample(
        plan.program, plan.data, plan.inits, own.sampler, seed=plan.seed, threads=1, progress=lambda _: None
    )
    return plan, dict(chains.variables)


def by_sum(answers: Array, theta: Array, sigma: float, chance: float = 0.0) -> float:
    """Log probability of one item's answers (2J,), over a fine grid of its difficulty."""
    b = np.linspace(-12, 12, 6001) * max(sigma, 0.3)
    p = chance + (1 - chance) * expit(theta[:, None] - b)
    seen = ~np.isnan(answers)
    own = np.where(answers[seen, None] > 0.5, p[seen], 1 - p[seen]).prod(axis=0)
    return float(np.log((own * norm.pdf(b, 0, sigma)).sum() * (b[1] - b[0])))


def table(**changes: float) -> pd.DataFrame:
    return simulate.table(3, (12, 9), missing=0.15, seed=5, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_items_of_programs_that_integrate_by_quadrature(chance: float) -> None:
    layout = layout_of(table(), "zh")
    floors = (np.full(12, chance), np.full(9, chance)) if chance else None
    own = task(layout, "forced", sampler=SHORT, chains=1, chance=floors)
    plan, variables = sampled(own)
    found = PROGRAMS[plan.program].likelihood(own, plan, variables)
    assert plan.program == ("posterior_guessing" if chance else "posterior_marginal")
    for s, first, n in ((0, 0, 12), (1, 12, 9)):
        for d in (0, 9):
            theta = variables["ability"][0, d, :, 2 * s : 2 * s + 2].T.ravel()
            sigma = variables["sigma_b"][0, d, s] * np.sqrt(n / (n - 1))
            expected = [by_sum(layout.answers[s][:, i], theta, sigma, chance) for i in range(n)]
            np.testing.assert_allclose(found[0, d, first : first + n], expected, atol=2e-6)


@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_items_of_pairs_by_quadrature(chance: float) -> None:
    layout = pairs_only(layout_of(table(), "zh"))
    floors = (np.full(12, chance), np.full(9, chance)) if chance else None
    own = task(layout, sampler=SHORT, chains=1, chance=floors, paired=True)
    plan, variables = sampled(own)
    found = PROGRAMS[plan.program].likelihood(own, plan, variables)
    for s, first, n in ((0, 0, 12), (1, 12, 9)):
        theta, sigma = variables["ability"][0, 4, :, 2 * s : 2 * s + 2], variables["sigma_b"][0, 4, s]
        answers = layout.answers[s]
        for i in range(n):
            both = [j for j in range(3) if not np.isnan(answers[j, i])]
            expected = sum(by_sum(answers[[j, 3 + j], i], theta[j], sigma, chance) for j in both)
            assert found[0, 4, first + i] == pytest.approx(expected, abs=2e-6)


def test_items_of_continuous_responses_are_multivariate_normal() -> None:
    frame = table()
    frame["crm_logit"] = np.random.default_rng(6).normal(size=len(frame))
    layout = layout_of(frame, "zh", "crm")
    own = task(layout, sampler=SHORT, chains=1, response="crm")
    plan, variables = sampled(own)
    # The place of the items' mean in the population is drawn; a level known exactly leaves nothing to draw.
    variables["facet_mean"] = np.zeros_like(variables["facet_mean"])
    tight = Task(**{**vars(own), "priors": maskedadv.Priors(level=1e-3)})
    found = PROGRAMS[plan.program].likelihood(tight, plan, variables)
    for s, first, n in ((0, 0, 12), (1, 12, 9)):
        theta = variables["ability"][0, 3, :, 2 * s : 2 * s + 2].T.ravel()
        sigma = variables["sigma_b"][0, 3, s] * np.sqrt(n / (n - 1))
        noise = variables["noise"][0, 3, s]
        for i in range(n):
            x = layout.answers[s][:, i]
            seen = ~np.isnan(x)
            covariance = noise**2 * np.eye(seen.sum()) + sigma**2
            expected = multivariate_normal.logpdf(x[seen], theta[seen], covariance)
            assert found[0, 3, first + i] == pytest.approx(expected, abs=0.01)


def test_both_programs_of_one_model_give_the_same_likelihoods() -> None:
    """Their draws of levels differ by the mean of the items asked, which has to be put back."""
    layout = layout_of(simulate.table(4, (8, 8), seed=8), "zh")
    means = []
    for estimator, likelihood in (("forced", integrated), ("joint", explicit)):
        own = task(layout, estimator, sampler=Sampler(warmup=400, draws=800), chains=2)
        plan, variables = sampled(own)
        means.append(likelihood(own, plan, variables))
    difference = means[0].mean(axis=(0, 1)) - means[1].mean(axis=(0, 1))
    error = np.sqrt(sum(az.mcse(az.convert_to_dataset(m))["x"].to_numpy() ** 2 for m in means))
    assert (np.abs(difference) < 4.5 * error).all(), difference / error


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame = simulate.artefact_table(5, 40, chance=0.25, seed=2).assign(n_options=4)
    alone = pd.DataFrame([["m00", "CA", "zh", "never with en", 1, 4]], columns=frame.columns)
    frame = pd.concat([frame, alone], ignore_index=True)
    path = tmp_path_factory.mktemp("loo") / "result"
    maskedadv.fit(
        frame, method="nuts", min_accuracy=0, chains=2, warmup=200, draws=300, log_likelihood="item"
    ).save(path)
    return path


def test_arviz_leaves_items_out_of_our_files(folder: Path) -> None:
    files = {base: folder / "posterior" / base / "zh.nc" for base in ("plain", "floor")}
    opened = {base: az.from_netcdf(path) for base, path in files.items()}
    for data in opened.values():
        loo = az.loo(data, pointwise=True)
        assert loo.n_data_points == 81
        assert float(loo.pareto_k.max()) < 0.7
        assert _elpd(loo) == pytest.approx(float(_each(loo).sum()))
    compared = az.compare(opened)
    assert set(compared.index) == set(opened)
    by_hand = _elpd(az.loo(opened["plain"])) - _elpd(az.loo(opened["floor"]))
    rounded = 1e-8 if hasattr(loo, "elpd_loo") else 0.5  # ArviZ 1 shows whole numbers
    assert abs(by_hand) == pytest.approx(compared["elpd_diff"].abs().max(), abs=rounded)


def test_a_result_keeps_likelihoods_only_when_asked(folder: Path) -> None:
    fit = maskedadv.load(folder)
    tree = fit.posteriors["plain"]["zh"].tree()
    own = tree["log_likelihood"].to_dataset()["answers"]
    assert own.dims == ("chain", "draw", "item")
    assert own.sizes["item"] == 81
    pairs = fit.posteriors["paired"]["zh"].tree()["log_likelihood"].to_dataset()
    assert pairs.sizes["item"] == 80, "an item without a pair has no likelihood of pairs"
    plain = maskedadv.fit(
        simulate.table(3, (8, 8)),
        method="nuts",
        min_accuracy=0,
        chains=1,
        warmup=30,
        draws=10,
        variants="none",
    )
    assert "log_likelihood" not in plain.posteriors["plain"]["zh"].tree().children
    assert isinstance(tree, xr.DataTree)


def test_leaving_out_by_weights_is_leaving_out(tmp_path: Path) -> None:
    """PSIS-LOO of a few items against fits without them: mean over draws of the item's likelihood."""
    frame = simulate.table(3, (10, 10), seed=12)
    settings: dict[str, Any] = {
        "method": "nuts",
        "min_accuracy": 0.0,
        "variants": "none",
        "chains": 2,
        "draws": 1000,
        "warmup": 400,
    }
    whole = maskedadv.fit(frame, log_likelihood="item", **settings)
    whole.save(tmp_path / "result")
    file = tmp_path / "result" / "posterior" / "plain" / "zh.nc"
    opened = az.from_netcdf(file)
    loo = az.loo(opened, pointwise=True)
    items = opened.log_likelihood["item"].values
    layout = layout_of(frame, "zh")
    for name in ("CA3", "CS7"):
        subset = int(name.startswith("CS"))
        without = task(
            layout_of(frame[frame["item"] != name], "zh"),
            "forced",
            sampler=Sampler(warmup=400, draws=1000),
            chains=2,
        )
        _, variables = sampled(without)
        answers = layout.answers[subset][:, list(layout.items[subset]).index(name)]
        ability = variables["ability"][..., 2 * subset : 2 * subset + 2].reshape(-1, 3, 2)[::5]
        sigma = variables["sigma_b"][..., subset].ravel()[::5] * np.sqrt(9 / 8)
        each = np.array([by_sum(answers, a.T.ravel(), s) for a, s in zip(ability, sigma, strict=True)])
        expected = float(np.log(np.exp(each).mean()))
        assert float(_each(loo).values[list(items).index(name)]) == pytest.approx(expected, abs=0.08)


ARVIZ_1 = os.environ.get("MASKEDADV_ARVIZ1_PYTHON", "")


@pytest.mark.skipif(not ARVIZ_1, reason="MASKEDADV_ARVIZ1_PYTHON names no Python with ArviZ 1")
def test_arviz_one_leaves_items_out_too(folder: Path) -> None:
    """The same number from either ArviZ; see `test_exchange`."""
    path = folder / "posterior" / "plain" / "zh.nc"
    script = "import sys, arviz as az; print(az.__version__, az.loo(az.from_netcdf(sys.argv[1])).elpd)"
    done = subprocess.run(
        [ARVIZ_1, "-W", "ignore", "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    version, elpd = done.stdout.split()
    assert version.startswith("1.")
    assert float(elpd) == pytest.approx(float(_elpd(az.loo(az.from_netcdf(path)))), abs=0.05)


def _elpd(loo: object) -> float:
    """By either of ArviZ's names."""
    return float(loo.elpd_loo if hasattr(loo, "elpd_loo") else loo.elpd)  # type: ignore[attr-defined]


def _each(loo: object):
    """Of every item, by either of ArviZ's names."""
    return loo.loo_i if hasattr(loo, "loo_i") else loo.elpd_i  # type: ignore[attr-defined]
