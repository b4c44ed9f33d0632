"""Public sets in their own column layouts: a few hand-written rows of each, as their files have them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from maskedadv.errors import BadItem, BadSetting
from maskedadv.scoring.items.items import check_items
from maskedadv.scoring.items.sources import read_items, source_names


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(path)
    return path


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_global_mmlu(tmp_path: Path) -> None:
    rows = [
        {
            "sample_id": f"anatomy/test/{n}",
            "subject": "anatomy",
            "subject_category": "Medical",
            "question": "Wo?",
            "option_a": "a",
            "option_b": "b",
            "option_c": "c",
            "option_d": "d",
            "answer": "D",
            "required_knowledge": "[]",
            "time_sensitive": "[]",
            "country": "['Germany']",
            "cultural_sensitivity_label": label,
            "is_annotated": True,
        }
        for n, label in enumerate(["CA", "CS", "-"])
    ]
    parquet(tmp_path / "gm" / "de" / "test-00000-of-00001.parquet", rows)
    parquet(tmp_path / "gm" / "de" / "dev-00000-of-00001.parquet", rows)
    found = read_items([tmp_path / "gm"], "global-mmlu")
    assert [(x.item, x.subset, x.language, x.answer, x.country) for x in found.items] == [
        ("anatomy/test/0", "CA", "de", 3, ""),
        ("anatomy/test/1", "CS", "de", 3, ""),
    ]
    assert found.items[0].extra == {"subject": "anatomy", "subject_category": "Medical"}
    assert sum(found.dropped.values()) == 1


@pytest.mark.parametrize("listed", [True, False])
def test_include(tmp_path: Path, listed: bool) -> None:
    options = {"choices": ["a", "b", "c", "d"]} if listed else {f"option_{x}": x for x in "abcd"}
    rows = [
        {
            "language": "Greek",
            "country": "Greece",
            "domain": "Humanities",
            "subject": "History",
            "regional_feature": feature,
            "level": "High School",
            "question": "Πού;",
            **options,
            "answer": 2,
        }
        for feature in ("agnostic", "region explicit", "culture")
    ]
    found = read_items([parquet(tmp_path / "Greek" / "test-0.parquet", rows)], "include").items
    assert [(x.item, x.subset, x.language, x.answer, x.country) for x in found] == [
        ("include/Greek/0", "CA", "el", 2, "Greece"),
        ("include/Greek/1", "CS", "el", 2, "Greece"),
        ("include/Greek/2", "CS", "el", 2, "Greece"),
    ]
    assert found[0].options == ("a", "b", "c", "d")


def test_cmmlu(tmp_path: Path) -> None:
    rows = [
        {"": n, "Question": "哪个？", "A": "甲", "B": "乙", "C": "丙", "D": "丁", "Answer": "C"}
        for n in (0, 1)
    ]
    found = read_items([table(tmp_path / "test" / "agronomy.csv", rows)], "cmmlu").items
    assert [(x.item, x.subset, x.language, x.answer, x.country) for x in found] == [
        ("cmmlu/agronomy/0", "CS", "zh", 2, "CN"),
        ("cmmlu/agronomy/1", "CS", "zh", 2, "CN"),
    ]


def test_arabicmmlu_has_two_to_five_options(tmp_path: Path) -> None:
    base = {
        "ID": 7,
        "Source": "x",
        "Country": "Jordan",
        "Group": "Humanities",
        "Subject": "History",
        "Level": "High",
        "Question": "أين؟",
        "Context": None,
        "Answer Key": "B",
        "Option 1": "١",
        "Option 2": "٢",
        "Option 3": None,
        "Option 4": None,
        "Option 5": None,
        "is_few_shot": 0,
    }
    full = {**base, "ID": 8, "Context": "نص", "Answer Key": "E"} | {
        f"Option {k}": f"o{k}" for k in range(1, 6)
    }
    found = read_items([parquet(tmp_path / "test.parquet", [base, full])], "arabicmmlu").items
    assert [(x.item, x.options, x.answer, x.country) for x in found] == [
        ("arabicmmlu/7", ("١", "٢"), 1, "Jordan"),
        ("arabicmmlu/8", ("o1", "o2", "o3", "o4", "o5"), 4, "Jordan"),
    ]
    assert found[1].question == "نص\nأين؟"


def test_greekmmlu(tmp_path: Path) -> None:
    rows = [
        {
            "question": "Πού;",
            "choices": ["α", "β", "γ"],
            "answer": 0,
            "subject": "Law",
            "group": "H",
            "level": "U",
        }
    ]
    (found,) = read_items([parquet(tmp_path / "All" / "test-0.parquet", rows)], "greekmmlu").items
    assert (found.language, found.subset, found.answer, found.country, found.options) == (
        "el",
        "CS",
        0,
        "GR",
        ("α", "β", "γ"),
    )


def test_milu_names_the_column_of_the_right_option(tmp_path: Path) -> None:
    rows = [
        {
            "question": "कहाँ?",
            "option1": "क",
            "option2": "ख",
            "option3": "ग",
            "option4": "घ",
            "target": "option3",
            "subject": "History",
            "domain": "Arts",
            "language": "Hindi",
            "is_translated": False,
        }
    ]
    (found,) = read_items([parquet(tmp_path / "Hindi" / "test.parquet", rows)], "milu").items
    assert (found.item, found.language, found.answer, found.country) == ("milu/Hindi/0", "hi", 2, "IN")
    rows[0]["target"] = "option9"
    with pytest.raises(BadItem, match="'option9'"):
        read_items([parquet(tmp_path / "Hindi" / "test.parquet", rows)], "milu")


def test_kmmlu_counts_from_one(tmp_path: Path) -> None:
    rows = [
        {
            "question": "어디?",
            "answer": a,
            "A": "가",
            "B": "나",
            "C": "다",
            "D": "라",
            "Category": "c",
            "Human Accuracy": 0.5,
        }
        for a in (1, 4, 2)
    ]
    found = read_items([table(tmp_path / "Accounting-test.csv", rows)], "kmmlu").items
    assert [x.answer for x in found] == [0, 3, 1]
    assert {x.country for x in found} == {"KR"}


def test_an_empty_option_of_a_set_with_four_is_found_and_not_left_out(tmp_path: Path) -> None:
    row = {"question": "어디?", "answer": 1, "A": "가", "B": "나", "C": "다", "D": ""}
    (found,) = read_items([table(tmp_path / "Accounting-test.csv", [row])], "kmmlu").items
    assert found.options == ("가", "나", "다", "")
    assert "empty option" in {problem.kind for problem in check_items([found])}


def test_belebele(tmp_path: Path) -> None:
    rows = [
        {
            "link": "https://en.wikinews.org/a",
            "question_number": n,
            "flores_passage": "Passage.",
            "question": "Who?",
            "mc_answer1": "a",
            "mc_answer2": "b",
            "mc_answer3": "c",
            "mc_answer4": "d",
            "correct_answer_num": "4",
            "dialect": "nob_Latn",
            "ds": "2023-05-03",
        }
        for n in (1, 2)
    ]
    path = parquet(tmp_path / "test.parquet", rows)
    found = read_items([path], "belebele", subset="CA").items
    assert [(x.item, x.language, x.answer) for x in found] == [
        ("https://en.wikinews.org/a#1", "nb", 3),
        ("https://en.wikinews.org/a#2", "nb", 3),
    ]
    assert found[0].question == "Passage.\nWho?"
    assert read_items([path], "belebele").dropped == {"not labelled CA or CS": 2}


def test_m_mmlu_and_mmlux(tmp_path: Path) -> None:
    okapi = [{"id": "law/test/1", "instruction": "Où?", **{f"option_{x}": x for x in "abcd"}, "answer": "A"}]
    path = parquet(tmp_path / "fr" / "test.parquet", okapi)
    (found,) = read_items([path], "m_mmlu", labels={"law/test/1": "CS"}).items
    assert (found.item, found.language, found.subset, found.answer) == ("law/test/1", "fr", "CS", 0)
    eu = [{"id": "law/test/1", "question": "Var?", "choices": ["a", "b", "c", "d"], "answer": 3}]
    path = parquet(tmp_path / "law_SV" / "test.parquet", eu)
    (found,) = read_items([path], "mmlux", language="sv", subset="CA").items
    assert (found.item, found.language, found.answer) == ("law/test/1", "sv", 3)


def test_every_source_is_described_and_unknown_ones_refused(tmp_path: Path) -> None:
    assert all(source_names().values())
    with pytest.raises(BadSetting, match="known: items, global-mmlu"):
        read_items([tmp_path], "nothing")
