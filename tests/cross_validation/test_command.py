"""`maskedadv compare`: table, folder, what a broken run leaves and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from maskedadv.cli.main import main
from maskedadv.cross_validation import load_comparison
from maskedadv.cross_validation import running as module
from maskedadv.cross_validation.kept import unfinished_folder
from tests.cross_validation.simulate import answers


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    answers(6, 20, locales=("fr", "zh")).to_csv(path, index=False)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as stopped:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


def test_table_and_folder(responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ("compare", responses, "--min-accuracy", 0, "--folds", 3, "-o", out)
    names = ("--candidate", "joint", "--candidate", "marginal", "--candidate", "crm")
    code, text, _ = run(capsys, *command, *names)
    assert code == 0
    assert all(len(line) <= 80 for line in text.splitlines())
    scores = load_comparison(out).scores
    best = scores["candidate"][0]
    shown = next(line for line in text.splitlines() if line.startswith(best)).split()
    assert shown[1] == f"{scores['bce'][0]:.4f}"[1:]
    assert load_comparison(out).predictions is None
    assert {p.name for p in out.iterdir()} == {
        "comparison.json",
        *(f"{name}.csv" for name in ("scores", "by_fold", "by_group", "calibration")),
    }
    assert not unfinished_folder(out).exists()

    code, again, err = run(capsys, *command, *names)
    assert (code, again) == (0, text)
    assert "nothing to do" in err
    code, _, err = run(capsys, *command, *names, "--seed", 2)
    assert code == 2
    assert "--overwrite" in err
    code, told, _ = run(capsys, *command, *names, "--seed", 2, "--overwrite", "--json", "--predictions")
    assert code == 0
    assert json.loads(told)["settings"]["seed"] == 2
    predictions = pd.read_parquet(out / "predictions.parquet")
    assert len(predictions) == json.loads(told)["answers"]


def test_an_interrupted_run_goes_on_where_it_stopped(
    responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    command = ("compare", responses, "--min-accuracy", 0, "--folds", 3, "-o", out, "--candidate", "marginal")
    whole = _calls(monkeypatch, stop_after=None)
    assert run(capsys, *command)[0] == 0
    expected = load_comparison(out)
    assert whole == [6], "two locales and three folds"
    fresh = tmp_path / "fresh"
    command = (*command[:7], fresh, *command[8:])
    _calls(monkeypatch, stop_after=4)
    code, _, err = run(capsys, *command)
    assert code == 130
    assert "4 finished folds are kept" in err
    assert not fresh.exists()
    damaged = sorted(unfinished_folder(fresh).glob("*.npz"))[0]
    damaged.write_bytes(damaged.read_bytes()[:40])
    code, _, err = run(capsys, *command, "--seed", 9)
    assert code == 2
    assert "interrupted comparison" in err
    rest = _calls(monkeypatch, stop_after=None)
    code, _, err = run(capsys, *command)
    assert code == 0
    assert "3 of 6 folds are kept" in err
    assert rest == [3], "the damaged one is done again"
    pd.testing.assert_frame_equal(load_comparison(fresh).by_fold, expected.by_fold)
    assert not unfinished_folder(fresh).exists()


def _calls(monkeypatch: pytest.MonkeyPatch, *, stop_after: int | None) -> list[int]:
    """Count folds that are fitted; after so many, the user's Ctrl-C."""
    count = [0]
    own = module.__dict__.get("_kept_unit", module._unit)
    monkeypatch.setitem(module.__dict__, "_kept_unit", own)

    def counted(*arguments: object) -> object:
        if stop_after is not None and count[0] == stop_after:
            raise KeyboardInterrupt
        count[0] += 1
        return own(*arguments)

    monkeypatch.setattr(module, "_unit", counted)
    return count


def test_a_folder_of_somebody_else_is_left_alone(
    responses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (tmp_path / "out.unfinished").mkdir()
    (tmp_path / "out.unfinished" / "thesis.txt").write_text("mine")
    code, _, err = run(capsys, "compare", responses, "-o", out, "--candidate", "joint", "--min-accuracy", 0)
    assert code == 2
    assert "thesis.txt" in err
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    code, _, err = run(capsys, "compare", responses, "-o", out, "--candidate", "joint", "--min-accuracy", 0)
    assert code == 2
    assert (out / "thesis.txt").read_text() == "mine"


def test_the_command_speaks_of_every_candidate() -> None:
    from maskedadv.cli.compare import command
    from maskedadv.cross_validation.candidates import NAMES

    found: Result = CliRunner().invoke(command, ["--help"])
    for name in NAMES:
        assert name in found.output
