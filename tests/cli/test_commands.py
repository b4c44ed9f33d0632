"""The commands as a user runs them: output, exit codes, nothing half-written."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.main import COMMANDS, main
from maskedadv.result.tables import COLUMNS
from maskedadv.words.terminal import display_width
from tests.conftest import ROOT
from tests.interrupting import interrupt_after, start
from tests.simulate import table


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "responses.csv"
    path.parent.mkdir()
    table(3, (60, 60), locales=("fr", "zh"), seed=5).to_csv(path, index=False)
    return path


def test_a_stream_without_a_buffer_stays_open_for_those_who_lent_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(tmp_path / "told", "wb", buffering=0) as raw:
        lent = io.TextIOWrapper(raw, "utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", lent)
        with pytest.raises(SystemExit):
            main(["no-command"])  # prints on standard error alone
        monkeypatch.undo()
        gc.collect()
        assert not raw.closed
        lent.write("more")
    assert (tmp_path / "told").read_text() == "more"


def narrow(text: str) -> bool:
    return all(display_width(line) <= 80 for line in text.splitlines())


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in COMMANDS:
        assert name in out
        code, text, _ = run(capsys, name, "--help")
        assert code == 0
        assert "Usage: maskedadv" in text


def test_check_reports_what_fit_will_find(capsys: pytest.CaptureFixture[str], csv: Path) -> None:
    code, out, err = run(capsys, "check", csv)
    assert code == 0
    assert err == ""
    assert narrow(out)
    assert "1,080 answers (binary) of 3 models in 3 languages" in out
    code, out, _ = run(capsys, "check", csv, "--json", "--locale", "zh")
    found = json.loads(out)
    blocks = {b["subset"]: b for b in found["blocks"]}
    fit = maskedadv.fit(csv, locale="zh")
    for row in fit.info.blocks:
        assert blocks[row["subset"]]["answers"] == row["answers"]
        assert blocks[row["subset"]]["uninformative"] == row["uninformative_items"]
    assert blocks["CA"]["items"] == blocks["CA"]["shared_items"] == 60
    assert len(found["cells"]) == 12


def test_check_and_fit_agree_on_locales_that_cannot_be_fitted(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(csv)
    frame["item"] = frame["item"].where(frame["language"] != "fr", "fr-" + frame["item"])
    frame.to_csv(csv, index=False)
    code, out, _ = run(capsys, "check", csv)
    assert code == 2
    assert "Locale fr cannot be fitted: no item is shared with en." in out
    code, _, err = run(capsys, "fit", csv, "-o", tmp_path / "out")
    assert code == 2
    assert "fr" in err
    assert not (tmp_path / "out").exists()
    code, _, _ = run(capsys, "fit", csv, "-o", tmp_path / "out", "--locale", "zh")
    assert code == 0


def test_fit_writes_a_folder_and_gaps_prints_it(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    out_folder = tmp_path / "a b" / "out"
    code, out, err = run(capsys, "fit", csv, "-o", out_folder, "--estimator", "marginal")
    assert code == 0
    assert narrow(out.replace(str(out_folder), "out"))
    assert "zh CS: 6 cells, 60 items" in err
    assert {p.name for p in out_folder.iterdir()} == {
        "fit.json",
        "cube.nc",
        "gaps.csv",
        "items.parquet",
        "links.csv",
        "uncertainty",
        "variants.csv",
    }
    assert [p.name for p in out_folder.parent.iterdir()] == ["out"]
    direct = maskedadv.fit(csv, estimator="marginal")
    pd.testing.assert_frame_equal(maskedadv.load(out_folder).gaps(), direct.gaps())
    code, out, _ = run(capsys, "gaps", out_folder)
    assert code == 0
    assert narrow(out)
    assert out.count("(mean of 3 models)") == 6
    for variant in ("plain", "paired"):
        out = run(capsys, "gaps", out_folder, "--variant", variant)[1]
        assert f"Tipping point ({variant})" in out
    code, out, _ = run(capsys, "gaps", out_folder, "--format", "csv", "--no-mean")
    printed = pd.read_csv(io.StringIO(out), keep_default_na=False)
    assert list(printed.columns) == list(COLUMNS)
    assert printed["estimate"].to_numpy() == pytest.approx(direct.gaps()["estimate"].to_numpy())
    code, out, _ = run(capsys, "gaps", out_folder, "--json", "--locale", "zh", "--gap", "local_gap")
    assert [(r["model"], r["gap"]) for r in json.loads(out)] == [
        ("m0", "local_gap"),
        ("m1", "local_gap"),
        ("m2", "local_gap"),
        ("(mean over models)", "local_gap"),
    ]
    code, out, _ = run(capsys, "gaps", out_folder, "--format", "markdown", "--model", "m1")
    lines = out.strip().splitlines()
    assert len({line.count("|") for line in lines}) == 1
    for wrong in (("--locale", "xx"), ("--model", "nobody")):
        code, _, err = run(capsys, "gaps", out_folder, *wrong)
        assert code == 2
        assert wrong[1] in err


def test_the_same_run_is_not_repeated_and_another_is_refused(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run(capsys, "fit", csv, "-o", out)[0] == 0
    stamp = (out / "fit.json").stat().st_mtime_ns
    code, text, err = run(capsys, "fit", csv, "-o", out)
    assert code == 0
    assert "already holds this very run" in err
    assert "Mean gaps" in text
    assert (out / "fit.json").stat().st_mtime_ns == stamp
    code, _, err = run(capsys, "fit", csv, "-o", out, "--estimator", "marginal")
    assert code == 2
    assert "--overwrite" in err
    assert (out / "fit.json").stat().st_mtime_ns == stamp
    assert run(capsys, "fit", csv, "-o", out, "--estimator", "marginal", "--overwrite")[0] == 0
    assert maskedadv.load(out).settings.estimator == "marginal"


def test_a_folder_of_something_else_is_never_touched(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter1.tex").write_text("years of work")
    code, _, err = run(capsys, "fit", csv, "-o", thesis, "--overwrite")
    assert code == 2
    assert "no maskedadv result" in err
    assert (thesis / "chapter1.tex").read_text() == "years of work"
    code, _, err = run(capsys, "fit", csv, "-o", thesis / "chapter1.tex")
    assert code == 2
    assert "is a file" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "nowhere.csv"],
        ["fit", "nowhere.csv", "-o", "out"],
        ["fit", "IN"],
        ["fit", "IN", "-o", "out", "--estimator", "mle"],
        ["fit", "IN", "-o", "out", "--level", "95"],
        ["fit", "IN", "-o", "out", "--pivot", "de"],
        ["fit", "IN", "-o", "out", "--engine", "cmdstan"],
        ["fit", "IN", "-o", "out", "--jobs", "0"],
        ["gaps", "nowhere"],
        ["gaps", "."],
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(
    capsys: pytest.CaptureFixture[str],
    csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "none"))
    code, out, err = run(capsys, *[str(csv) if a == "IN" else a for a in arguments])
    assert code == 2
    assert out == ""
    assert "Error" in err
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in"]


def test_answers_that_determine_nothing_leave_with_one(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(csv)
    frame["correct"] = 1
    frame.to_csv(csv, index=False)
    code, _, err = run(capsys, "fit", csv, "-o", tmp_path / "out")
    assert code == 1
    assert "no gap can be estimated" in err
    assert not (tmp_path / "out").exists()


def test_a_damaged_result_is_named(capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(capsys, "fit", csv, "-o", out)
    (out / "cube.nc").write_bytes(b"nothing")
    code, _, err = run(capsys, "gaps", out)
    assert code == 2
    assert "is damaged" in err


def test_hostile_ids_cannot_rewrite_the_terminal(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(csv)
    frame["model"] = frame["model"].map({"m0": "\x1b[2Jevil", "m1": "‮txet", "m2": "模" * 60 + "|a"})
    frame.to_csv(csv, index=False)
    code, out, _ = run(capsys, "fit", csv, "-o", tmp_path / "out", "--min-accuracy", "0")
    assert code == 0
    code, out, _ = run(capsys, "gaps", tmp_path / "out")
    assert "\x1b" not in out
    assert "‮" not in out
    assert narrow(out)
    code, out, _ = run(capsys, "gaps", tmp_path / "out", "--format", "markdown", "--no-mean")
    assert len({line.replace("\\|", "").count("|") for line in out.strip().splitlines()}) == 1


def test_doctor_computes_on_the_embedded_engine(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "none"))
    code, out, _ = run(capsys, "doctor", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["engines"]["embedded"]["works"]
    assert not found["engines"]["cmdstan"]["found"]
    assert "install_cmdstan" in found["engines"]["cmdstan"]["text"]
    code, out, _ = run(capsys, "doctor")
    assert "Cache folder" in out


def test_demo_tells_the_whole_story(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "demo", "--output", tmp_path / "demo")
    assert code == 0
    assert narrow(out.replace(str(tmp_path / "demo"), "demo"))
    demo = maskedadv.load(tmp_path / "demo")
    assert demo.headline == "paired"
    assert "Hausman's test" in out
    assert "s1.1-32B_1000, s1.1-32B_2000" in " ".join(out.split())
    gaps = demo.gaps(gap="knowledge_gap", variant="paired")
    clearly = int((gaps["lower"] > 0).sum())
    assert f"{clearly} of 36 clearly above zero" in " ".join(out.split())
    assert "one family" in out
    assert "Western" in out
    told = (ROOT / "README.md").read_text("utf-8")
    shown = [line for line in told.splitlines() if line.startswith(("locale  ", "sw  "))]
    assert len(shown) == 2
    assert set(shown) <= set(out.splitlines())
    assert len(out.splitlines()) <= 45, "one screen"
    assert "index.html in a browser" in out
    assert run(capsys, "demo", "--output", tmp_path / "demo")[0] == 0


def test_demo_names_the_command_of_its_own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maskedadv.cli.demo import _own_command

    here, other = tmp_path / "my env" / "bin", tmp_path / "other" / "bin"
    for folder in (here, other):
        folder.mkdir(parents=True)
        (folder / "maskedadv").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(here / "python"))
    monkeypatch.setenv("PATH", str(here))
    assert _own_command() == "maskedadv"
    monkeypatch.setenv("PATH", str(other))
    assert _own_command() == f"'{here / 'maskedadv'}'"
    monkeypatch.chdir(tmp_path)
    assert _own_command() == "'my env/bin/maskedadv'"
    (here / "maskedadv").unlink()
    assert _own_command() == f"'{here / 'python'}' -m maskedadv"


def test_import_is_light() -> None:
    code = "import sys, maskedadv; print(sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("torch", "arviz", "pandas", "xarray", "scipy", "plotnine", "cmdstanpy", "stanli"):
        assert f"'{heavy}'" not in done.stdout


def test_the_core_never_needs_torch(csv: Path) -> None:
    code = (
        f"import sys, maskedadv; maskedadv.fit({str(csv)!r});"
        "assert not {'torch', 'maskedadv.scoring', 'maskedadv.reports'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_leaves_nothing(tmp_path: Path, csv: Path) -> None:
    out = tmp_path / "results" / "out"
    out.parent.mkdir()
    command = f"fit {csv.name} --estimator marginal --interval bootstrap --replicates 100000 -o".split()
    process = start([sys.executable, "-m", "maskedadv", *command, str(out)], cwd=csv.parent)
    rest = interrupt_after(process, "replicate")
    assert process.returncode == 130
    assert "Interrupted" in rest
    assert "Traceback" not in rest
    assert list(out.parent.iterdir()) == []


def test_demo_never_replaces_somebodys_result(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(capsys, "fit", csv, "-o", out)
    before = (out / "fit.json").read_bytes()
    code, _, err = run(capsys, "demo", "-o", out)
    assert code == 2
    assert "already holds a result" in err
    assert (out / "fit.json").read_bytes() == before


def test_a_damaged_result_of_the_same_run_tells_the_way_out(
    capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(capsys, "fit", csv, "-o", out)
    (out / "cube.nc").unlink()
    code, _, err = run(capsys, "fit", csv, "-o", out)
    assert code == 2
    assert "--overwrite" in err
    assert run(capsys, "fit", csv, "-o", out, "--overwrite")[0] == 0


def test_gaps_repeats_the_warnings(capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path) -> None:
    run(capsys, "fit", csv, "-o", tmp_path / "out")
    _, out, err = run(capsys, "gaps", tmp_path / "out")
    assert "inflates gaps" in err
    assert "95% robust intervals" in out.splitlines()[0]
    assert narrow(err)


def test_a_terminal_without_the_letters_does_not_stop_the_work(csv: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(csv)
    frame["model"] = frame["model"].replace({"m0": "模型🙂"})
    frame.to_csv(csv, index=False)
    done = subprocess.run(
        [sys.executable, "-m", "maskedadv", "fit", str(csv), "-o", str(tmp_path / "out")],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_check_says_no_where_fit_will(capsys: pytest.CaptureFixture[str], csv: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(csv)
    frame["correct"] = 1
    frame.to_csv(csv, index=False)
    code, out, _ = run(capsys, "check", csv)
    assert code == 2
    assert "determine no gap" in out
    assert run(capsys, "fit", csv, "-o", tmp_path / "out")[0] == 1
    for bad in ("nan", "7", "-1"):
        assert run(capsys, "check", csv, "--min-accuracy", bad)[0] == 2
