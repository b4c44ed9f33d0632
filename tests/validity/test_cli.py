"""`maskedadv validity run` and `check`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.cli.main import main
from maskedadv.words.terminal import display_width

CHOSEN = ("Skolprov", "SwedishFacts", "DanishCT")  # robust, null, marginal
FAST = ["--resamples", "200", "--repeats", "5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, simulated, aggregated: pd.DataFrame) -> Path:
    """A folder with a pairings file, a score table of accuracies and a model table."""
    folder = tmp_path_factory.mktemp("study with a space")
    aggregated.to_csv(folder / "scores.csv", index=False)
    simulated.models.to_csv(folder / "models.csv", index=False)
    lines = ['scores = "scores.csv"', 'models = "models.csv"']
    for pairing in (p for p in simulated.plan.pairings if p.name in CHOSEN):
        lines += [
            "[[pairing]]",
            *(f'{k} = "{getattr(pairing, k)}"' for k in ("name", "language", "native", "proxy")),
        ]
        lines += ['extra_controls = ["mmlu@en"]', f"open_ended = {str(pairing.open_ended).lower()}"]
    (folder / "pairings.toml").write_text("\n".join(lines), "utf-8")
    return folder


def call(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


def test_run_prints_classes_and_writes_every_table(
    folder: Path, tmp_path: Path, simulated, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert call("validity", "run", folder / "pairings.toml", "-o", out, *FAST) == 0
    shown = capsys.readouterr()
    assert max(display_width(line) for line in shown.out.splitlines()) <= 80
    for name, built in ((name, simulated.truth[name]) for name in CHOSEN):
        (line,) = [line for line in shown.out.splitlines() if line.startswith(name + " ")]
        assert line.split()[-1] == built
    numbered = {path.stem.split("_")[0] for path in out.glob("table*.csv")}
    assert numbered == {f"table{n:02d}" for n in (5, 6, 7, 25, 26, 27, 28, 29, 30, 31)} | {
        f"table27{letter}" for letter in "bcd"
    }
    assert {path.stem for path in out.glob("table*.tex")} == {path.stem for path in out.glob("table*.csv")}
    assert (out / "figure1.svg").is_file()
    assert "Wrote" in shown.err


def test_tables_on_disk_are_the_numbers_of_the_study(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    call("validity", "run", folder / "pairings.toml", "-o", out, *FAST)
    content = json.loads((out / "validity.json").read_text("utf-8"))
    # "null" is a class, not a missing value
    table = pd.read_csv(out / "table06_incremental.csv", keep_default_na=False).set_index("pairing")
    assert table["p_f"].min() < 1e-6  # small enough for a fixed number of decimals to lose digits
    for row in content["evidence"]:
        assert table.loc[row["pairing"], "p_f"] == row["p_f"]
        assert table.loc[row["pairing"], "evidence"] == row["evidence"]
    assert pd.read_csv(out / "table31_leave_one_family_out.csv").groupby(
        "pairing"
    ).size().unique().tolist() == [17]
    assert pd.read_csv(out / "leave_one_model_out.csv").groupby("pairing").size().unique().tolist() == [29]
    assert table["n_models"].tolist() == [29] * 3


def test_an_output_folder_is_kept_unless_it_is_the_same_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("validity", "run", folder / "pairings.toml", "-o", out, *FAST)
    assert call(*arguments) == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert call(*arguments) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert call(*arguments, "--seed", "2") == 2
    assert "--overwrite" in capsys.readouterr().err
    assert call(*arguments, "--seed", "2", "--overwrite") == 0
    assert (out / "validity.json").read_bytes() != first["validity.json"]


def test_somebody_elses_folder_is_never_written(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "home"
    out.mkdir()
    (out / "thesis.txt").write_text("mine", "utf-8")
    assert call("validity", "run", folder / "pairings.toml", "-o", out, *FAST, "--overwrite") == 2
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_a_failure_leaves_nothing_behind(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maskedadv.reports import validity_page

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(validity_page, "write_tables", fail)
    assert call("validity", "run", folder / "pairings.toml", "-o", tmp_path / "out", *FAST) == 130
    assert {p.name for p in tmp_path.iterdir()} <= {"out.units"}  # what `maskedadv status out` tells


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validity", "run", folder / "pairings.toml", "--json", *FAST) == 0
    content = json.loads(capsys.readouterr().out)
    assert len(content["evidence"]) == 3


def test_check_says_what_is_there_and_what_is_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validity", "check", folder / "pairings.toml") == 0
    shown = capsys.readouterr().out
    assert max(map(display_width, shown.splitlines())) <= 80
    assert "340+60" in shown
    assert "no Block A for skolprov and mmlu" in shown
    assert call("validity", "check", folder / "pairings.toml", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["n_models"] == 29


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "nowhere.csv"], "nowhere.csv"),
        (["--scores", "ability"], "abilities"),
        (["--level", "95"], "level must lie between 0 and 1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    folder: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("validity", "run", folder / "pairings.toml", *arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_nothing_estimable_is_exit_code_1(folder: Path, tmp_path: Path, aggregated: pd.DataFrame) -> None:
    aggregated.assign(accuracy=0.5).to_csv(tmp_path / "flat.csv", index=False)
    out = tmp_path / "out"
    arguments = ("--table", tmp_path / "flat.csv", "-o", out, *FAST)
    assert call("validity", "run", folder / "pairings.toml", *arguments) == 1
    assert not out.exists()


def test_what_the_user_laid_beside_the_results_stays(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ("validity", "run", folder / "pairings.toml", "-o", out, *FAST)
    assert call(*run) == 0
    (out / "notes.txt").write_text("mine", "utf-8")
    assert call(*run, "--seed", "2", "--overwrite") == 0
    assert (out / "notes.txt").read_text("utf-8") == "mine"
    assert json.loads((out / "validity.json").read_text("utf-8"))["settings"]["seed"] == 2


def test_a_reliability_stated_twice_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [f"--reliability=proficiency={value}" for value in (0.9, 0.8)]
    assert call("validity", "run", folder / "pairings.toml", *both) == 2
    assert "'proficiency' twice" in capsys.readouterr().err
