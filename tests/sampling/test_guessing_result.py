"""NUTS with variants through `maskedadv.fit` and the command line: floor, link, files, resuming."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.main import main
from maskedadv.diagnostics import diagnose
from maskedadv.errors import BadSetting
from maskedadv.result.fit_result import Fit
from maskedadv.result.in_words import read_variants
from tests import simulate

QUICK = {"method": "nuts", "warmup": 80, "draws": 50, "chains": 2, "min_accuracy": 0.0}
OPTIONS = ["--method", "nuts", "--warmup", "80", "--draws", "50", "--chains", "2", "--min-accuracy", "0"]
SAMPLED = ["plain", "floor", "paired", "paired+floor"]
VARIANTS = [*SAMPLED, *("linked", "floor+linked", "paired+linked", "paired+floor+linked")]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Nine models, one of them guessing in CS of the local language, and every item with its options."""
    table = simulate.table(9, (25, 20), missing=0.1, seed=2)
    table["n_options"] = np.where(table["item"].str.endswith("1"), 3, 4)
    lost = (table["model"] == "m0") & (table["language"] == "zh") & (table["subset"] == "CS")
    table.loc[lost, "correct"] = (np.arange(lost.sum()) % 5 == 0).astype(int)
    return table


@pytest.fixture(scope="module")
def fit(table: pd.DataFrame) -> Fit:
    return maskedadv.fit(table, **QUICK)


def _left(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def test_every_variant_is_there_and_sums_up_its_draws(fit: Fit):
    assert fit.variants == VARIANTS
    for variant in VARIANTS:
        for gap in ("global_gap", "local_gap", "knowledge_gap"):
            draws = fit.draws(gap, variant=variant).sel(locale="zh")
            cube = fit.cube.sel(variant=variant, gap=gap, locale="zh")
            np.testing.assert_allclose(draws.mean(("chain", "draw")), cube["estimate"], atol=1e-10)
            np.testing.assert_allclose(draws.std(("chain", "draw"), ddof=1), cube["sd"], atol=1e-10)
            np.testing.assert_allclose(draws.quantile(0.975, ("chain", "draw")), cube["upper"], atol=1e-10)


def test_linked_gaps_are_linked_draw_by_draw_with_the_hierarchical_scales(fit: Fit):
    for variant, base in (("linked", "plain"), ("floor+linked", "floor")):
        posterior = fit.posteriors[base]["zh"].tree()["posterior"].to_dataset()
        ratio = posterior["facet_spread"].sel(query="pivot", subset="CS") / posterior["facet_spread"].sel(
            query="pivot", subset="CA"
        )
        gaps = posterior["contrast"]
        wanted = gaps.sel(gap="local_gap") / ratio - gaps.sel(gap="global_gap")
        found = fit.draws("knowledge_gap", variant=variant).sel(locale="zh")
        known = np.isfinite(found.isel(chain=0, draw=0)).values
        assert known.sum() >= 3
        np.testing.assert_allclose(
            found.values[..., known], wanted.transpose(*found.dims).values[..., known], atol=1e-12
        )
        link = next(v for v in fit.info.links if v["variant"] == variant)
        assert link["ratio"] == pytest.approx(float(np.exp(np.log(ratio).mean())))
        assert link["lower"] == pytest.approx(float(ratio.quantile(0.025)), rel=1e-6)


def test_a_cell_at_chance_has_no_gap_under_the_floor_only(fit: Fit):
    gaps = fit.gaps(model="m0", variant="floor").set_index("gap")
    assert np.isnan(gaps.loc["local_gap", "estimate"])
    assert gaps.loc["local_gap", "note"] == "at_chance: CS zh is not above guessing"
    assert np.isfinite(gaps.loc["global_gap", "estimate"])
    assert np.isfinite(fit.gaps(model="m0").set_index("gap").loc["local_gap", "estimate"])
    assert np.isnan(fit.draws("local_gap", variant="floor").sel(model="m0")).all()


def test_the_plain_posterior_does_not_depend_on_the_variants(fit: Fit, table: pd.DataFrame):
    alone = maskedadv.fit(table, variants="none", **QUICK)
    assert alone.variants == ["plain"]
    assert list(alone.posteriors) == ["plain"]
    np.testing.assert_array_equal(alone.draws("ability").values, fit.draws("ability").values)


def test_a_saved_result_keeps_both_posteriors(fit: Fit, tmp_path: Path):
    path = fit.save(tmp_path / "out")
    assert [p.name for p in (path / "posterior" / "floor").iterdir()] == ["zh.nc"]
    again = maskedadv.load(path)
    for variant in VARIANTS:
        one, other = (f.draws("knowledge_gap", variant=variant).values for f in (again, fit))
        np.testing.assert_array_equal(one, other)
    assert [(v.locale, v.variant) for v in diagnose(again)] == [("zh", v) for v in SAMPLED]
    (path / "posterior" / "floor" / "zh.nc").unlink()
    with pytest.raises(maskedadv.errors.NotAResult, match=r"lacks posterior/floor/zh\.nc"):
        maskedadv.load(path)


def test_the_command_line_and_jobs_give_the_same(
    fit: Fit, table: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    csv, out = tmp_path / "t.csv", tmp_path / "out"
    table.to_csv(csv, index=False)
    assert _left(["fit", str(csv), "-o", str(out), *OPTIONS, "--jobs", "2"]) == 0
    said = capsys.readouterr()
    assert "zh, floor:" in said.err
    assert "floor+linked" in said.out
    again = maskedadv.load(out)
    np.testing.assert_array_equal(
        again.draws("knowledge_gap", variant="floor+linked").values,
        fit.draws("knowledge_gap", variant="floor+linked").values,
    )
    assert not (tmp_path / "out.unfinished").exists()
    _left(["diagnose", str(out), "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [r["variant"] for r in rows] == SAMPLED


@pytest.mark.slow  # a quarter of a minute of drawing
def test_every_sampled_variant_has_its_figures(fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    _left(["diagnose", str(fit.save(tmp_path / "out")), "--plots", str(tmp_path / "plots")])
    assert "zh (floor)" in capsys.readouterr().out
    assert len({p.name.partition("_")[0] for p in (tmp_path / "plots").iterdir()}) == len(SAMPLED)


def test_an_interrupted_run_keeps_the_plain_posterior_and_goes_on_with_the_floor(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from maskedadv.sampling import locales as nuts_run

    csv, out = tmp_path / "t.csv", tmp_path / "out"
    table.to_csv(csv, index=False)
    sample = nuts_run.sample_locale

    def breaks(task, progress):  # type: ignore[no-untyped-def]
        if task.chance is not None:
            raise KeyboardInterrupt
        return sample(task, progress)

    monkeypatch.setattr(nuts_run, "sample_locale", breaks)
    assert _left(["fit", str(csv), "-o", str(out), *OPTIONS]) != 0
    assert not out.exists()
    monkeypatch.setattr(nuts_run, "sample_locale", sample)
    capsys.readouterr()
    assert _left(["fit", str(csv), "-o", str(out), *OPTIONS]) == 0
    said = capsys.readouterr().err
    assert "zh: kept from the earlier run" in said
    assert "zh, floor: kept" not in said
    assert maskedadv.load(out).variants == VARIANTS


def test_a_variant_without_any_known_gap_is_not_summed_up(table: pd.DataFrame):
    """At 98% guessing nobody is above chance, and 0 of 0 are not a finding."""
    fit = maskedadv.fit(table, guessing=0.98, **{**QUICK, "warmup": 30, "draws": 20})
    assert fit.gaps(variant="floor")["estimate"].isna().all()
    assert "floor: no knowledge gap is known under it." in read_variants(fit)


def test_a_floor_needs_right_and_wrong():
    with pytest.raises(BadSetting, match="response 'binary' only"):
        maskedadv.fit(simulate.table(2, (5, 5)), method="nuts", response="crm", guessing="chance")


def test_the_correlation_beside_a_link_is_that_of_the_models(fit: Fit):
    """Not the population's, which the LKJ prior draws to zero with nine models."""
    ability = (
        fit.posteriors["plain"]["zh"].tree()["posterior"].to_dataset()["ability"].sel(query="pivot").values
    )
    draws = ability.reshape(-1, *ability.shape[2:])
    wanted = np.mean([np.corrcoef(d[:, 0], d[:, 1])[0, 1] for d in draws])
    assert fit.links().set_index("variant").loc["linked", "correlation"] == pytest.approx(wanted)
