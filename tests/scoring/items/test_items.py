"""Items: one schema from every form, refusals that name rows, and what `check` finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from maskedadv.errors import (
    AmbiguousKey,
    BadItem,
    BrokenLog,
    DuplicateRows,
    InputError,
    ItemInBothSubsets,
    MissingColumn,
    MissingId,
    UnknownSubset,
    UnreadableFile,
)
from maskedadv.scoring.items import items as it
from maskedadv.scoring.items.items import Item, askable, check_items, clean, hash_items
from maskedadv.scoring.items.sources import read_items, write_items


def row(**changes: Any) -> dict[str, Any]:
    base = {
        "item": "q1",
        "subset": "CA",
        "language": "en",
        "question": "Which?",
        "options": ["one", "two", "three"],
        "answer": "B",
    }
    return {**base, **changes}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    return path


def read(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> tuple[Item, ...]:
    return read_items([write(tmp_path / "items.jsonl", list(rows))], **options).items


def test_json_lines_csv_and_parquet_give_the_same_items(tmp_path: Path) -> None:
    rows = [row(item=f"{n:03}", answer="ABC"[n % 3], level="NA") for n in range(4)]
    expected = read(tmp_path, *rows)
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "items.parquet")
    assert read_items([tmp_path / "items.parquet"]).items == expected
    flat = frame.drop(columns="options")
    for k, name in enumerate(["option_a", "option_b", "option_c"]):
        flat[name] = [r["options"][k] for r in rows]
    flat.to_csv(tmp_path / "items.csv", index=False, sep=";", lineterminator="\r\n", encoding="utf-8-sig")
    assert read_items([tmp_path / "items.csv"]).items == expected
    assert [x.item for x in expected] == ["000", "001", "002", "003"]
    assert expected[0].extra == {"level": "NA"}


def test_arrow_files_of_datasets(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.Table.from_pylist([row()])
    with pa.OSFile(str(tmp_path / "data.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    assert read_items([tmp_path / "data.arrow"]).items == read(tmp_path, row())


def test_written_items_are_read_back(tmp_path: Path) -> None:
    items = read(tmp_path, row(country="CN", topic="x"), row(item="q2", subset="CS", answer=None))
    write_items(tmp_path / "out.jsonl", items)
    again = read_items([tmp_path / "out.jsonl"]).items
    assert again == items
    assert hash_items(again) == hash_items(items)


@pytest.mark.parametrize(
    ("answers", "positions"),
    [
        (["A", "b", " C "], [0, 1, 2]),
        ([1, 2, 3], [0, 1, 2]),
        (["0", "1", "2"], [0, 1, 2]),
        ([0, 2, 1.0], [0, 2, 1]),
        ([["B"], [2], "[1]"], None),
        (["two", "three", "one"], [1, 2, 0]),
        ([[0], [1], "[2]"], [0, 1, 2]),
        ([None, "", float("nan")], [None, None, None]),
    ],
)
def test_keys(tmp_path: Path, answers: list[Any], positions: list[int] | None) -> None:
    rows = [row(item=str(n), answer=a) for n, a in enumerate(answers)]
    if positions is None:  # a letter beside numbers that could count either way
        with pytest.raises(AmbiguousKey):
            read(tmp_path, *rows)
    else:
        assert [x.answer for x in read(tmp_path, *rows)] == positions


def test_numbers_that_may_count_from_0_or_1_are_refused(tmp_path: Path) -> None:
    rows = [row(item=str(n), answer=a) for n, a in enumerate([1, 2, 1])]
    with pytest.raises(AmbiguousKey, match=r"--key.*from-0 or from-1"):
        read(tmp_path, *rows)
    assert [x.answer for x in read(tmp_path, *rows, key="from-1")] == [0, 1, 0]
    assert [x.answer for x in read(tmp_path, *rows, key="from-0")] == [1, 2, 1]
    with pytest.raises(AmbiguousKey, match="both 0"):
        read(tmp_path, row(answer=0), row(item="q2", answer=3))


def test_a_key_that_is_another_options_text_is_refused(tmp_path: Path) -> None:
    rows = [row(options=["2", "1", "0"], answer=0), row(item="q2", answer=1)]
    with pytest.raises(AmbiguousKey, match="row 1: '0'"):
        read(tmp_path, *rows)
    assert read(tmp_path, *rows, key="from-0")[0].answer == 0


@pytest.mark.parametrize("answer", ["D", 4, "none", "A, B", "AB", -1, 2.5, True])
def test_an_answer_that_names_no_option_is_refused(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(InputError, match="row 2"):
        read(tmp_path, row(), row(item="q2", answer=answer))


def test_several_right_options_are_refused_by_row(tmp_path: Path) -> None:
    with pytest.raises(BadItem, match=r"1 rows have several right options \(.*row 2: \[0, 2\]"):
        read(tmp_path, row(), row(item="q2", answer=[0, 2]))


def test_two_to_ten_options(tmp_path: Path) -> None:
    rows = [row(item=str(n), options=[f"o{k}" for k in range(n)], answer="B") for n in range(2, 11)]
    kept, _ = askable(read(tmp_path, *rows))
    assert [len(x.options) for x in kept] == list(range(2, 11))
    for count in (1, 11):
        with pytest.raises(BadItem, match="options"):
            askable(read(tmp_path, row(options=[f"o{k}" for k in range(count)], answer="A")))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"question": "Wh\u200eich?"}, it.HIDDEN),
        ({"question": "\ufeffWhich?"}, it.HIDDEN),
        ({"question": "Which?\r\nNow"}, it.HIDDEN),
        ({"question": "Wh\x00ich?"}, it.HIDDEN),
        ({"options": ["one", "\x1b[31mtwo", "three"]}, it.HIDDEN),
        ({"options": ["one", "tw\u202eo", "three"]}, it.HIDDEN),
        ({"options": ["one", "", "three"]}, it.EMPTY_OPTION),
        ({"options": ["one", " \t", "three"]}, it.EMPTY_OPTION),
        ({"options": ["one", "two", "two "]}, it.EQUAL_OPTIONS),
        ({"options": ["é", "e\u0301", "x"]}, it.EQUAL_OPTIONS),
        ({"answer": None}, it.NO_ANSWER),
        ({"question": "  "}, it.EMPTY_QUESTION),
    ],
)
def test_items_that_cannot_be_asked_are_named(tmp_path: Path, change: dict[str, Any], kind: str) -> None:
    items = read(tmp_path, row(), row(item="q2", **change))
    assert [p.kind for p in check_items(items) if p.kind not in it.TOLD] == [kind]
    with pytest.raises(BadItem, match=rf"1 with {kind} \(.*row 2: item 'q2'"):
        askable(items)
    kept, dropped = askable(items, drop=True)
    assert ([x.item for x in kept], dict(dropped)) == (["q1"], {kind: 1})


def test_columns_that_are_no_part_of_the_item_are_kept(tmp_path: Path) -> None:
    """Also those with a name that could have been read as a part, or that the reader uses itself."""
    more = {"id": "7", "lang": "x", "label": "y", "row": "r", "file": "f", "folder": "d", "choices": "z"}
    (item,) = read(tmp_path, row(**more))
    assert (item.item, item.language, item.subset) == ("q1", "en", "CA")
    assert item.extra == more
    write_items(tmp_path / "out.jsonl", [item])
    assert read_items([tmp_path / "out.jsonl"]).items == (item,)
    (other,) = read(tmp_path, {k if k != "item" else "id": v for k, v in row().items()})
    assert (other.item, other.extra) == ("q1", {})


def test_cleaning_removes_what_is_hidden_and_keeps_joiners(tmp_path: Path) -> None:
    (item,) = read(tmp_path, row(question="\ufeffمی\u200cروم\u200f\r\nکجا؟", options=["a\r", "b", "c"]))
    cleaned = clean(item)
    assert cleaned.question == "می\u200cروم\nکجا؟"
    assert cleaned.options == ("a", "b", "c")
    assert askable([cleaned])[0] == [cleaned]


def test_between_languages(tmp_path: Path) -> None:
    items = read(
        tmp_path,
        row(),
        row(language="zh", answer="C"),
        row(language="fr"),
        row(item="q2", question="Who?"),
        row(item="q3", question="Where?"),
        row(item="q3", question="Where?", language="fr", options=["one", "two"], answer="B"),
    )
    found = {(p.kind, p.item): p.detail for p in check_items(items)}
    assert found == {
        (it.KEYS_DIFFER, "q1"): "zh C; the others B",
        (it.NO_COUNTERPART, "q2"): "",
        (it.OPTIONS_DIFFER, "q3"): "en 3, fr 2",
    }


def test_real_items_hold_seven_keys_that_differ(shared: Path) -> None:
    items = read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items
    problems = [p for p in check_items(items) if p.kind == it.KEYS_DIFFER]
    assert len(items) == 2800
    assert {p.item.rpartition("/")[0] for p in problems} == {"high_school_world_history/test"}
    assert len(problems) == 7
    assert all(p.detail.startswith("zh ") for p in problems)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([row(), row()], DuplicateRows, "row 2: 'q1' in 'en'"),
        ([row(), row(language="fr", subset="CS")], ItemInBothSubsets, "row 2: 'q1'"),
        ([row(item="")], MissingId, "row 1: the item is empty"),
        ([row(language=None)], MissingId, "language is empty"),
        ([row(subset="XX")], UnknownSubset, "row 1"),
        ([{k: v for k, v in row().items() if k != "answer"}], MissingColumn, "'answer'"),
        ([{k: v for k, v in row().items() if k != "options"}], MissingColumn, "no options"),
        ([{k: v for k, v in row().items() if k != "item"}], MissingColumn, "item"),
        ([row(options="one, two")], BadItem, "no list"),
        ([row(question={"text": "Which?"})], BadItem, "row 1: a question or an option is a text"),
        ([row(options=[["one"], "two"])], BadItem, "row 1: a question or an option is a text"),
    ],
)
def test_refusals(tmp_path: Path, rows: list[dict[str, Any]], error: type[InputError], message: str) -> None:
    with pytest.raises(error, match=message):
        read(tmp_path, *rows)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        read_items([tmp_path / "absent.jsonl"])
    (tmp_path / "cut.jsonl").write_text(json.dumps(row()) + '\n{"item": "q', "utf-8")
    with pytest.raises(BrokenLog, match="record 2 is cut off"):
        read_items([tmp_path / "cut.jsonl"])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(UnreadableFile):
        read_items([tmp_path / "bad.parquet"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile, match="no item file"):
        read_items([tmp_path / "empty"])


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row(question="\ud800?")) + "\n")  # escaped, as careless programs write it
    with pytest.raises(BadItem, match=r"row 1: .*half of a character"):
        read_items([path])


def test_unlabelled_rows_are_dropped_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "items.jsonl", [row(), row(item="q2", subset="-")])
    found = read_items([path])
    assert len(found.items) == 1
    assert sum(found.dropped.values()) == 1
    assert len(read_items([path], labels={"q2": "CS"}).items) == 2


def test_the_hash_sees_everything_that_matters(tmp_path: Path) -> None:
    (base,) = read(tmp_path, row())
    changes = [
        {"question": "Which one?"},
        {"answer": "A"},
        {"options": ["one", "two", "3"]},
        {"subset": "CS"},
        {"language": "fr"},
        {"item": "q0"},
    ]
    hashes = {hash_items(read(tmp_path, row(**c))) for c in changes} | {hash_items([base])}
    assert len(hashes) == len(changes) + 1
