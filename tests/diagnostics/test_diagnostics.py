"""Verdicts on draws whose fault is known, numbers against ArviZ and hand counts."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pytest
import xarray as xr

from maskedadv.cli.main import main
from maskedadv.diagnostics import judge, measure
from maskedadv.diagnostics.convergence import TAILS
from maskedadv.diagnostics.plots import write_plots
from maskedadv.diagnostics.predictive import mid_p_values
from maskedadv.diagnostics.verdict import DO_NOT_USE, FINE, LOOK, verdict
from maskedadv.engines.protocol import STATS
from maskedadv.errors import BadSetting, OutputExists
from maskedadv.result.draws import Draws, Posterior, build_tree
from maskedadv.vocabulary import gaps_of

CHAINS, DRAWS, MODELS, ITEMS = 4, 500, 3, (6, 5)


def _tree(
    *, shift: float = 0.0, sticky: float = 0.0, chains: int = CHAINS, draws: int = DRAWS, **stats: Any
) -> xr.DataTree:
    """Independent normal draws; chain 1 moved by `shift`, or all autocorrelated with `sticky`."""
    rng = np.random.default_rng(0)

    def noise(*shape: int) -> np.ndarray:
        e = rng.normal(size=(chains, draws, *shape))
        if sticky:
            for d in range(1, draws):
                e[:, d] = sticky * e[:, d - 1] + np.sqrt(1 - sticky**2) * e[:, d]
        return e

    ability = noise(MODELS, 2, 2)
    ability[0, :, :, 0, 0] += shift
    answers = tuple((rng.random((2 * MODELS, n)) < 0.6).astype(float) for n in ITEMS)
    energy = 300 + noise()
    own = {k: np.zeros((chains, draws)) for k in STATS} | {"energy": energy, "lp": -energy}
    own |= {"diverging": np.zeros((chains, draws), dtype=bool)}
    own |= {"reached_max_treedepth": np.zeros((chains, draws), dtype=bool)}
    gaps = gaps_of(ability[..., 0] - ability[..., 1])
    rep = 5
    cell = np.stack([a.sum(axis=1).reshape(2, -1).T for a in answers], axis=1)
    item = np.concatenate([a.sum(axis=0) for a in answers])
    values = Draws(
        ability=ability,
        difficulty=noise(sum(ITEMS)),
        facet_mean=noise(2, 2),
        facet_spread=np.exp(noise(2, 2)),
        correlation=np.broadcast_to(np.eye(4), (chains, draws, 4, 4)) + 0.0,
        sigma_b=np.exp(noise(2)),
        noise=None,
        stats=own | stats,
        cell_rep=cell + rng.integers(-1, 2, (chains, len(range(0, draws, rep)), MODELS, 2, 2)),
        item_rep=item + rng.integers(-1, 2, (chains, len(range(0, draws, rep)), sum(ITEMS))),
        thin=rep,
        contrast=gaps,
        mean_contrast=gaps.mean(axis=-2),
    )
    names = [
        np.array([f"{x}{k}" for k in range(n)], dtype=object)
        for x, n in zip("mas", (MODELS, *ITEMS), strict=True)
    ]
    return build_tree(
        values, models=names[0], items=(names[1], names[2]), answers=answers, attrs={"locale": "zh"}
    )


def test_independent_draws_are_fine():
    m = measure(_tree())
    assert judge(m) == []
    assert verdict([]) == FINE
    assert m.rhat_all < 1.01
    assert m.mcse_ratio == pytest.approx(1 / np.sqrt(CHAINS * DRAWS), rel=0.15)


def test_numbers_are_those_of_arviz():
    tree = _tree(sticky=0.6)
    m = measure(tree)
    posterior = tree["posterior"].to_dataset()
    gaps = posterior[["contrast", "mean_contrast"]]
    assert m.rhat_gaps == max(float(v.max()) for v in az.rhat(gaps).data_vars.values())
    assert m.ess_bulk_gaps == min(float(v.min()) for v in az.ess(gaps).data_vars.values())
    assert m.ess_tail_gaps == min(
        float(v.min()) for v in az.ess(gaps, method="tail", prob=TAILS).data_vars.values()
    )
    energy = tree["sample_stats"]["energy"].values
    by_hand = (np.diff(energy, axis=1) ** 2).mean(axis=1) / energy.var(axis=1)
    assert m.bfmi == pytest.approx(by_hand.min(), rel=0.01)


def test_chains_apart_are_not_to_be_used_and_the_quantity_is_named():
    m = measure(_tree(shift=2.0))
    worst = judge(m)[0]
    assert worst.level == DO_NOT_USE
    assert "chains disagree about a gap" in worst.reason
    assert "contrast" in m.worst or "ability" in m.worst
    assert "contrast[" in worst.reason
    assert m.worst_gap in worst.reason
    assert "--warmup" in worst.remedy


@pytest.mark.parametrize(("sticky", "level"), [(0.75, LOOK), (0.97, DO_NOT_USE)])
def test_few_effective_draws(sticky: float, level: str):
    found = [f for f in judge(measure(_tree(sticky=sticky))) if "effective draws" in f.reason]
    assert found
    assert verdict(found) == level


@pytest.mark.parametrize(("count", "level"), [(3, LOOK), (40, DO_NOT_USE)])
def test_divergences(count: int, level: str):
    diverging = np.zeros((CHAINS, DRAWS), dtype=bool)
    diverging.flat[:count] = True
    m = measure(_tree(diverging=diverging))
    assert m.divergences == count
    found = judge(m)
    assert found[0].level == level
    assert f"{count} of 2000 transitions diverged" in found[0].reason
    assert "--adapt-delta" in found[0].remedy


def test_slow_energy_and_deep_trees():
    walk = np.cumsum(np.random.default_rng(3).normal(size=(CHAINS, DRAWS)), axis=1)
    deep = np.zeros((CHAINS, DRAWS), dtype=bool)
    deep[:, :30] = True
    reasons = " ".join(f.reason for f in judge(measure(_tree(energy=walk, reached_max_treedepth=deep))))
    assert "E-BFMI" in reasons
    assert "120 of 2000 trajectories were cut off" in reasons


def test_one_chain_and_four_draws_give_words_not_tracebacks():
    one = judge(measure(_tree(chains=1)))
    assert any("one chain" in f.reason for f in one)
    few = judge(measure(_tree(chains=1, draws=4)))
    assert few
    assert verdict(few) in (LOOK, DO_NOT_USE)


def test_predictive_p_values_by_hand():
    tree = _tree()
    rep = tree["posterior_predictive"]["item_total"].values.reshape(-1, sum(ITEMS))
    obs = tree["observed_data"]["item_total"].values
    p = mid_p_values(tree, "item")
    above = ((rep > obs).sum(axis=0) + 0.5 * (rep == obs).sum(axis=0)) / len(rep)
    np.testing.assert_allclose(p, np.minimum(1, 2 * np.minimum(above, 1 - above)), atol=1e-12)
    far = tree["posterior_predictive"].to_dataset()
    far["item_total"] = far["item_total"] + 10
    tree["posterior_predictive"] = xr.DataTree(far)
    np.testing.assert_allclose(mid_p_values(tree, "item"), 1 / (len(rep) + 1))
    found = judge(measure(tree))
    assert found[0].level == LOOK
    assert "the totals of 11 of 11 items are unlikely" in found[0].reason


def test_nan_measures_never_pass_as_fine():
    m = replace(measure(_tree()), ess_bulk_gaps=float("nan"), rhat_gaps=float("nan"))
    assert verdict(judge(m)) == DO_NOT_USE


@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("still", [1, 4])
def test_a_chain_that_never_moves_is_not_to_be_used(chains: int, still: int):
    """R-hat of constants is NaN or infinite and their ESS the number of draws: neither may pass as fine."""
    tree = _tree(chains=chains)
    posterior = tree["posterior"].to_dataset()
    for name in ("contrast", "mean_contrast"):
        first = posterior[name].isel(draw=0)
        posterior[name] = posterior[name].where(posterior["chain"] >= still, first)
    tree["posterior"] = xr.DataTree(posterior)
    m = measure(tree)
    assert m.still == min(chains, still)
    assert verdict(judge(m)) == DO_NOT_USE
    assert any("never moved" in f.reason for f in judge(m))


def test_an_infinite_rhat_is_not_overlooked():
    m = replace(measure(_tree()), rhat_gaps=float("inf"))
    assert verdict(judge(m)) == DO_NOT_USE


def test_a_locale_without_known_gaps_is_said_to_have_none(tmp_path: Path):
    tree = _tree()
    posterior = tree["posterior"].to_dataset()
    for name in ("contrast", "mean_contrast"):
        posterior[name] = posterior[name] * np.nan
    tree["posterior"] = xr.DataTree(posterior)
    found = judge(measure(tree))
    assert [(f.level, f.reason) for f in found] == [(LOOK, "no gap is known in this locale")]
    assert [p.name for p in write_plots(tree, "zh", tmp_path / "zh")] == ["zh_energy.png"]


def test_plots_are_written_for_hostile_names(tmp_path: Path):
    paths = write_plots(_tree(), "a$b/文", tmp_path / "deep" / "locale_0")
    assert [p.name for p in paths] == ["locale_0_rank.png", "locale_0_ess.png", "locale_0_energy.png"]
    assert all(p.stat().st_size > 5000 for p in paths)


def test_plots_that_cannot_be_written_are_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputExists, match="plots cannot be written"):
        write_plots(_tree(), "zh", tmp_path / "file" / "zh")


def test_measuring_says_nothing_and_needs_no_home(tmp_path: Path):
    """A single chain is not warned of, and a home that is missing stops nothing."""
    script = (
        "import numpy as np, xarray as xr\n"
        "from maskedadv.diagnostics import convergence\n"
        "x = xr.Dataset({'x': (('chain', 'draw'), np.random.default_rng(0).normal(size=(1, 30)))})\n"
        "print(bool(np.isnan(convergence.rhat(x)['x'])))\n"
    )
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "new", tmp_path / "file" / "x"):
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "MPLCONFIGDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | own, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_the_command_leaves_with_three_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """A saved result whose chains disagree; optimised results are refused with two."""
    import maskedadv
    from tests import simulate

    fit = maskedadv.fit(simulate.table(), estimator="marginal")
    path = fit.save(tmp_path / "optimised")
    with pytest.raises(SystemExit) as left:
        main(["diagnose", str(path)])
    assert left.value.code == 2
    bad = replace(fit, posteriors={"plain": {"zh": Posterior(_tree(shift=2.0))}})
    monkeypatch.setattr("maskedadv.result.save.load", lambda _: bad)
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(["diagnose", str(path)])
    assert left.value.code == 3
    out = capsys.readouterr().out
    assert "do not use" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    with pytest.raises(BadSetting, match="no draws to diagnose"):
        maskedadv.diagnostics.diagnose(fit)
