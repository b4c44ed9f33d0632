"""Decisions of a review, each worked out by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.errors import BadSetting, BadValue, DuplicateRows, EmptyTable
from maskedadv.scoring.item_sets.merge import merge_items
from maskedadv.scoring.item_sets.review.people import PEOPLE, people_table, read_people
from maskedadv.scoring.item_sets.review.sheet import Piece
from maskedadv.scoring.item_sets.review.verdict import REVIEWED, decide
from maskedadv.scoring.item_sets.tables import DECISIONS, read_table, write_step
from maskedadv.scoring.items.items import Item
from tests.scoring.item_sets.review.answers import answer

MENDED = "What is eaten at the festival?\n\nA. Zongzi\nB. Mooncakes"


def decided(*rows: dict[str, Any], least: int = 2) -> dict[tuple[str, str], dict[str, Any]]:
    table = decide(people_table(rows), least=least)
    assert table.schema.names == REVIEWED.names
    return {(row["item"], row["language"]): row for row in table.to_pylist()}


def one(*rows: dict[str, Any], least: int = 2) -> dict[str, Any]:
    (row,) = decided(*rows, least=least).values()
    return row


def test_what_most_say_is_the_label_and_fields_without_a_majority_are_named() -> None:
    row = one(
        answer("i", "ana", required_knowledge="regional", time_sensitive="yes"),
        answer("i", "ben", required_knowledge="cultural", time_sensitive="yes"),
        answer("i", "chi", required_knowledge="none", cultural_sensitivity_label="CA"),
    )
    assert (row["keep"], row["reason"], row["n_people"]) == (True, "", 3)
    assert (row["cultural_sensitivity_label"], row["time_sensitive"]) == ("CS", "yes")
    assert (row["required_knowledge"], row["ties"]) == ("", ["required_knowledge"])
    assert row["translated_question"] is None
    assert row["translated_options"] is None


def test_an_item_that_is_not_sound_stays_out_with_what_people_noted() -> None:
    row = one(
        answer("i", "ana", sound="no", words={"note": "two options\nare right"}),
        answer("i", "ben", sound="no"),
        answer("i", "chi"),
    )
    assert (row["keep"], row["reason"]) == (False, "not sound: 2 to 1 (ana: two options are right)")


@pytest.mark.parametrize(
    ("field", "labels", "reason"),
    [
        ("sound", ("yes", "no"), "no majority on whether it is sound: 1 to 1"),
        ("cultural_sensitivity_label", ("CA", "CS"), "no majority on CA or CS: 1 to 1"),
        ("translation", ("good", "bad"), "no majority on the English: 1 to 1"),
    ],
)
def test_a_tie_decides_nothing(field: str, labels: tuple[str, str], reason: str) -> None:
    row = one(answer("i", "ana", **{field: labels[0]}), answer("i", "ben", **{field: labels[1]}))
    assert (row["keep"], row["reason"]) == (False, reason)


def test_an_english_that_most_call_bad_is_replaced_where_those_who_mended_it_agree() -> None:
    row = one(
        answer("i", "ana", translation="bad", words={"mended": MENDED}),
        answer("i", "ben", translation="bad", words={"mended": MENDED.replace("A. ", " A) ")}),
        answer("i", "chi"),
    )
    assert row["keep"]
    assert row["translated_question"] == "What is eaten at the festival?"
    assert row["translated_options"] == ["Zongzi", "Mooncakes"]


def test_an_english_that_most_call_bad_stays_out_where_it_was_mended_otherwise_or_not_at_all() -> None:
    bad = [answer("i", who, translation="bad") for who in ("ana", "ben")]
    assert one(*bad)["reason"] == "the English is bad: 2, not mended"
    ways = [MENDED, MENDED.replace("festival", "feast")]
    bad = [answer("i", w, translation="bad", words={"mended": m}) for w, m in zip("ab", ways, strict=True)]
    assert one(*bad)["reason"] == "the English is bad: 2, mended in 2 ways"


def test_what_one_person_mended_counts_for_nothing_where_most_call_the_english_good() -> None:
    row = one(
        answer("i", "ana", translation="bad", words={"mended": MENDED}),
        answer("i", "ben"),
        answer("i", "chi"),
    )
    assert (row["keep"], row["translated_question"]) == (True, None)


def test_a_form_that_was_filled_in_beforehand_and_not_touched_mends_nothing() -> None:
    row = answer("i", "ana", translation="bad", words={"mended": "What is eaten?\n\nA. Zongzi\nB. Mooncakes"})
    assert row["mended_question"] == ""
    row = answer("i", "ana", translation="bad", words={"mended": "What is eaten?\n\nZongzi"})
    assert (row["mended_question"], row["detail"]) == ("", "the mended English lacks an option or its letter")


def test_one_person_is_too_few_unless_that_is_said() -> None:
    alone = answer("i", "ana", cultural_sensitivity_label="CA", required_knowledge="none")
    assert one(alone)["reason"] == "too few people: 1 of 2 answered"
    row = one(alone, least=1)
    assert (row["keep"], row["cultural_sensitivity_label"]) == (True, "CA")
    unsure = answer("i", "ben", cultural_sensitivity_label="")
    assert one(alone, unsure)["reason"] == "too few people: 1 of 2 answered"


def test_an_item_without_a_counterpart_is_not_asked_about_one() -> None:
    assert one(*(answer("i", who, english=None) for who in "ab"))["keep"]


def test_an_item_that_is_ca_in_one_language_and_cs_in_another_stays_out_of_both() -> None:
    rows = [answer("i", who) for who in "ab"]
    rows += [answer("i", who, language="ar", cultural_sensitivity_label="CA") for who in "ab"]
    rows += [answer("j", who, language=k) for who in "ab" for k in ("ar", "zh")]
    found = decided(*rows)
    assert {key for key, row in found.items() if row["keep"]} == {("j", "ar"), ("j", "zh")}
    assert found["i", "ar"]["reason"] == found["i", "zh"]["reason"] == "languages differ: CA in ar, CS in zh"


def test_the_characters_that_most_marked_are_the_span() -> None:
    spans = [
        (Piece("Dragon Boat Festival", "question", 4, 24),),
        (Piece("Boat Festival", "question", 11, 24), Piece("Zong", "A", 0, 4)),
        (Piece("Dragon", "question", 4, 10), Piece("Zongzi", "A", 0, 6)),
    ]
    row = one(*(answer("i", who, spans=marks) for who, marks in zip("abc", spans, strict=True)))
    assert row["trigger_spans"] == [
        {"text": "Dragon", "part": "question", "start": 4, "end": 10},
        {"text": "Boat Festival", "part": "question", "start": 11, "end": 24},
        {"text": "Zong", "part": "A", "start": 0, "end": 4},
    ]


def test_names_count_whatever_their_case() -> None:
    words = [{"country": "China"}, {"country": "china "}, {"country": "PRC"}]
    row = one(*(answer("i", who, words=said) for who, said in zip("abc", words, strict=True)))
    assert (row["country"], row["region"]) == ("China", "")


LABELS = st.lists(st.sampled_from(["none", "regional", "cultural", "dialect", ""]), min_size=2, max_size=7)


@given(st.lists(LABELS, min_size=1, max_size=6))
def test_majorities_are_what_counting_gives(items: list[list[str]]) -> None:
    rows = [
        answer(f"i{n}", f"p{k}", required_knowledge=label)
        for n, labels in enumerate(items)
        for k, label in enumerate(labels)
    ]
    found = decided(*rows)
    for n, labels in enumerate(items):
        given_ = [label for label in labels if label]
        expected = [label for label, count in Counter(given_).items() if 2 * count > len(given_)]
        assert found[f"i{n}", "zh"]["required_knowledge"] == "".join(expected)


def test_decisions_are_the_table_that_a_build_takes(tmp_path: Path) -> None:
    write_step(tmp_path / "d.parquet", decide(people_table([answer("i", who) for who in "ab"])))
    table = read_table(tmp_path / "d.parquet", DECISIONS, "the decisions")
    assert table.column_names[: len(DECISIONS.names)] == DECISIONS.names
    assert table["keep"].to_pylist() == [True]


def test_tables_of_people_are_refused_where_they_cannot_be_right(tmp_path: Path) -> None:
    write_step(tmp_path / "a.parquet", people_table([answer("i", "ana")]))
    with pytest.raises(DuplicateRows, match="i/zh/ana is in two"):
        read_people([tmp_path / "a.parquet", tmp_path / "a.parquet"])
    row = {**answer("i", "ana"), "sound": "perhaps"}
    write_step(tmp_path / "b.parquet", people_table([row]))
    with pytest.raises(BadValue, match=r"'sound': 1 labels are none of yes, no \(row 1: 'perhaps'\)"):
        read_people([tmp_path / "b.parquet"])
    with pytest.raises(EmptyTable, match="nobody"):
        decide(PEOPLE.empty_table())
    with pytest.raises(BadSetting, match="at least one"):
        decide(people_table([row]), least=0)


def test_a_build_takes_the_decisions_as_they_are(tmp_path: Path) -> None:
    """Labels that people agreed on, an English that they mended, and what they left out, with the reason."""
    rows = [answer("ca", w, cultural_sensitivity_label="CA", required_knowledge="none") for w in "ab"]
    rows += [answer("mended", w, translation="bad", words={"mended": MENDED}) for w in "ab"]
    rows += [answer("out", w, sound="no") for w in "ab"]
    write_step(tmp_path / "d.parquet", decide(people_table(rows)))
    table = read_table(tmp_path / "d.parquet", DECISIONS, "the decisions")
    decisions = {(row["item"], row["language"]): row for row in table.to_pylist()}
    items = [
        Item(name, "CS", language, f"{name} {language}?", ("x", "y"), 0)
        for name in ("ca", "mended", "out")
        for language in ("zh", "en")
    ]
    kept, gone = merge_items(items, [], decisions, pivot="en")
    assert {(x.item, x.language, x.subset, x.question) for x in kept} == {
        ("ca", "zh", "CA", "ca zh?"),
        ("ca", "en", "CA", "ca en?"),
        ("mended", "zh", "CS", "mended zh?"),
        ("mended", "en", "CS", "What is eaten at the festival?"),
    }
    assert [(x.item.item, x.step, x.detail) for x in gone] == [("out", "review", "not sound: 2")]
