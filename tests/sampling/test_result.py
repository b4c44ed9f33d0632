"""NUTS through `maskedadv.fit` and the command line: results, files, resuming, interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import maskedadv
from maskedadv.cli.main import main
from maskedadv.errors import BadSetting, NotAResult, OutputExists
from maskedadv.result.draws import file_names
from maskedadv.result.fit_result import Fit
from tests import simulate
from tests.interrupting import interrupt_after, start
from tests.monte_carlo import assert_moments

QUICK = {"method": "nuts", "warmup": 60, "draws": 40, "chains": 2, "min_accuracy": 0.0, "variants": "none"}
OPTIONS = [
    "--method",
    "nuts",
    "--warmup",
    "60",
    "--draws",
    "40",
    "--chains",
    "2",
    "--min-accuracy",
    "0",
    "--variants",
    "none",
]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    table = simulate.table(3, (15, 12), locales=("zh", "no/../x"), missing=0.1, seed=2)
    table["model"] = table["model"].replace({"m0": "chain", "m1": "NA", "m2": "模型 $x$"})
    lacks = (table["model"] == "NA") & (table["language"] == "zh") & (table["subset"] == "CS")
    return table[~lacks]


@pytest.fixture(scope="module")
def fit(table: pd.DataFrame) -> Fit:
    return maskedadv.fit(table, **QUICK)


def test_estimates_are_summaries_of_the_draws(fit: Fit):
    draws = fit.draws("knowledge_gap")
    assert draws.dims == ("locale", "chain", "draw", "model")
    assert draws.shape == (2, 2, 40, 3)
    cube = fit.cube.sel(gap="knowledge_gap", variant="plain")
    np.testing.assert_allclose(draws.mean(("chain", "draw")), cube["estimate"], atol=1e-12)
    np.testing.assert_allclose(draws.std(("chain", "draw"), ddof=1), cube["sd"], atol=1e-12)
    np.testing.assert_allclose(draws.quantile(0.025, ("chain", "draw")), cube["lower"], atol=1e-12)
    positive = (draws > 0).mean(("chain", "draw")).where(np.isfinite(cube["estimate"]))
    np.testing.assert_allclose(positive, cube["p_positive"], atol=1e-12)
    ability = fit.draws("ability")
    gap = ability.sel(query="local") - ability.sel(query="pivot")
    both = gap.sel(subset="CS") - gap.sel(subset="CA")
    np.testing.assert_allclose(both.where(np.isfinite(draws)), draws, atol=1e-9)
    means = fit.means(gap="knowledge_gap").set_index("locale")
    mean = draws.mean("model").mean(("chain", "draw"))
    np.testing.assert_allclose(means["estimate"], mean.sel(locale=means.index.to_numpy()), atol=1e-12)


def test_a_missing_cell_has_no_gap_but_its_model_is_used(fit: Fit):
    gaps = fit.gaps(locale="zh", model="NA").set_index("gap")
    assert np.isfinite(gaps.loc["global_gap", "estimate"])
    assert np.isnan(gaps.loc["local_gap", "estimate"])
    assert gaps.loc["knowledge_gap", "note"] == "no answers in CS zh"
    assert np.isnan(fit.draws("local_gap").sel(locale="zh", model="NA")).all()


def test_difficulties_sum_to_zero_in_every_draw_and_subset(fit: Fit):
    posterior = fit.posteriors["plain"]["zh"].tree()["posterior"].to_dataset()
    for subset in ("CA", "CS"):
        total = posterior["difficulty"][..., posterior["item_subset"].values == subset].sum("item")
        np.testing.assert_allclose(total, 0.0, atol=1e-4)


def test_a_saved_result_is_the_same_and_opens_in_arviz(fit: Fit, tmp_path: Path):
    path = fit.save(tmp_path / "out")
    assert sorted(p.name for p in (path / "posterior" / "plain").iterdir()) == ["locale_0.nc", "zh.nc"]
    again = maskedadv.load(path)
    xr.testing.assert_identical(again.draws("global_gap"), fit.draws("global_gap"))
    xr.testing.assert_equal(again.cube, fit.cube)
    assert again.settings == fit.settings
    data = az.from_netcdf(path / "posterior" / "plain" / "zh.nc")
    groups = ["posterior", "sample_stats", "posterior_predictive", "observed_data", "constant_data"]
    assert all(hasattr(data, g) for g in groups)
    assert data.posterior["contrast"].dims == ("chain", "draw", "model", "gap")
    assert list(data.posterior["model"].values) == ["NA", "chain", "模型 $x$"]
    assert data.posterior.attrs["prior_gap"] == 1.5
    kept = data.posterior.to_dataset() if isinstance(data, xr.DataTree) else data.posterior
    assert float(az.rhat(kept[["sigma_b"]])["sigma_b"].max()) < 2
    (path / "posterior" / "plain" / "zh.nc").unlink()
    with pytest.raises(NotAResult, match=r"lacks posterior/plain/zh\.nc"):
        maskedadv.load(path)


def test_damage_that_h5py_finds_is_told_in_words(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A flipped bit in a file's structure ends in a RuntimeError of h5py's."""
    path = fit.save(tmp_path / "out")
    loaded = maskedadv.load(path)

    def damaged(*_: object, **__: object) -> None:
        raise RuntimeError("incorrect metadata checksum")

    monkeypatch.setattr(xr, "open_datatree", damaged)
    monkeypatch.setattr(xr, "open_dataset", damaged)
    for read in (
        loaded.posteriors["plain"]["zh"].tree,
        lambda: loaded.draws("ability"),
        lambda: maskedadv.load(path),
    ):
        with pytest.raises(NotAResult, match="incorrect metadata checksum"):
            read()


def test_observed_and_replicated_totals_have_one_form(fit: Fit, table: pd.DataFrame):
    tree = fit.posteriors["plain"]["zh"].tree()
    rows = table[(table["language"] == "zh") & (table["subset"] == "CA")]
    total = rows.groupby("model")["correct"].agg(["sum", "count"])
    at = {"subset": "CA", "query": "local"}
    observed = tree["observed_data"].to_dataset()["cell_total"].sel(at)
    np.testing.assert_array_equal(observed, total["sum"])
    np.testing.assert_array_equal(tree["constant_data"].to_dataset()["cell_answers"].sel(at), total["count"])
    rep = tree["posterior_predictive"].to_dataset()["cell_total"].sel(at)
    assert (rep <= total["count"].to_numpy()).all()
    # Drawn towards the other models' by the prior, by less than half a standard deviation of a replicate.
    assert_moments(rep.transpose("chain", "draw", "model"), mean=observed, slack=0.5)


def test_jobs_and_the_choice_of_locales_change_no_draw(table: pd.DataFrame, fit: Fit):
    """Two processes at once, and a run of one locale alone, give the draws of the run one after the other."""
    lines: list[str] = []
    two = maskedadv.fit(table, **QUICK, jobs=2, progress=lines.append)
    xr.testing.assert_identical(two.draws("ability"), fit.draws("ability"))
    assert [line for line in lines if line.startswith("zh: chain 2: ")]
    alone = maskedadv.fit(table, **QUICK, locale="zh")
    np.testing.assert_array_equal(alone.draws("ability")[0], fit.draws("ability").sel(locale="zh"))
    other = maskedadv.fit(table, **QUICK, locale="zh", seed=2)
    assert not np.array_equal(other.draws("ability"), alone.draws("ability"))


def test_priors_are_read_and_reach_the_program(table: pd.DataFrame):
    tight = maskedadv.fit(table, **QUICK, locale="zh", priors={"gap": 0.01, "spread": 0.01})
    assert abs(tight.gaps(gap="global_gap")["estimate"]).max() < 0.3
    assert tight.settings.priors["gap"] == 0.01
    with pytest.raises(BadSetting, match="prior 'gaps' is unknown; there are level, gap"):
        maskedadv.fit(table, **QUICK, priors={"gaps": 1.0})
    with pytest.raises(BadSetting, match=r"prior gap must lie between 0\.001 and 1000 \(is -1"):
        maskedadv.fit(table, **QUICK, priors={"gap": -1.0})


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"response": "soft"}, "quasi-likelihood"),
        ({"scope": "joint"}, "method 'optimize' only"),
        ({"interval": "robust"}, "method 'optimize' only"),
        ({"draws": 3}, "draws must be a whole number from 4"),
        ({"chains": 0}, "chains must be a whole number from 1"),
        ({"adapt_delta": 1.0}, "adapt_delta must lie between 0 and 1"),
        ({"metric": "dense"}, "metric must be one of"),
    ],
)
def test_settings_that_cannot_be_are_refused(table: pd.DataFrame, setting: dict, words: str):
    with pytest.raises(BadSetting, match=words):
        maskedadv.fit(table, **(QUICK | setting))


def test_draws_of_an_optimised_result_are_refused():
    with pytest.raises(BadSetting, match="has no draws; fit with method 'nuts'"):
        maskedadv.fit(simulate.table(), estimator="marginal").draws("global_gap")


def test_file_names_are_safe_and_distinct():
    assert file_names(["zh", "zh-floor"])["zh-floor"] == "locale_1.nc"  # zh-floor_rank.png is zh's
    names = file_names(["zh", "ZH", "pt-BR", "con", "a/b", "..", "", "é", "a b"])
    assert names["zh"] == "zh.nc"
    assert names["pt-BR"] == "pt-BR.nc"
    assert len({n.casefold() for n in names.values()}) == len(names)
    for hostile in ("ZH", "con", "a/b", "..", "", "é", "a b"):
        assert names[hostile].startswith("locale_")


# --- the command line ---------------------------------------------------------------------------


def _run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


@pytest.fixture
def csv(table: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    return path


def test_fit_diagnose_and_rerun(csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out"
    assert _run(["fit", str(csv), "-o", str(out), *OPTIONS, "--prior", "gap=1"]) == 0
    said = capsys.readouterr()
    assert "95% posterior intervals" in said.out
    assert "zh: chain 1: 100 of 100 (sampling)" in said.err
    assert not list(tmp_path.glob("*.unfinished"))
    assert _run(["fit", str(csv), "-o", str(out), *OPTIONS, "--prior", "gap=1"]) == 0
    assert "already holds this very run" in capsys.readouterr().err
    assert _run(["fit", str(csv), "-o", str(out), *OPTIONS]) == 2
    capsys.readouterr()
    assert _run(["diagnose", str(out), "--json", "--plots", str(tmp_path / "plots")]) in (0, 3)
    rows = json.loads(capsys.readouterr().out)
    assert [r["locale"] for r in rows] == ["no/../x", "zh"]
    assert {r["verdict"] for r in rows} <= {"look", "do not use"}  # 80 draws cannot be fine
    assert len(list((tmp_path / "plots").glob("*.png"))) == 6


def test_an_interrupt_leaves_whole_locales_and_the_same_command_completes(csv: Path, tmp_path: Path):
    out, folder = tmp_path / "out", tmp_path / "out.unfinished"
    command = [sys.executable, "-m", "maskedadv", "fit", str(csv), "-o", str(out), *OPTIONS]
    command[command.index("--draws") + 1] = "1500"
    for jobs in ("1", "2"):
        process = start([*command, "--jobs", jobs])
        rest = interrupt_after(process, "chain 1")
        assert process.returncode == 130, rest
        assert "nothing half-written" in rest
        assert not out.exists()
        assert not [p for p in tmp_path.rglob("*") if p.name.startswith(".") and p.suffix != ".json"]
    # One locale finished, then killed: the finished one is kept and not sampled again.
    process = start(command)
    rest = interrupt_after(process, "zh: chain 1")
    assert process.returncode == 130
    assert "1 finished locales are kept" in rest
    assert [p.name for p in (folder / "plain").glob("*.nc")] == ["locale_0.nc"]
    before = (folder / "plain" / "locale_0.nc").stat().st_mtime_ns
    refused = subprocess.run([*command, "--seed", "9"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "another, interrupted run" in refused.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no/../x: kept from the earlier run" in done.stderr
    assert (out / "posterior" / "plain" / "locale_0.nc").stat().st_mtime_ns == before
    assert not folder.exists()


def test_workers_end_with_their_parent_run(csv: Path, tmp_path: Path):
    """After an interrupt with --jobs no worker goes on computing."""
    command = [sys.executable, "-m", "maskedadv", "fit", str(csv), "-o", str(tmp_path / "o"), *OPTIONS]
    command[command.index("--draws") + 1] = "200000"
    process = start([*command, "--jobs", "2"])
    assert process.stderr is not None
    for line in process.stderr:
        if "chain 1" in line:
            break
    workers = _children(process.pid)
    assert len(workers) >= 1
    interrupt_after(process, "chain")
    assert process.returncode == 130
    time.sleep(0.3)
    assert not [w for w in workers if _alive(w)]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_polite_kill_ends_the_sampling(csv: Path, tmp_path: Path, jobs: int):
    """A batch system sends SIGTERM; inside a native call Python would swallow what the handler raises."""
    command = [sys.executable, "-m", "maskedadv", "fit", str(csv), "-o", str(tmp_path / "o"), *OPTIONS]
    command[command.index("--draws") + 1] = "200000"
    process = start([*command, "--jobs", str(jobs)])
    assert process.stderr is not None
    for line in process.stderr:
        if "(sampling)" in line:
            break
    process.send_signal(signal.SIGTERM)
    try:
        rest = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 143
    assert "Traceback" not in rest
    assert not list(tmp_path.rglob("*.nc*"))


def _children(parent: int) -> list[int]:
    out = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            out.append(int(stat.parent.name))
    if not out and not Path("/proc").is_dir():
        pytest.skip("no /proc here")
    return out


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_overwriting_an_interrupted_run_drops_it(csv: Path, tmp_path: Path):
    folder = tmp_path / "out.unfinished"
    (folder / "plain").mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    (folder / "plain" / "zh.nc").write_text("rubbish")
    table = maskedadv.read_responses(str(csv))
    from maskedadv.result.unfinished import open_unfinished
    from maskedadv.settings import Settings

    settings = Settings(method="nuts")
    with pytest.raises(OutputExists, match="interrupted run"):
        open_unfinished(tmp_path / "out", table.fingerprint, settings, "e", overwrite=False)
    open_unfinished(tmp_path / "out", table.fingerprint, settings, "e", overwrite=True)
    assert [p.name for p in folder.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "left", [[], [".run.json.1.2.partial"], ["run.json"], ["run.json", ".zh.nc.1.2.partial"]]
)
def test_a_run_killed_before_it_finished_a_locale_is_in_nobodys_way(tmp_path: Path, left: list[str]):
    from maskedadv.result.unfinished import open_unfinished
    from maskedadv.settings import Settings

    folder = tmp_path / "out.unfinished"
    folder.mkdir()
    for name in left:
        (folder / name).write_text("{}")
    assert open_unfinished(tmp_path / "out", "f", Settings(method="nuts"), "e", overwrite=False) == folder
    assert [p.name for p in folder.iterdir()] == ["run.json"]
    assert json.loads((folder / "run.json").read_text())["engine"] == "e"


def test_a_damaged_file_of_an_interrupted_run_is_sampled_again(
    csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """After a power cut a file can be whole by name and empty; the same command must still complete."""
    from maskedadv.sampling import locales as nuts_run

    out, sample = tmp_path / "out", nuts_run.sample_locale

    def breaks(task, progress):  # type: ignore[no-untyped-def]
        if task.layout.locale == "zh":
            raise KeyboardInterrupt
        return sample(task, progress)

    monkeypatch.setattr(nuts_run, "sample_locale", breaks)
    assert _run(["fit", str(csv), "-o", str(out), *OPTIONS]) == 130
    kept = tmp_path / "out.unfinished" / "plain" / "locale_0.nc"
    kept.write_bytes(kept.read_bytes()[:2000])
    monkeypatch.setattr(nuts_run, "sample_locale", sample)
    capsys.readouterr()
    assert _run(["fit", str(csv), "-o", str(out), *OPTIONS]) == 0
    assert "no/../x: the file of the earlier run is damaged; sampled again" in capsys.readouterr().err
    assert maskedadv.load(out).draws("ability").shape == (2, 2, 40, 3, 2, 2)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_somebody_laid_where_locales_are_kept_stays(
    csv: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
):
    place = tmp_path / "out.unfinished"
    if what == "folder":
        place.mkdir()
    mine = place / "notes.txt" if what == "folder" else place
    mine.write_text("mine")
    assert _run(["fit", str(csv), "-o", str(tmp_path / "out"), *OPTIONS, "--overwrite"]) == 2
    assert "holds something else" in capsys.readouterr().err
    assert mine.read_text() == "mine"


def test_a_name_too_long_for_the_unfinished_folder_is_refused(csv: Path, tmp_path: Path, capsys):
    assert _run(["fit", str(csv), "-o", str(tmp_path / ("o" * 250)), *OPTIONS]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_priors_that_contradict_or_are_no_names_are_refused(csv: Path, tmp_path: Path, capsys):
    both = ["--prior", "gap=1", "--prior", " gap=2"]
    assert _run(["fit", str(csv), "-o", str(tmp_path / "o"), *OPTIONS, *both]) == 2
    assert "--prior gap is given twice" in capsys.readouterr().err
    for given in (["gap"], "gap=1", 5):
        with pytest.raises(BadSetting, match="priors must be names with numbers"):
            maskedadv.fit(simulate.table(), method="nuts", priors=given)  # type: ignore[arg-type]
    from maskedadv.sampling.priors import make_priors

    assert make_priors({"gap": np.float32(2), "level": np.int64(3)}).level == 3.0


def test_marginal_gives_way_to_joint_where_holes_make_it_dear_and_says_so():
    holes = simulate.table(8, (60, 50), missing=0.3, seed=1)
    fit = maskedadv.fit(holes, **QUICK, estimator="marginal")
    assert {b["estimator"] for b in fit.info.blocks} == {"joint"}
    assert [w for w in fit.warnings if "too many patterns of missing answers for marginal in zh" in w]
    whole = maskedadv.fit(simulate.table(1, (6, 5), seed=1), **QUICK, estimator="marginal")
    assert {b["estimator"] for b in whole.info.blocks} == {"marginal"}


def test_cells_without_a_finite_maximum_are_named():
    table = simulate.table(3, (15, 12), seed=2)
    table.loc[(table["model"] == "m1") & (table["subset"] == "CA"), "correct"] = 1
    fit = maskedadv.fit(table, **QUICK)
    assert np.isfinite(fit.gaps(model="m1")["estimate"]).all()
    assert [w for w in fit.warnings if w.startswith("2 cells are all right or all wrong")]
