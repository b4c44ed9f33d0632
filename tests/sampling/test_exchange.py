"""Out to CmdStan and back: the same draws give the same result as sampling here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maskedadv
from maskedadv.cli.main import main
from tests import simulate
from tests.engines import fake_cmdstan


def _left(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def _sample(folder: Path, out: Path, home: Path, *, chains: int = 2) -> list[Path]:
    """Run the exported program as a user would run CmdStan, one chain a command."""
    (program,) = folder.glob("*.stan")
    executable = folder / program.stem
    fake_cmdstan.build(str(home), str(program), str(executable))
    files = []
    for chain in range(1, chains + 1):
        files.append(out / f"chain_{chain}.csv")
        command = [executable, "id=" + str(chain), "random", "seed=7", "data", f"file={folder / 'data.json'}"]
        command += [f"init={folder / f'inits_{chain}.json'}", "output", f"file={files[-1]}", "method=sample"]
        command += ["num_samples=50", "num_warmup=80", "adapt", "delta=0.9", "max_depth=8", "metric=diag_e"]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return files


@pytest.mark.parametrize(
    ("models", "items", "program"), [(8, (120, 90), "posterior_marginal"), (1, (6, 5), "posterior_joint")]
)
def test_export_sample_import(
    tmp_path: Path, models: int, items: tuple[int, int], program: str, capsys: pytest.CaptureFixture[str]
):
    table = simulate.table(models, items, seed=3)
    csv = tmp_path / "table.csv"
    table.to_csv(csv, index=False)
    home = fake_cmdstan.install(tmp_path)
    options = ["--locale", "zh", "--min-accuracy", "0", "--prior", "gap=1.2"]
    assert _left(["export-stan", str(csv), "-o", str(tmp_path / "stan"), *options, "--chains", "2"]) == 0
    folder = tmp_path / "stan" / "zh"
    assert {p.name for p in folder.iterdir()} == {
        "data.json",
        f"{program}.stan",
        "inits_1.json",
        "inits_2.json",
    }
    assert json.loads((folder / "data.json").read_text())["prior_gap"] == 1.2
    files = _sample(folder, tmp_path, home)
    out = tmp_path / "out"
    assert _left(["import-stan", str(csv), *map(str, files), "-o", str(out), *options]) == 0
    result = maskedadv.load(out)
    assert result.settings.chains == 2
    assert result.settings.draws == 50
    assert result.settings.max_treedepth == 8
    tree = result.posteriors["plain"]["zh"].tree()
    assert tree.attrs["program"] == program
    assert tree.attrs["inference_library"] == "CmdStan 2.36.0, imported"
    assert result.info.engine == "CmdStan 2.36.0, imported"
    # gaps do not depend on where the difficulties are drawn back
    rows = np.genfromtxt(
        [line for line in files[1].read_text().splitlines() if not line.startswith("#")],
        delimiter=",",
        names=True,
    )
    drawn = result.draws("knowledge_gap").sel(locale="zh", model="m0", chain=1)
    np.testing.assert_allclose(drawn, rows["contrast13"], atol=1e-9)
    capsys.readouterr()

    other = tmp_path / "other.csv"
    simulate.table(models + 1, items, seed=3).to_csv(other, index=False)
    assert _left(["import-stan", str(other), str(files[0]), "-o", str(tmp_path / "o2"), *options]) == 2
    assert "holds draws of another table: 'ability'" in capsys.readouterr().err
    broken = tmp_path / "broken.csv"
    broken.write_text("lp__,x\n1,2\n")
    assert _left(["import-stan", str(csv), str(broken), "-o", str(tmp_path / "o3"), *options]) == 2
    assert "not Stan CSV files" in capsys.readouterr().err
    assert not (tmp_path / "o3").exists()


def test_draws_of_other_answers_priors_or_programs_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Shapes alone would not tell: the other table has the same models and items."""
    table = simulate.table(4, (60, 50), seed=3)
    table["n_options"] = 4
    table["p_correct"] = 0.2 + 0.6 * table["correct"]
    csv, other = tmp_path / "table.csv", tmp_path / "other.csv"
    table.to_csv(csv, index=False)
    changed = table.copy()
    flipped = changed.index[(changed["language"] == "zh") & (changed["model"] == "m0")][:6]
    changed.loc[flipped, "correct"] = 1 - changed.loc[flipped, "correct"]
    changed.to_csv(other, index=False)
    home = fake_cmdstan.install(tmp_path)
    options = ["--locale", "zh", "--min-accuracy", "0"]
    assert _left(["export-stan", str(csv), "-o", str(tmp_path / "stan"), *options]) == 0
    (tmp_path / "floor").mkdir()
    plain = _sample(tmp_path / "stan" / "zh", tmp_path, home)
    renamed = tmp_path / "stan" / "zh-floor" / "zh.stan"
    (tmp_path / "stan" / "zh-floor" / "posterior_guessing.stan").rename(renamed)
    floor = _sample(tmp_path / "stan" / "zh-floor", tmp_path / "floor", home)

    def refused(source: Path, files: list[Path], *more: str) -> str:
        capsys.readouterr()
        out = ["-o", str(tmp_path / "refused"), *options, *more]
        assert _left(["import-stan", str(source), *map(str, files), *out]) == 2
        assert not (tmp_path / "refused").exists()
        return capsys.readouterr().err

    words = "of another table or of other options"
    assert words in refused(other, plain)
    assert words in refused(csv, plain, "--prior", "spread=2")
    assert words in refused(csv, floor)  # the floor's draws as plain ones, told by no name
    assert "has the same draws as one before it" in refused(csv, [plain[0], plain[0]])
    assert "give the --response" in refused(csv, plain, "--response", "crm")
    # Six digits, as old versions of CmdStan write them, are enough to know them.
    rounded = []
    for file in plain:
        lines = [
            line if line.startswith(("#", "lp__")) else ",".join(f"{float(v):.6g}" for v in line.split(","))
            for line in file.read_text().splitlines()
        ]
        rounded.append(tmp_path / f"rounded_{file.name}")
        rounded[-1].write_text("\n".join(lines) + "\n")
    assert _left(["import-stan", str(csv), *map(str, rounded), "-o", str(tmp_path / "o"), *options]) == 0


def test_draws_of_pairs_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    csv = tmp_path / "table.csv"
    simulate.table(4, (60, 50), seed=4).to_csv(csv, index=False)
    home = fake_cmdstan.install(tmp_path)
    options = ["--locale", "zh", "--min-accuracy", "0"]
    assert _left(["export-stan", str(csv), "-o", str(tmp_path / "stan"), *options, "--chains", "2"]) == 0
    (tmp_path / "paired").mkdir()
    plain = _sample(tmp_path / "stan" / "zh", tmp_path, home)
    paired = _sample(tmp_path / "stan" / "zh-paired", tmp_path / "paired", home)
    more = [a for file in paired for a in ("--paired-csv", str(file))]
    out = ["-o", str(tmp_path / "out"), *options]
    assert _left(["import-stan", str(csv), *map(str, plain), *more, *out]) == 0
    result = maskedadv.load(tmp_path / "out")
    assert result.variants == ["plain", "paired"]
    assert result.posteriors["paired"]["zh"].tree().attrs["program"] == "posterior_paired"
    rows = np.genfromtxt(
        [line for line in paired[1].read_text().splitlines() if not line.startswith("#")],
        delimiter=",",
        names=True,
    )
    drawn = result.draws("knowledge_gap", variant="paired").sel(locale="zh", model="m0", chain=1)
    np.testing.assert_allclose(drawn, rows["contrast13"], atol=1e-9)
    capsys.readouterr()
    refused = ["-o", str(tmp_path / "refused"), *options]
    assert _left(["import-stan", str(csv), *map(str, paired), *refused]) == 2
    assert "--paired-csv" in capsys.readouterr().err
    swapped = [a for file in plain for a in ("--paired-csv", str(file))]
    assert _left(["import-stan", str(csv), *map(str, plain), *swapped, *refused]) == 2
    assert "draws of another table or of other options" in capsys.readouterr().err
    assert not (tmp_path / "refused").exists()


def test_an_export_leaves_nothing_of_an_earlier_one_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    csv, out = tmp_path / "t.csv", tmp_path / "stan"
    simulate.table(2, (5, 5)).to_csv(csv, index=False)
    command = ["export-stan", str(csv), "--min-accuracy", "0", "-o"]
    assert _left([*command, str(out), "--estimator", "marginal", "--chains", "3"]) == 0
    (out / "zh" / "zh_1.csv").write_text("mine")
    assert _left([*command, str(out), "--estimator", "joint", "--chains", "1"]) == 0
    wanted = ["data.json", "inits_1.json", "posterior_joint.stan", "zh_1.csv"]
    assert sorted(p.name for p in (out / "zh").iterdir()) == wanted
    assert _left([*command, str(csv)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_import_needs_one_locale(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    csv = tmp_path / "t.csv"
    simulate.table(2, (5, 5)).to_csv(csv, index=False)
    assert _left(["import-stan", str(csv), str(csv), "-o", str(tmp_path / "o")]) == 2
    assert "name the one locale" in capsys.readouterr().err


ARVIZ_1 = os.environ.get("MASKEDADV_ARVIZ1_PYTHON", "")


@pytest.mark.skipif(not ARVIZ_1, reason="MASKEDADV_ARVIZ1_PYTHON names no Python with ArviZ 1")
def test_arviz_one_opens_a_posterior_file(tmp_path: Path):
    """Set MASKEDADV_ARVIZ1_PYTHON to a Python 3.12 or later that has arviz 1, h5netcdf and h5py."""
    fit = maskedadv.fit(
        simulate.table(3, (15, 12), seed=1), method="nuts", warmup=50, draws=40, chains=2, min_accuracy=0
    )
    path = fit.save(tmp_path / "out") / "posterior" / "zh.nc"
    script = (
        "import sys, json, arviz as az\n"
        "t = az.from_netcdf(sys.argv[1])\n"
        "s = az.summary(t, var_names=['contrast'])\n"
        "mean = float(t['posterior']['contrast'].mean())\n"
        "print(json.dumps([az.__version__, list(t.children), len(s), mean]))\n"
    )
    python = shutil.which(ARVIZ_1) or ARVIZ_1
    assert python != sys.executable
    done = subprocess.run(
        [python, "-W", "ignore", "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    version, groups, rows, mean = json.loads(done.stdout)
    assert version.startswith("1.")
    assert set(groups) >= {"posterior", "sample_stats", "posterior_predictive", "observed_data"}
    assert rows == 9
    assert mean == pytest.approx(
        float(fit.posteriors["plain"]["zh"].tree()["posterior"]["contrast"].mean()), abs=1e-12
    )
