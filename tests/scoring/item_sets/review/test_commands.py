"""`items review export|import` and `items page` as commands: what they write, print and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from maskedadv.cli.main import main
from maskedadv.scoring.item_sets.review.label_studio_work import task_json
from maskedadv.scoring.item_sets.review.tasks import make_tasks
from maskedadv.scoring.item_sets.tables import ANNOTATIONS, LEFT_OUT, TRANSLATIONS, table_of, write_step
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.sources import write_items

ITEMS = [
    Item(name, "CS", language, f"{name} {language}?", ("x", "y"), 0)
    for name in ("one", "two")
    for language in ("zh", "en")
]


def run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main(["items", *map(str, words)])
    code = left.value.code
    return 0 if code is None else int(code)


def export_of(answers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """A project as Label Studio exports it: each person's answer to whether an item is sound."""
    found = []
    for task in make_tasks(ITEMS):
        annotations = []
        for k, sound in enumerate(answers[task.item]):
            given = {"sound": sound, "cultural_sensitivity_label": "CS", "translation": "good"}
            result = [
                {"from_name": name, "type": "choices", "value": {"choices": [value]}}
                for name, value in given.items()
            ]
            annotations.append({"completed_by": {"id": k, "email": f"p{k}@x.org"}, "result": result})
        found.append({**task_json(task), "annotations": annotations})
    return found


def test_from_an_exported_project_to_decisions_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project.json").write_text(json.dumps(export_of({"one": ["yes"] * 3, "two": ["no"] * 3})))
    assert run("review", "export", tmp_path / "project.json", "-o", tmp_path / "p.parquet") == 0
    assert capsys.readouterr().out.startswith("6 answers of 3 people on 2 items written to")
    assert run("review", "export", tmp_path / "project.json", "-o", tmp_path / "p.parquet") == 2
    assert "--overwrite" in capsys.readouterr().err

    assert run("review", "import", tmp_path / "p.parquet", "-o", tmp_path / "d.parquet") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("1 of 2 items stay")
    assert max(map(len, printed.splitlines()[1:])) <= 80
    again = (
        "review",
        "import",
        tmp_path / "p.parquet",
        "-o",
        tmp_path / "d.parquet",
        "--overwrite",
        "--json",
    )
    assert run(*again) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kept"], told["left_out"]) == (1, {"not sound": 1})
    sound = next(x for x in told["agreement"] if (x["field"], x["language"]) == ("sound", "all"))
    assert (sound["unanimous"], sound["alpha"]) == (1, 1)
    assert run("review", "import", tmp_path / "p.parquet", "-o", tmp_path / "d.csv") == 2
    assert "ends in .parquet" in capsys.readouterr().err

    write_items(tmp_path / "items.jsonl", ITEMS)
    words = ("page", tmp_path / "items.jsonl", "-o", tmp_path / "p.html", "--people", tmp_path / "p.parquet")
    assert run(*words, "--decisions", tmp_path / "d.parquet") == 0
    text = (tmp_path / "p.html").read_text("utf-8")
    assert "2 items in 1 language; 1 failed review." in text
    assert "Fails review: <bdi>not sound: 3</bdi>" in text
    assert "p0@x.org" in text


def test_the_folder_of_a_build_is_shown_with_all_that_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"item": x.item, "subset": x.subset, "language": x.language, "question": x.question,
         "options": list(x.options), "answer": "A", "made": "source"}
        for x in ITEMS
    ]  # fmt: skip
    pd.DataFrame(rows).to_parquet(tmp_path / "items.parquet")
    out = {"item": "z", "language": "zh", "step": "sample", "reason": "not_taken"}
    write_step(tmp_path / "left_out.parquet", table_of([out], LEFT_OUT))
    odd = {"item": "one", "language": "zh", "flagged": True, "flags": ["length"], "why": "far too long"}
    write_step(tmp_path / "translations.parquet", table_of([odd], TRANSLATIONS))
    said = [
        {"item": "two", "language": "zh", "annotator": who, "cultural_sensitivity_label": label}
        for who, label in (("big", "CS"), ("small", "CA"))
    ]
    write_step(tmp_path / "annotations.parquet", table_of(said, ANNOTATIONS))
    assert run("page", tmp_path, "-o", tmp_path / "page.html") == 0
    text = (tmp_path / "page.html").read_text("utf-8")
    for words in ("not taken", "far too long", "Agreement of models", "<strong><bdi>small</bdi></strong>"):
        assert words in text
    assert run("page", tmp_path, "-o", tmp_path / "page.html") == 2
    assert run("page", tmp_path, "-o", tmp_path / "page.txt") == 2
    assert run("page", tmp_path / "nowhere.jsonl", "-o", tmp_path / "x.html") == 2
    assert run("page", tmp_path, "--people", tmp_path / "items.parquet", "-o", tmp_path / "x.html") == 2
    assert not (tmp_path / "x.html").exists()
    assert "no column" in capsys.readouterr().err
