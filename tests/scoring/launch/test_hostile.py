"""Runs with what users really have: odd names, full disks, damaged models, edited items, code in models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import BadItem, DuplicateRows
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.plan import make_pieces
from maskedadv.scoring.prompts.prompts import load_prompts
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import answer_files, run, score

pytest.importorskip("transformers")


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_item_file(tmp_path / "set.jsonl", count=1)
    (tmp_path / "file").write_text("")
    assert score(items, tmp_path / "file" / "out", tiny_model) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_a_full_disk_is_said_and_the_run_taken_up(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet

    items, out = write_item_file(tmp_path / "set.jsonl", count=1), tmp_path / "out"
    write, calls = pyarrow.parquet.write_table, []

    def limited(table: object, path: Path, **options: object) -> None:
        calls.append(path)
        if len(calls) in {2, 5}:
            raise OSError(28, "No space left on device")
        write(table, path, **options)

    monkeypatch.setattr(pyarrow.parquet, "write_table", limited)
    assert score(items, out, tiny_model) == 1  # the second answer file: one model failed
    assert "No space left" in capsys.readouterr().err
    assert len(answer_files(out)) == 1
    assert score(items, out, tiny_model) == 2  # the table
    assert "responses.parquet cannot be written (No space left" in capsys.readouterr().err
    assert len(answer_files(out)) == 2
    assert score(items, out, tiny_model) == 0
    assert not list(out.rglob("*.partial"))


def test_names_of_models_and_folders_may_hold_any_sign(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "lr=1e-4 @x" / "a model"
    shutil.copytree(tiny_model, folder)
    (tmp_path / "a set").mkdir()
    items = write_item_file(tmp_path / "a set" / "my set.jsonl", count=1)
    assert score(items, tmp_path / "an out", folder, f"b={folder}", f"c={tiny_model}") == 0
    frame = pd.read_parquet(tmp_path / "an out" / "responses.parquet")
    assert list(frame["model"].unique()) == ["a model", "b", "c"]
    for text in ("=x", "x="):
        assert score(items, tmp_path / "an out", text) == 2
        assert "NAME=MODEL" in capsys.readouterr().err


def test_columns_of_items_that_are_called_as_results_are_kept_and_said(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in write_item_file(tmp_path / "set.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {"correct": "mine", "model": "human", "reason": "why", "topic": "t"}
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert score(tmp_path / "set.jsonl", tmp_path / "out", tiny_model) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "'correct' will be called 'item_correct'" in said
    assert "topic" not in said
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert set(frame["item_correct"]) == {"mine"}
    assert set(frame["item_model"]) == {"human"}
    assert set(frame["topic"]) == {"t"}
    assert set(frame["model"]) == {"tiny"}
    assert frame["correct"].isin([0, 1]).all()


def test_edited_items_are_asked_anew_and_only_they(tiny_model: Path, tmp_path: Path) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl"), tmp_path / "out"
    assert score(items, out, tiny_model) == 0
    first = answer_files(out)
    items.write_text(items.read_text().replace('"zh CA question 3', '"zh CA other 3'))
    assert score(items, out, tiny_model) == 0
    second = answer_files(out)
    assert first.items() <= second.items()
    assert [p.parent.name for p in second.keys() - first.keys()] == ["zh"]
    lines = items.read_text().splitlines()
    items.write_text("\n".join(lines[:-1]))  # one Chinese item fewer
    assert score(items, out, tiny_model) == 0
    assert len(answer_files(out)) == 4
    assert len(pd.read_parquet(out / "responses.parquet")) == 23


def test_a_key_that_changes_changes_the_table(tiny_model: Path, tmp_path: Path) -> None:
    """The prompt is the same; what is right is not."""
    items, out = write_item_file(tmp_path / "set.jsonl", languages=("en",)), tmp_path / "out"
    assert score(items, out, tiny_model) == 0
    before = pd.read_parquet(out / "responses.parquet")
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    for row in rows:
        row["answer"] = "BA"["AB".index(row["answer"])]
    items.write_text("\n".join(map(json.dumps, rows)))
    assert score(items, out, tiny_model) == 0
    after = pd.read_parquet(out / "responses.parquet")
    assert (before["crm_logit"] != after["crm_logit"]).all()


@pytest.mark.parametrize("second", ['version = "1"\n[en]\nanswer = "Reply"\n', 'version = "2"\n'])
def test_prompts_name_answers_by_their_words_and_by_their_version(
    tiny_model: Path, tmp_path: Path, second: str
) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl", languages=("en",)), tmp_path / "out"
    prompts = tmp_path / "mine.toml"
    for text in ('version = "1"\n', second):
        prompts.write_text(text)
        assert score(items, out, tiny_model, more=("--prompts", prompts)) == 0
    assert len(answer_files(out)) == 2


@pytest.mark.parametrize(
    "where",
    [
        "maskedadv.scoring.launch.plan.__version__",
        "maskedadv.scoring.models.identity.transformers.__version__",
        "maskedadv.scoring.models.identity.torch.__version__",
    ],
)
def test_another_version_of_the_software_asks_anew(
    tiny_model: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maskedadv.scoring.launch.plan import Unit, fingerprint
    from maskedadv.scoring.models.settings import HfSettings
    from maskedadv.scoring.models.unit import identify

    pieces = make_pieces({"s": [Item("q1", "CA", "en", "Who?", ("a", "b"), 0)]}, load_prompts())
    unit = Unit("m", HfSettings(str(tiny_model), device="cpu"), pieces)
    before = fingerprint(unit, pieces[0], identify(unit.settings))
    monkeypatch.setattr(where, "0.0.1")
    assert fingerprint(unit, pieces[0], identify(unit.settings)) != before


@pytest.mark.parametrize("more", [("--attention", "eager"), ("--trust-remote-code",)])
def test_attention_and_trust_are_part_of_what_names_answers(
    tiny_model: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl", languages=("en",)), tmp_path / "out"
    assert score(items, out, tiny_model) == 0
    assert score(items, out, tiny_model, more=more) == 0
    assert len(answer_files(out)) == 2


def test_another_tokenizer_in_the_same_folder_is_another_model(tiny_model: Path, tmp_path: Path) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl", languages=("en",)), tmp_path / "out"
    folder = tmp_path / "m"
    shutil.copytree(tiny_model, folder)
    assert score(items, out, folder) == 0
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text("utf-8"))
    tokenizer["model"]["merges"] = tokenizer["model"]["merges"][:-40]
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")
    assert score(items, out, folder) == 0
    assert len(answer_files(out)) == 2


def test_code_of_a_model_runs_only_where_it_is_trusted(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, ran = tmp_path / "own", tmp_path / "ran"
    shutil.copytree(tiny_model, folder)
    (folder / "own_code.py").write_text(
        "import pathlib\n"
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        f"pathlib.Path({str(ran)!r}).write_text('')\n"
        "class OwnConfig(LlamaConfig):\n    model_type = 'own-llama'\n"
        "class OwnModel(LlamaForCausalLM):\n    config_class = OwnConfig\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own-llama", "architectures": ["OwnModel"]}
    config["auto_map"] = {"AutoConfig": "own_code.OwnConfig", "AutoModelForCausalLM": "own_code.OwnModel"}
    (folder / "config.json").write_text(json.dumps(config))
    items = write_item_file(tmp_path / "set.jsonl", languages=("en",))
    assert score(items, tmp_path / "out", folder) == 1
    assert "trust" in capsys.readouterr().err
    assert not ran.exists()
    assert score(items, tmp_path / "out", folder, more=("--trust-remote-code",)) == 0
    assert ran.exists()
    assert len(pd.read_parquet(tmp_path / "out" / "responses.parquet")) == 12


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "model.safetensors"])
def test_a_damaged_file_of_a_model_is_said_by_plan_and_run(
    tiny_model: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(tiny_model, folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:200])
    items = write_item_file(tmp_path / "set.jsonl", languages=("en",))
    arguments = (items, "-o", tmp_path / "out", "-m", folder, "-m", tiny_model, "--device", "cpu")
    unread = name == "model.safetensors"  # weights are not read for a plan
    assert run("score", "plan", *arguments) == (0 if unread else 1)
    planned = capsys.readouterr()
    assert "tiny" in planned.out
    assert unread or "damaged: " in planned.err
    assert len(planned.err) < 2000
    assert score(items, tmp_path / "out", folder, tiny_model) == 1
    assert "1 of 2 models failed (damaged" in capsys.readouterr().err
    assert set(pd.read_parquet(tmp_path / "out" / "responses.parquet")["model"]) == {"tiny"}


def test_what_cannot_be_asked_is_refused_from_python_too() -> None:
    good = Item("q1", "CA", "en", "Who?", ("a", "b"), 0)
    for bad in (("a", "a"), ("a", ""), ("a",)):
        with pytest.raises(BadItem):
            make_pieces({"s": [good, Item("q2", "CA", "en", "Who?", bad, 0)]}, load_prompts())
    with pytest.raises(BadItem, match="no right option"):
        make_pieces({"s": [Item("q2", "CA", "en", "Who?", ("a", "b"), None)]}, load_prompts())
    with pytest.raises(DuplicateRows):
        make_pieces({"s": [good], "t": [good]}, load_prompts())


def test_the_example_for_python_is_true(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "scoring.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    write_item_file(tmp_path / "lite.jsonl")
    shutil.copytree(tiny_model, tmp_path / "models" / "tiny")
    names: dict[str, object] = {}
    exec(code, names)
    assert names["failed"] == []
    assert score(tmp_path / "lite.jsonl", tmp_path / "cli", tmp_path / "models" / "tiny") == 0
    expected = pd.read_parquet(tmp_path / "cli" / "responses.parquet")
    pd.testing.assert_frame_equal(names["table"].to_pandas(), expected)  # type: ignore[attr-defined]
