"""The commands as they are typed: items, prompts, and from items to gaps."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.responses import read_responses
from maskedadv.words.terminal import display_width
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import run, score


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_check_lists_what_is_wrong_within_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_item_file(tmp_path / "set.jsonl")
    rows = rows_of(path)
    rows[0]["answer"] = "B"  # A in Chinese
    rows[1]["options"] = ["so long an option that its line does not fit a terminal of any usual width"] * 2
    rows[2]["question"] = "hidden\u200f"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert run("items", "check", path) == 2
    printed = capsys.readouterr().out
    assert max(map(display_width, printed.splitlines())) <= 80
    assert "right option differs between languages: 1\n  CA-0: zh A; the others B" in printed
    assert "two equal options: 1\n" in printed
    assert "hidden characters: 1\n  CA-2 [en]: U+200F" in printed
    assert run("items", "check", path, "--json") == 2
    found = json.loads(capsys.readouterr().out)
    kinds = {(p["kind"], p["item"]) for p in found["problems"]}
    assert ("right option differs between languages", "CA-0") in kinds
    assert {"language": "zh", "subset": "CS", "count": 6} in found["items"]


def test_check_fails_where_scoring_would_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_item_file(tmp_path / "set.jsonl")
    rows = rows_of(path)
    rows[0]["answer"] = "B"  # differs between languages: told, and no reason to refuse
    path.write_text("\n".join(map(json.dumps, rows)))
    assert run("items", "check", path) == run("items", "check", path, "--json") == 0
    assert "right option differs" in capsys.readouterr().out
    rows[1]["options"] = ["same", "same"]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert run("items", "check", path) == run("items", "check", path, "--json") == 2
    assert run("score", "run", path, "-m", tmp_path / "none", "-o", tmp_path / "out") == 2
    assert "1 items cannot be asked" in " ".join(capsys.readouterr().err.split())


def test_real_items_are_checked_by_the_command(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shared / "data" / "global_mmlu_lite_items.jsonl"
    assert run("items", "check", path, "--limit", 0) == 2  # some have equal options or hidden characters
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("right option differs between languages: 7") + 1
    assert all(line.startswith("  high_school_world_history/test/") for line in lines[begin : begin + 7])
    assert all(": zh " in line for line in lines[begin : begin + 7])


def test_convert_maps_columns_cleans_and_never_overwrites_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "mine.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "frage", "option_a", "option_b", "gold", "kind"])
        writer.writerow(["007", "Wer?\u200e", "a", "b", "2", "CS"])
    columns = {"item": "nr", "question": "frage", "answer": "gold", "subset": "kind"}
    mapping = [x for name, column in columns.items() for x in ("--column", f"{name}={column}")]
    command = ["items", "convert", tmp_path / "mine.csv", "--language", "de", "-o", tmp_path / "mine.jsonl"]
    assert run(*command, *mapping, "--clean") == 0
    assert "1 items written" in capsys.readouterr().out
    (row,) = rows_of(tmp_path / "mine.jsonl")
    assert (row["item"], row["question"], row["answer"]) == ("007", "Wer?", "B")
    assert run(*command, *mapping) == 2
    assert "exists" in capsys.readouterr().err
    assert run(*command, *mapping, "--overwrite") == 0
    assert rows_of(tmp_path / "mine.jsonl")[0]["question"] == "Wer?\u200e"


def test_sources_and_prompts_are_listed_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (("items", "sources"), ("prompts", "list")):
        assert run(*command) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) > 10
        assert max(map(display_width, lines)) <= 80
    assert run("prompts", "show", "--language", "zh") == 0
    printed = capsys.readouterr()
    assert printed.out == "问题：在中国，…?\nA. …\nB. …\nC. …\nD. …\n答案：\n"
    assert "hash " in printed.err
    assert run("prompts", "show", "--language", "xx") == 2
    assert "--prompts" in capsys.readouterr().err


def test_the_table_written_goes_through_check_and_fit_unchanged(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    other = tmp_path / "other"
    shutil.copytree(tiny_model, other)
    model = transformers.AutoModelForCausalLM.from_pretrained(other)
    with torch.no_grad():
        model.model.norm.weight.mul_(0.5)
    model.save_pretrained(other)
    items, out = write_item_file(tmp_path / "set.jsonl", count=40), tmp_path / "out"
    assert score(items, out, tiny_model, other) == 0
    table = out / "responses.parquet"
    capsys.readouterr()
    assert run("check", table, "--min-accuracy", 0) == 0
    assert "320 answers (binary) of 2 models in 2 languages" in capsys.readouterr().out
    assert score(items, out, tiny_model, other, more=("--partitioned",)) == 0  # of the answers that are kept
    names = {str(path.parent.relative_to(out / "responses")) for path in out.glob("responses/*/*/*.parquet")}
    languages = {name.split("/")[0] for name in names}
    assert len(languages) == 2
    assert len(names) == 4
    assert all(name.split("/")[1].startswith("model=") for name in names)
    assert read_responses(out / "responses").fingerprint == read_responses(table).fingerprint
    for response in ("binary", "crm"):
        fit = tmp_path / response
        assert run("fit", table, "-o", fit, "--min-accuracy", 0, "--response", response) == 0
        assert len(pd.read_csv(fit / "gaps.csv")) == 6
