"""Sampling: the two engines give the same run; chains, statistics and progress have one form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from maskedadv.engines import Sampler, choose_engine
from maskedadv.engines.cmdstan import CmdStan, installed_version
from maskedadv.engines.embedded import Embedded
from maskedadv.engines.protocol import STATS
from maskedadv.errors import EngineFailed, EngineMissing
from maskedadv.sampling.sample import make_plan, sample_locale
from tests import simulate
from tests.engines import fake_cmdstan
from tests.monte_carlo import assert_same
from tests.sampling.locales import layout_of, task

SHORT = Sampler(warmup=120, draws=60, adapt_delta=0.85, max_treedepth=7)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import cmdstanpy

    home = fake_cmdstan.install(tmp_path / "a folder")
    monkeypatch.setenv("CMDSTAN", str(home))
    monkeypatch.setenv("MASKEDADV_CACHE", str(tmp_path / "cache"))
    cmdstanpy.set_cmdstan_path(str(home))


def _plan(models: int = 8, estimator: str = "forced"):
    layout = layout_of(simulate.table(models, (40, 30), seed=1), "zh")
    return make_plan(task(layout, estimator, chains=2))


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(("models", "estimator"), [(8, "forced"), (1, "joint")])
def test_cmdstan_and_embedded_give_the_same_draws(models: int, estimator: str):
    """Same streams of random numbers, same arithmetic behind the stand-in: equal to the digits of the CSV."""
    plan = _plan(models, estimator)
    lines: list[str] = []
    runs = [
        engine.sample(plan.program, plan.data, plan.inits, SHORT, seed=5, threads=1, progress=lines.append)
        for engine in (Embedded(), CmdStan())
    ]
    # The stand-in starts all chains of one process at its own start, so that chain 1 alone is comparable.
    for name, values in runs[0].variables.items():
        assert runs[1].variables[name].shape == values.shape
        np.testing.assert_allclose(runs[1].variables[name][0], values[0], rtol=1e-9, atol=1e-9)
    for name in STATS:
        assert runs[1].stats[name].shape == (2, 60)
        np.testing.assert_allclose(runs[1].stats[name][0], runs[0].stats[name][0], rtol=1e-9, atol=1e-9)
    assert runs[0].stats["tree_depth"].max() <= SHORT.max_treedepth
    assert "chain 1: 180 of 180 (sampling)" in lines
    assert lines.count("chain 2: 180 of 180 (sampling)") == 2


@pytest.mark.usefixtures("fake")
def test_a_whole_locale_through_cmdstan():
    layout = layout_of(simulate.table(3, (40, 30), seed=1), "zh")
    tree = sample_locale(task(layout, sampler=SHORT, chains=2, engine="cmdstan"))
    assert tree.attrs["inference_library"].startswith("CmdStan 2.36")
    assert np.isfinite(tree["posterior"]["contrast"].values).all()


@pytest.mark.usefixtures("fake")
def test_a_failing_cmdstan_is_named(monkeypatch: pytest.MonkeyPatch):
    plan = _plan()
    monkeypatch.setenv("FAKE_CMDSTAN_EXIT", "70")
    with pytest.raises(EngineFailed, match="CmdStan could not sample 'posterior_marginal'"):
        CmdStan().sample(plan.program, plan.data, plan.inits, SHORT, seed=5)


def test_threads_and_progress_change_no_draw():
    plan = _plan()
    one = Embedded().sample(plan.program, plan.data, plan.inits, SHORT, seed=5, threads=1)
    two = Embedded().sample(plan.program, plan.data, plan.inits, SHORT, seed=5, progress=lambda _: None)
    other = Embedded().sample(plan.program, plan.data, plan.inits, SHORT, seed=6)
    np.testing.assert_array_equal(one.variables["ability"], two.variables["ability"])
    assert not np.array_equal(one.variables["ability"], other.variables["ability"])


def test_real_cmdstan_agrees_with_the_embedded_engine():
    try:
        installed_version()
    except EngineMissing:
        pytest.skip("real CmdStan is not installed")
    plan = _plan()
    sampler = Sampler(warmup=1000, draws=1000)
    runs = [
        choose_engine(name).sample(plan.program, plan.data, plan.inits, sampler, seed=5)
        for name in ("embedded", "cmdstan")
    ]
    names = ("contrast", "level", "log_spread", "log_sigma_b")
    assert_same(*({n: run.variables[n] for n in names} for run in runs))
