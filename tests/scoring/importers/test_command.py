"""`maskedadv import` as a user runs it: output, report, exit codes, and nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from maskedadv.cli.main import main
from maskedadv.datasets import global_mmlu_lite
from maskedadv.responses import read_responses

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = 0
        try:
            main([str(a) for a in arguments])
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_lm_eval(run, tmp_path, name):
    code, out, err = run("import", "lm-eval", LOGS / "lm_eval_0.4.13", "-o", tmp_path / name)
    assert code == 0
    assert "8 answers of 1 model from 2 logs" in out
    assert "4 not annotated CA or CS" in out
    assert "not mapped, left out: toy_digits, toy_gen, toy_mutual, toy_variable" in " ".join(err.split())
    table = read_responses(tmp_path / name)
    assert len(table.correct) == 8
    assert table.models.tolist() == ["org/tiny"]
    assert max(map(len, (out + err).replace(str(tmp_path / name), "").splitlines())) <= 80
    # Four items are too few to fit, but the table is one that `check` describes.
    assert "8 answers (binary) of 1 model in 2 languages" in run("check", tmp_path / name)[1]


def test_a_folder_holds_what_the_file_does_and_ctrl_c_still_ends_the_program(run, tmp_path):
    table = global_mmlu_lite()
    table.to_csv(tmp_path / "a.csv", index=False)
    before = signal.getsignal(signal.SIGINT)
    code, out, err = run("import", "table", tmp_path / "a.csv", "-o", tmp_path / "folder")
    assert (code, err) == (0, "")
    assert "16,800 answers of 6 models in 7 languages" in out
    assert signal.getsignal(signal.SIGINT) is before
    assert read_responses(tmp_path / "folder").fingerprint == read_responses(table).fingerprint
    assert {p.name for p in tmp_path.iterdir()} == {"a.csv", "folder"}


def test_report_as_json(run, tmp_path):
    arguments = ["import", "lm-eval", LOGS / "lm_eval_0.4.13" / "hf", "-o", tmp_path / "a.csv", "--json"]
    code, out, _ = run(*arguments)
    assert code == 0
    report = json.loads(out)
    assert [row["answers"] for row in report["counts"]] == [2, 2, 2, 2]
    assert report["dropped"][0]["reason"] == "not annotated CA or CS"
    assert {log["task"] for log in report["logs"]} == {"global_mmlu_en_toy", "global_mmlu_eu_toy"}


def test_output_is_never_replaced_without_being_asked(run, tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("mine", encoding="utf-8")
    code, _, err = run("import", "lm-eval", LOGS / "lm_eval_0.4.13", "-o", target)
    assert code == 2
    assert "--overwrite" in err
    assert target.read_text(encoding="utf-8") == "mine"
    assert run("import", "lm-eval", LOGS / "lm_eval_0.4.13", "-o", target, "--overwrite")[0] == 0
    assert "model,subset" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lm-eval", "nowhere", "-o", "a.csv"], "nowhere does not exist"),
        (["lm-eval", LOGS, "-o", "a.xlsx"], "ends in .parquet or .csv"),
        (["lm-eval", LOGS, "-o", "none/a.csv"], "folder none does not exist"),
        (["lm-eval", LOGS / "README.md", "-o", "a.csv"], "not a sample log"),
        (["lighteval", LOGS / "lighteval_0.13.0", "-o", "a.csv"], "not mapped"),
        (["inspect", LOGS / "README.md", "-o", "a.csv"], "ends in .eval or .json"),
        (["table", LOGS / "README.md", "-o", "a.csv"], "ends in .csv"),
        (["table", "nowhere.csv", "-o", "a.csv"], "nowhere.csv does not exist"),
        (["lm-eval", LOGS, "-o", "a.csv", "--map", "none.toml"], "give a TOML file"),
        (["lm-eval", LOGS, "-o", "a.csv", "--subset-from", "none.jsonl"], "none.jsonl does not exist"),
    ],
)
def test_refusals_leave_nothing_behind(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("import", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    assert list(tmp_path.iterdir()) == []


def test_labels_from_a_file_of_items(run, tmp_path):
    items = tmp_path / "items.jsonl"
    rows = [{"sample_id": f"toy/test/{i}", "label": "CS" if i == 2 else "-"} for i in range(6)]
    items.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, out, _ = run(
        "import", "lm-eval", LOGS / "lm_eval_0.4.13", "--subset-from", items, "-o", tmp_path / "a.parquet"
    )
    assert code == 0
    assert "10 answers" in out
    assert "2 not annotated" in out
    items.write_text("item,subset\ntoy/test/2,CA\ntoy/test/2,CS\n", encoding="utf-8")
    csv = items.rename(tmp_path / "items.csv")
    code, _, err = run(
        "import", "lm-eval", LOGS / "lm_eval_0.4.13", "--subset-from", csv, "-o", tmp_path / "b.csv"
    )
    assert code == 2
    assert "labelled both CA and CS" in err


def test_inspect_and_table(run, tmp_path):
    code, out, _ = run("import", "inspect", LOGS / "inspect_0.3.120", "-o", tmp_path / "a.csv")
    assert code == 0
    assert "8 answers of 1 model from 2 logs" in out
    code, out, _ = run("import", "table", tmp_path / "a.csv", "-o", tmp_path / "b.parquet")
    assert code == 0
    assert len(read_responses(tmp_path / "b.parquet").correct) == 8


def test_help_needs_neither_torch_nor_pandas():
    code = (
        "import sys; from maskedadv.cli.main import main\n"
        "try: main(['import', 'lm-eval', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'maskedadv.scoring.importers.lm_eval'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ("item,subset\na,CS\nb,XX\n", "row 2: the label 'XX' is neither CA nor CS; write one of them"),
        ("item,subset\na,CS\na,CA\n", "row 2: item 'a' is labelled both"),
    ],
)
def test_files_of_labels_that_are_wrong(run, tmp_path, content, message):
    labels = tmp_path / "labels.csv"
    if content is not None:
        labels.write_text(content, encoding="utf-8")
    logs = LOGS / "lm_eval_0.4.13" / "hf"
    code, _, err = run("import", "lm-eval", logs, "--subset-from", labels, "-o", tmp_path / "o.csv")
    assert code == 2
    assert message in " ".join(err.split())


def test_a_large_table_goes_into_a_folder_piece_by_piece(run, tmp_path):
    rows = [
        f"{model},{subset},{language},{subset}{i},{(i + len(model)) % 2}"
        for model in ("org/a", "b=c")
        for subset in ("CA", "CS")
        for language in ("en", "eu")
        for i in range(30)
    ]
    header = "model,subset,language,item,correct"
    source = tmp_path / "big.csv"
    source.write_text("\n".join([header, *rows, rows[7]]) + "\n", encoding="utf-8")
    code, out, err = run("import", "table", source, "-o", tmp_path / "parts", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["answers"], report["files"], report["repeated"]) == (240, 4, 1)
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert read_responses(tmp_path / "parts").fingerprint == read_responses(plain).fingerprint
    code, out, _ = run("import", "table", tmp_path / "parts", "-o", tmp_path / "again", "--overwrite")
    assert code == 0
    assert "240 answers of 2 models in 2 languages" in out
    assert read_responses(tmp_path / "again").fingerprint == read_responses(plain).fingerprint
    for target in (tmp_path / "parts", tmp_path / "parts" / "inside"):
        code, _, err = run("import", "table", tmp_path / "parts", "-o", target, "--overwrite")
        assert code == 2
        assert "is one of the files that are read" in " ".join(err.split())
    code, _, err = run("import", "table", source, "-o", tmp_path / "parts")
    assert code == 2
    assert "--overwrite" in err


def test_logs_go_into_a_folder_too(run, tmp_path):
    code, out, _ = run("import", "lm-eval", LOGS / "lm_eval_0.4.13", "-o", tmp_path / "parts")
    assert code == 0
    assert "8 answers of 1 model from 2 logs" in out
    assert len(read_responses(tmp_path / "parts")) == 8
