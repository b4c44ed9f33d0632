"""`maskedadv items check` and `convert` on files with one fault each: what is told, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maskedadv.cli.main import main
from maskedadv.scoring.items import items as it
from maskedadv.scoring.items.sources import read_items
from tests.scoring.items.test_items import row, write


def run(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def both(**changes: Any) -> list[dict[str, Any]]:
    """An item in English and in French, the second with changes."""
    return [row(), row(language="fr", **changes)]


@pytest.mark.parametrize(
    ("rows", "kind", "code"),
    [
        (both(question="Q &amp; A?"), it.ENTITIES, 0),
        (both(question="Wh\u200bich?"), it.NO_WIDTH, 0),
        (both(question="O\u00c3\u00b9?"), it.MISREAD, 0),
        (both(question="O\ufffd?"), it.DAMAGED, 2),
        (both(options=["New York", "New\u00a0York", "x"]), it.EQUAL_OPTIONS, 2),
        (both(options=["ＡＢ", "AB", "x"]), it.EQUAL_OPTIONS, 2),
        ([*both(), *(r | {"item": "q2"} for r in both())], it.ASKED_TWICE, 0),
        ([row(language="zh"), row(language="fr")], it.NO_PIVOT, 0),
        ([row(language="zh")], it.NO_PIVOT, 0),
        ([row()], it.NO_COUNTERPART, 0),
        (
            [*both(), *both(answer=1, item="q2")[1:], row(item="q2", answer=0), row(item="q3", answer=3)],
            None,
            2,
        ),  # numbers that count both ways
        (
            [*both(), *(r | {"item": "q2", "question": "Who?", "answer": 0} for r in both())],
            it.MIXED_KEYS,
            0,
        ),
        ([*both(), row(item="q2", answer="Z")], it.UNREADABLE, 2),
        ([*both(), row(item="q2", answer=["A", "B"])], it.UNREADABLE, 2),
        ([*both(), row(item="q2", options="one, two")], it.UNREADABLE, 2),
        ([row(subset="-")], "No item is left to ask", 2),
        (both(), "No problem found", 0),
    ],
)
def test_one_fault_each(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    kind: str | None,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = write(tmp_path / "items.jsonl", rows)
    assert run("items", "check", file) == code
    printed = capsys.readouterr()
    if kind is None:
        assert "both 0 and the number of options" in printed.err
        return
    assert kind in printed.out
    assert ("No problem found" in printed.out) == (kind == "No problem found")
    assert run("items", "check", file, "--json") == code
    kinds = {p["kind"] for p in json.loads(capsys.readouterr().out)["problems"]}
    assert kinds == ({kind} if kind not in {"No problem found", "No item is left to ask"} else set())


def test_another_pivot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "items.jsonl", [row(language="es"), row(language="eu")])
    assert run("items", "check", file, "--pivot", "es") == 0
    assert "No problem found" in capsys.readouterr().out


def exam(n: int, answer: Any = 1, **changes: Any) -> dict[str, Any]:
    base = {"id": n, "question": f"Zer da {n}?", "candidates": ["a", "b", "c", "d"], "answer": answer}
    return {**base, "link": "x", **changes}


def test_one_bad_row_of_an_exam_does_not_refuse_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """EusExams: ids count from 1 in every file, and the key of one row lies outside its options."""
    for name in ("osakidetza", "ejadministrari"):
        (tmp_path / "eus").mkdir(exist_ok=True)
        write(tmp_path / "eus" / f"{name}.jsonl", [exam(1), exam(2, 7), exam(3, candidates="a, b")])
    assert run("items", "check", tmp_path / "eus", "--source", "eusexams") == 2
    printed = capsys.readouterr()
    assert "a row that cannot be read: 4" in printed.out
    assert "eusexams/eus/osakidetza/2: the answer 7 names no option" in printed.out
    out = tmp_path / "eu.jsonl"
    assert run("items", "convert", tmp_path / "eus", "--source", "eusexams", "-o", out) == 2
    assert "--drop-bad" in capsys.readouterr().err
    assert not out.exists()
    assert run("items", "convert", tmp_path / "eus", "--source", "eusexams", "-o", out, "--drop-bad") == 0
    assert "4 rows left out: a row that cannot be read" in capsys.readouterr().err
    assert [x.item for x in read_items([out]).items] == [
        "eusexams/eus/ejadministrari/1",
        "eusexams/eus/osakidetza/1",
    ]


def test_ids_made_of_file_and_row(tmp_path: Path) -> None:
    rows = [{"id": 1, "question": "Which?", "choices": ["a", "b"], "answer": "A"}]
    for name in ("law", "art"):
        write(tmp_path / f"{name}.jsonl", rows)
    found = read_items(
        [tmp_path / "law.jsonl", tmp_path / "art.jsonl"],
        language="eu",
        subset="CS",
        columns={"item": "{file}/{id}/{row}"},
    )
    assert [x.item for x in found.items] == ["law/1/0", "art/1/0"]


BERTA = {"id": 5, "category": "Science", "difficulty": 1, "question": "Nor?", "candidates": ["a", "b", "c"]}


def test_bertaqa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {**BERTA, "group": "Euskal gaiak", "answer": 0},
        {**BERTA, "id": 6, "group": "Gai orokorrak", "answer": 2},
    ]
    file = write(tmp_path / "bertaqa_eu.jsonl", rows)
    found = read_items([file], "bertaqa", language="eu").items
    assert [(x.item, x.subset, x.answer) for x in found] == [("bertaqa/5", "CS", 0), ("bertaqa/6", "CA", 2)]
    # Another word for a group: the message names an option that is there, and that mends it.
    rows[0]["group"] = "Berezia"
    write(file, rows)
    out = tmp_path / "out.jsonl"
    command = ("items", "convert", file, "--source", "bertaqa", "--language", "eu", "-o", out)
    assert run(*command) == 2
    assert "--label Berezia=CS" in capsys.readouterr().err.replace("'", "")
    assert run(*command, "--label", "Berezia=CS") == 0
    assert [x.subset for x in read_items([out]).items] == ["CS", "CA"]
    assert run(*command, "--overwrite", "--label", "Berezia") == 2
    assert run(*command, "--overwrite", "--label", "Berezia=XX") == 2
    assert run("items", "check", file, "--language", "eu") == 2
    assert "--column options=NAME" in capsys.readouterr().err


def test_basque_catalan_and_galician_have_prompts() -> None:
    from maskedadv.scoring.items.items import Item
    from maskedadv.scoring.prompts.prompts import load_prompts, render

    prompts = load_prompts()
    for language, country in (("eu", "ES"), ("ca", "ES"), ("gl", "ES")):
        item = Item("q", "CS", language, "?", ("a", "b"), 0, country)
        assert render(item, prompts).prompt.count(":") == 2
    assert render(Item("q", "CA", "eu", "Nor?", ("a", "b"), 0), prompts).prompt == (
        "Galdera: Nor?\nA. a\nB. b\nErantzuna:"
    )
