"""`maskedadv annotation evaluate`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.cli.main import main
from maskedadv.words.terminal import display_width


def call(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """100 items with 63 unanimous, 32 two to one and 5 split three ways; a model; a mapping."""
    splits = ["none none none"] * 63 + ["cultural none cultural"] * 32 + ["cultural none regional"] * 5
    rows = [
        (f"i{k}", "da", a, label)
        for k, s in enumerate(splits)
        for a, label in zip("abc", s.split(), strict=True)
    ]
    humans = pd.DataFrame(rows, columns=["item", "language", "annotator", "required_knowledge"])
    humans.to_csv(tmp_path / "humans.csv", index=False)
    guesses = ["none"] * 60 + ["regional"] * 3 + ["cultural"] * 30 + ["none"] * 7
    llm = pd.DataFrame(
        {"item": [f"i{k}" for k in range(100)], "language": "da", "required_knowledge": guesses}
    )
    llm.assign(subject="history", subject_category=["humanities"] * 85 + ["other"] * 15).to_csv(
        tmp_path / "llm.csv", index=False
    )
    (tmp_path / "map.csv").write_text("subject,category\nhistory,humanities\n", "utf-8")
    return tmp_path


def test_everything_is_printed_in_80_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("annotation", "evaluate", folder / "humans.csv", "--llm", folder / "llm.csv")
    assert call(*arguments, "--mapping", folder / "map.csv", "-o", folder / "out") == 0
    shown = capsys.readouterr()
    assert max(map(display_width, shown.out.splitlines())) <= 80
    header, line = shown.out.splitlines()[1:3]
    assert header.split()[-3:] == ["3", "2/1", "1/1/1"]
    assert line.split()[-3:] == ["63", "32", "5"]
    line = next(line for line in shown.out.splitlines() if "94.7" in line)
    assert line.split()[:4] == ["all", "95", "5", "0"]  # evaluated, ties, no label
    assert line.rstrip().endswith("90.0")  # 90 of 100 with ties as errors
    assert "history" in shown.out
    assert {path.name for path in (folder / "out").iterdir()} == {
        "annotation.json", "agreement.csv", "patterns.csv", "scores.csv", "classes.csv", "confusion.csv",
        "mapping.csv",
    }  # fmt: skip


def test_json_and_overwriting(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("annotation", "evaluate", folder / "humans.csv", "--json", "-o", folder / "out")
    assert call(*arguments) == 0
    assert json.loads(capsys.readouterr().out)["agreement"][0]["unanimous"] == 0.63
    assert call(*arguments) == 0
    assert call(*arguments, "--seed", "2") == 2
    assert call(*arguments, "--seed", "2", "--overwrite") == 0


def test_bad_input_is_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("annotation", "evaluate", folder / "nowhere.csv") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert call("annotation", "evaluate", folder / "humans.csv", "--mapping", folder / "map.csv") == 2
    assert call("annotation", "evaluate", folder / "humans.csv", "--level", "95") == 2


def test_awkward_tables_print_in_80_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"i{k}", a, f"land {k % 40}") for k in range(80) for a in "abc"]
    pd.DataFrame(rows, columns=["item", "annotator", "country"]).to_csv(folder / "many.csv", index=False)
    pd.DataFrame(rows[::3], columns=["item", "annotator", "country"]).to_csv(
        folder / "guess.csv", index=False
    )
    many = (
        "annotation",
        "evaluate",
        folder / "many.csv",
        "--llm",
        folder / "guess.csv",
        "--field",
        "country",
    )
    assert call(*many) == 0
    (folder / "empty.csv").write_text("item,annotator,time_sensitive\n1,a,\n1,b,\n", "utf-8")
    assert call("annotation", "evaluate", folder / "empty.csv") == 0
    shown = capsys.readouterr().out
    assert max(map(display_width, shown.splitlines())) <= 80
    assert "40 labels: too many" in shown
    assert "no item has two labels" in shown


def test_what_the_user_laid_beside_the_results_stays(folder: Path) -> None:
    run = ("annotation", "evaluate", folder / "humans.csv", "-o", folder / "out", "--resamples", "100")
    assert call(*run) == 0
    (folder / "out" / "notes.txt").write_text("mine", "utf-8")
    assert call(*run, "--seed", "2", "--overwrite") == 0
    assert (folder / "out" / "notes.txt").read_text("utf-8") == "mine"


def test_ids_cannot_rewrite_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    language = "\u202e\x1b[31m" + "x" * 30
    rows = [(f"item {k} {'y' * 40}", language, a, "yes") for k in range(4) for a in "ab"]
    rows += [("other", "sv", "a", "no"), ("other", "sv", "b", "no")]
    humans = pd.DataFrame(rows, columns=["item", "language", "annotator", "time_sensitive"])
    humans.to_csv(folder / "odd.csv", index=False)
    humans.drop(columns="annotator").iloc[8:9].to_csv(folder / "odd_llm.csv", index=False)
    arguments = ("--llm", folder / "odd_llm.csv", "--resamples", "100")
    assert call("annotation", "evaluate", folder / "odd.csv", *arguments) == 0
    shown = capsys.readouterr()
    assert "only one label occurs" in shown.out
    assert "no row from the model" in shown.err
    for text in (shown.out, shown.err):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert max(map(display_width, text.splitlines())) <= 80
