"""What Label Studio is given and gives back, without one: tasks, exports of other versions, hostile items."""

from __future__ import annotations

import json
import stat
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import BadSetting, EmptyTable, NotAResult, NothingToImport, OutputExists, WrongFormat
from maskedadv.files.claims import claim
from maskedadv.scoring.item_sets.review import export, start
from maskedadv.scoring.item_sets.review.folder import (
    Review,
    accounts_of,
    read_review,
    read_tasks,
    write_tasks,
)
from maskedadv.scoring.item_sets.review.form import CHOICES, TEXTS
from maskedadv.scoring.item_sets.review.label_studio_api import check_url
from maskedadv.scoring.item_sets.review.label_studio_interface import interface
from maskedadv.scoring.item_sets.review.label_studio_work import rows_of, task_json
from maskedadv.scoring.item_sets.review.tasks import direction_of, fingerprint, make_tasks
from maskedadv.scoring.item_sets.tables import TRANSLATIONS, table_of
from maskedadv.scoring.items.items import Item

QUESTION = "𠮷 ما هي العاصمة؟ </Text><script>"
ITEMS = [
    Item("i/1", "CS", "ar", QUESTION, ("دبي", "أبو ظبي"), 1, extra={"subject": "civics"}),
    Item("i/1", "CS", "en", "Which is the capital?", ("Dubai", "Abu Dhabi"), 1),
    Item("i/2", "CA", "ar", "2 + 2?", ("4", "5"), 0),
]


def exported(result: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """A task that one person answered, as Label Studio exports it."""
    one = {"completed_by": 2, "result": result, "was_cancelled": False, "updated_at": "2026-01-01", **more}
    return [{**task_json(make_tasks(ITEMS)[0]), "annotations": [one]}]


def mark(start: int, end: int, text: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": text, "labels": ["Trigger"]}
    return {"from_name": "trigger_spans", "type": "labels", "value": value}


def chosen(name: str, value: str) -> dict[str, Any]:
    return {"from_name": name, "type": "choices", "value": {"choices": [value]}}


def test_tasks_are_the_local_items_with_their_counterparts_and_what_is_odd_about_them() -> None:
    row = {"item": "i/2", "language": "ar", "translated_question": "2+2?", "translated_options": ["4", "5"]}
    tasks = make_tasks(ITEMS, table_of([{**row, "why": "3 stands\nin one only"}], TRANSLATIONS))
    assert [(x.item, x.language) for x in tasks] == [("i/1", "ar"), ("i/2", "ar")]
    assert tasks[0].english == ("Which is the capital?", ("Dubai", "Abu Dhabi"))
    assert tasks[0].about == "Item i/1 · right option B · civics"
    assert tasks[1].english == ("2+2?", ("4", "5"))
    assert tasks[1].about == "Item i/2 · right option A · look at: 3 stands in one only"
    assert direction_of(tasks) == "rtl"
    assert fingerprint(tasks) != fingerprint(make_tasks(ITEMS))
    with pytest.raises(EmptyTable, match="English"):
        make_tasks([ITEMS[1]])


@pytest.mark.parametrize("counterpart", [True, False])
def test_the_interface_asks_the_whole_form_and_takes_no_markup_from_a_language(counterpart: bool) -> None:
    tree = ElementTree.fromstring(interface('x"/><Text', "rtl", counterpart=counterpart))
    asked = {x.get("name") for x in tree.iter("Choices")} | {x.get("name") for x in tree.iter("TextArea")}
    assert asked == {x.name for x in (*CHOICES, *TEXTS) if counterpart or not x.counterpart}
    values = {x.get("name"): [y.get("value") for y in x] for x in tree.iter("Choices")}
    assert values["required_knowledge"] == ["none", "regional", "cultural", "dialect"]
    shown = {"about", "sheet", "english"} if counterpart else {"about", "sheet"}
    assert {x.get("name") for x in tree.iter("Text")} == shown
    assert "text rtl" in {x.get("className") for x in tree.iter("View")}


def test_a_mark_is_read_in_code_points_and_as_browsers_count() -> None:
    """Label Studio 1.23 counts code points; a version that counts UTF-16 units is told by the marked text."""
    at = QUESTION.index("العاصمة")
    expected = [{"text": "العاصمة", "part": "question", "start": at, "end": at + 7}]
    for shift in (0, 1):
        (row,) = rows_of(exported([mark(at + shift, at + 7 + shift, "العاصمة")]), {2: "ana"}, "here")
        assert row["trigger_spans"] == expected
        assert row["annotator"] == "ana"


def test_a_model_s_labels_come_back_as_they_were_given() -> None:
    """Suggested labels, submitted as they are, are the same row again."""
    spans = [{"text": "ظبي", "part": "B", "start": 4, "end": 7}]
    row = {
        "annotator": "model", "reason": "", "required_knowledge": "regional", "time_sensitive": "no",
        "cultural_sensitivity_label": "CS", "subject_category": "social sciences", "country": "UAE",
        "culture": "",
        "explanation": "It asks\nabout the UAE", "trigger_spans": [*spans, {**spans[0], "text": "gone"}],
    }  # fmt: skip
    content = task_json(make_tasks(ITEMS)[0], row)
    (prediction,) = content["predictions"]
    answered = [
        {**content, "annotations": [{"completed_by": {"email": "a@b"}, "result": prediction["result"]}]}
    ]
    (found,) = rows_of(answered, {}, "here")
    assert found["annotator"] == "a@b"
    assert found["trigger_spans"] == spans, "a span of another text is not shown"
    for name in (
        "required_knowledge",
        "cultural_sensitivity_label",
        "subject_category",
        "country",
        "culture",
    ):
        assert found[name] == row[name]
    assert found["explanation"] == "It asks about the UAE"
    assert "predictions" not in task_json(make_tasks(ITEMS)[0], {**row, "reason": "refused"})


def test_the_last_submission_of_a_person_counts_and_a_skipped_one_does_not() -> None:
    (task,) = exported([chosen("sound", "no")])
    old, new, skipped = (
        {**task["annotations"][0], "updated_at": when, "result": [chosen("sound", answer)]}
        for when, answer in (("2026-01-01", "no"), ("2026-01-02", "yes"), ("2026-01-03", "no"))
    )
    skipped["was_cancelled"] = True
    (row,) = rows_of([{**task, "annotations": [new, old, skipped]}], {}, "here")
    assert (row["sound"], row["annotator"]) == ("yes", "2")
    assert rows_of([{**task, "annotations": [skipped]}], {}, "here") == []


def test_an_exported_file_is_read_and_others_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported([chosen("sound", "yes")])), "utf-8")
    assert export(path)["sound"].to_pylist() == ["yes"]
    path.write_text(json.dumps([{"data": {"text": "x"}, "annotations": []}]), "utf-8")
    with pytest.raises(WrongFormat, match="task 1 was not made by maskedadv"):
        export(path)
    path.write_text("[", "utf-8")
    with pytest.raises(WrongFormat, match="no JSON"):
        export(path)
    path.write_text("[]", "utf-8")
    with pytest.raises(NothingToImport, match="nobody"):
        export(path)
    with pytest.raises(NotAResult, match=r"review\.json"):
        export(tmp_path)


def test_accounts_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    first = accounts_of(tmp_path, ["ana", "ben"])
    again = accounts_of(tmp_path, ["ben", "chi"])
    assert [x.name for x in again.accounts] == ["owner", "ana", "ben", "chi"]
    assert again.accounts[:3] == first.accounts
    assert again.token == first.token
    assert len({x.password for x in again.accounts}) == 4
    assert stat.S_IMODE((tmp_path / "accounts.json").stat().st_mode) == 0o600
    assert first.token not in repr(first)
    assert first.accounts[0].password not in repr(first)
    for name in ("owner", "a@b", "", "../x", "é"):
        with pytest.raises(BadSetting, match="a name has letters"):
            accounts_of(tmp_path, [name])


def test_a_folder_is_served_once_at_a_time(tmp_path: Path) -> None:
    """A second server on the same database would be a second writer; nothing is touched then."""
    holds, done = threading.Event(), threading.Event()

    def serve() -> None:
        with claim(tmp_path / "label_studio"):
            holds.set()
            done.wait()

    start.write_review(tmp_path, Review(fingerprint(make_tasks(ITEMS)), "label-studio"))
    other = threading.Thread(target=serve)
    other.start()
    holds.wait()
    try:
        with pytest.raises(OutputExists, match="another process"), start.started(ITEMS, tmp_path, port=0):
            pass
        assert not (tmp_path / "label_studio").exists()
    finally:
        done.set()
        other.join()


def test_tasks_that_are_kept_are_the_same_again(tmp_path: Path) -> None:
    write_tasks(tmp_path, make_tasks(ITEMS))
    assert read_tasks(tmp_path) == make_tasks(ITEMS)


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "ftp://x", "http://", "http://u:p@x", "http://x?token=1"]
)
def test_an_address_is_one_and_holds_no_secret(url: str) -> None:
    with pytest.raises(BadSetting) as caught:
        check_url(url)
    assert ":p@" not in str(caught.value)
    assert check_url("https://x.org/labels/") == "https://x.org/labels"


def test_a_review_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    for wrong, words in (
        ({"tool": "excel"}, "no tool 'excel'"),
        ({"tool": "argilla"}, "--url"),
        ({"per_item": 0}, "per_item"),
        ({"url": "http://127.0.0.1:1", "token_variable": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE"),
    ):
        with pytest.raises(BadSetting, match=words), start.started(ITEMS, tmp_path / "r", **wrong):  # type: ignore[arg-type]
            pass
        assert not (tmp_path / "r").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputExists, match="no maskedadv result"), start.started(ITEMS, tmp_path / "other"):
        pass
    (tmp_path / "old").mkdir()
    start.write_review(tmp_path / "old", Review("another", "label-studio"))
    with pytest.raises(OutputExists), start.started(ITEMS, tmp_path / "old"):
        pass
    assert read_review(tmp_path / "old").fingerprint == "another"


@pytest.mark.parametrize(
    "odd",
    [
        {"annotations": [None]},
        {"annotations": 1},
        {"annotations": [{"result": "x"}]},
        {"annotations": [{"result": [{"from_name": [], "value": {}}]}]},
        {"annotations": [{"result": [mark(0, 1, "x") | {"value": {"start": {}, "end": 1}}]}]},
    ],
)
def test_a_task_that_is_not_as_exported_is_named(odd: dict[str, Any]) -> None:
    with pytest.raises(WrongFormat, match=r"e\.json: task 2 is not as Label Studio exports it"):
        rows_of([*exported([]), exported([])[0] | odd], {}, "e.json")


def test_half_a_character_and_bottomless_brackets_are_no_export(tmp_path: Path) -> None:
    for content in (
        json.dumps(exported([{"from_name": "note", "value": {"text": "\ud800"}}])),
        "[" * 100_000,
    ):
        (tmp_path / "e.json").write_text(content)
        with pytest.raises(WrongFormat, match="is no JSON"):
            export(tmp_path / "e.json")


@pytest.mark.parametrize(
    "odd", [{"question": 1}, {"options": "ab"}, {"english": ["x"]}, {"english": [1, ["a"]]}]
)
def test_tasks_of_another_kind_are_refused(tmp_path: Path, odd: dict[str, Any]) -> None:
    write_tasks(tmp_path, make_tasks(ITEMS))
    path = tmp_path / "tasks.json"
    assert read_tasks(tmp_path) == make_tasks(ITEMS)
    path.write_text(json.dumps([json.loads(path.read_text())[0] | odd]))
    with pytest.raises(NotAResult, match="is not what maskedadv items review start wrote"):
        read_tasks(tmp_path)
