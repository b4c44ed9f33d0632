"""What is seen in a translation: numbers, units, names, scripts; and how alike two texts are."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.scoring.item_sets.names import compare_names
from maskedadv.scoring.item_sets.objects import Unusable, one_line, read_object
from maskedadv.scoring.item_sets.quantities import compare_numbers, compare_units, units_in
from maskedadv.scoring.item_sets.similarity import chrf
from maskedadv.scoring.item_sets.spans import find_span
from maskedadv.scoring.item_sets.translation_fields import flags_of, read_translation
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.sources import read_items
from tests.scoring.item_sets.scripted_models import LOCAL, NAMES, PIVOT, options


@pytest.mark.parametrize(
    ("source", "target", "wrong"),
    [
        ("১৯৫২ সালে", "In 1952", ""),
        ("٨ × ٧", "8 × 7", ""),
        ("१,००,००० लोग", "100,000 people", ""),
        ("5 लाख", "500,000", ""),
        ("30万公里", "300,000 km", ""),
        ("30万公里", "30 km", "30 is missing, 30 is new"),
        ("1.234,5", "1,234.5", ""),
        ("1 234 567", "1,234,567", ""),
        ("3,14", "3.14", ""),
        ("3,14", "3.15", "3,14 is missing, 3.15 is new"),
        ("1.234", "1,234", ""),
        ("十二个月", "12 months", ""),
        ("一九四九年", "1949", ""),
        ("三百六十五天", "365 days", ""),
        ("3 chats", "three cats", ""),
        ("3 chats", "cats", "3 is missing"),
        ("des chats", "7 cats", "7 is new"),
        ("2 2 3", "2 3", "2 is missing"),
        ("12.10.1492", "10/12/1492", ""),
        ("30 εκατομμύρια", "30 million", ""),
        ("3 млн", "3 million", ""),
        ("1789", "1799", "1789 is missing, 1799 is new"),
        ("9" * 500, "9" * 500, ""),
        ("5 月 1 日", "May 1", ""),
        ("5 月 1 日", "May 2", "1 is missing, 2 is new"),
        ("1万5000ドル", "$15,000", ""),
        ("1つ選ぶ", "Choose one", ""),
        ("17世紀", "the seventeenth century", ""),
        ("", "", ""),
    ],
)
def test_numbers(source: str, target: str, wrong: str) -> None:
    assert compare_numbers(source, target) == wrong


@given(st.integers(0, 10**9), st.sampled_from("0০०٠۰"), st.sampled_from(["", ",", ".", "\u00a0", "'"]))
def test_every_script_and_separator_is_the_same_number(value: int, zero: str, separator: str) -> None:
    """The number as Python writes it, in other digits and groups."""
    shown = f"{value:,}".replace(",", separator)
    shown = "".join(chr(ord(zero) + int(c)) if c.isdigit() else c for c in shown)
    assert compare_numbers(f"x {shown} y", f"x {value} y") == ""
    assert compare_numbers(f"x {shown} y", f"x {value + 1} y") != ""


@pytest.mark.parametrize(
    ("source", "target", "wrong"),
    [
        ("多少公里？", "How many kilometres?", ""),
        ("多少公里？", "How many miles?", "kilometre is missing, mile is new"),
        ("১ কিলোমিটার", "1 km", ""),
        ("কত মিটার", "How many metres", ""),
        ("كم غرامًا في 2 كغ؟", "How many grams are in 2 kg?", ""),
        ("كم يومًا؟", "How many days?", ""),
        ("20 °C", "20 ℃", ""),
        ("20 °C", "68 °F", "celsius is missing, fahrenheit is new"),
        ("50%", "50 per cent", ""),
        ("百分之五十", "50%", ""),
        ("玉米", "maize", ""),
        ("5 μέτρα", "5 m", ""),
        ("$5", "5 dollars", ""),
        ("1750 l'Europe", "1750 Europe", ""),
        ("ইউরোপ", "Europe", ""),
        ("প্যাকেজিং", "packaging", ""),
        ("৫ কেজি", "5 kg", ""),
        ("5킬로미터", "5 km", ""),
        ("two resistors 5", "two resistors 5", ""),
        ("Rs 5", "$5", "rupee is missing, dollar is new"),
        ("Marseille, Metz", "Marseille, Metz", ""),
    ],
)
def test_units(source: str, target: str, wrong: str) -> None:
    assert compare_units(source, target) == wrong


def test_longer_units_hide_shorter_ones() -> None:
    assert units_in("কিলোমিটার") == units_in("7 km") == {"kilometre"}
    assert units_in("7 m") == {"metre"}
    assert units_in("millimetrique meterology") == set()


def item(question: str, language: str = "fr", choices: tuple[str, ...] = ("a", "b")) -> Item:
    return Item("q", "CS", language, question, choices, 0)


@pytest.mark.parametrize(
    ("question", "language", "english", "names", "wrong"),
    [
        ("Qui était le maire de Londres ?", "fr", "Who was the mayor of London?", [], ""),
        (
            "Qui était le maire de Londres ?",
            "fr",
            "Who was the mayor of Paris?",
            [],
            "Londres is not found in the translation",
        ),
        ("Où est la ville de Köln ?", "fr", "Where is Cologne?", [("Köln", "Cologne")], ""),
        (
            "Où est la ville de Köln ?",
            "fr",
            "Where is the town?",
            [("Köln", "Cologne")],
            "Cologne is not in the translation",
        ),
        ("Où ?", "fr", "Where is Rome?", [("Rome", "Rome")], "Rome is no part of the item"),
        ("Πού είναι η Θεσσαλονίκη;", "el", "Where is Thessaloniki?", [], ""),
        ("UNESCO成立于何时？", "zh", "When was UNESCO founded?", [], ""),
        ("UNESCO成立于何时？", "zh", "When was it founded?", [], "UNESCO is not found in the translation"),
        ("Wo steht das Haus?", "de", "Where is the building?", [], ""),
        ("Quelle est la valeur de π ici ?", "fr", "What is π here?", [], ""),
        ("Marx Brothersのそれぞれの名前", "ja", "The Marx Brothers' names", [], ""),
    ],
)
def test_names(question: str, language: str, english: str, names: list[Any], wrong: str) -> None:
    assert compare_names(item(question, language), english, ["a", "b"], names) == wrong


@pytest.mark.parametrize("name", LOCAL)
def test_forty_good_translations_have_no_flag(name: str) -> None:
    """Checked by hand: what is right must not be flagged, in any of the five scripts."""
    row = LOCAL[name]
    found = {
        "question": PIVOT[name]["question"],
        "options": options(PIVOT[name]),
        "names": NAMES.get(name, []),
    }
    asked = Item(name, "", row["lang"], row["question"], tuple(options(row)), 0)
    assert flags_of(asked, found, "en") == {}


def test_other_flags() -> None:
    asked = item("Quel est le plus grand fleuve du pays ?", choices=("la Loire", "le Rhône"))

    def flags(question: str, *choices: str) -> set[str]:
        return set(flags_of(asked, {"question": question, "options": choices, "names": []}, "en"))

    assert flags("Which is the longest river of the country?", "the Loire", "the Rhône") == set()
    assert "untranslated" in flags(asked.question, "the Loire", "the Rhône")
    assert "options_alike" in flags("Which is the longest river?", "the Loire", "the  Loire")
    assert flags("Which is the longest river?", "the Loire", "Рона") >= {"other_script"}
    assert "length" in flags("River? " + "It is known to be very long. " * 9, "the Loire", "the Rhône")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"question": "Who?", "options": {"A": "x"}}, "options_differ"),
        ({"question": "Who?", "options": {"A": "x", "B": "y", "C": "z"}}, "options_differ"),
        ({"question": "Who?", "options": ["x"]}, "options_differ"),
        ({"question": "Who?", "options": {"A": "x", "B": ""}}, "bad_fields"),
        ({"question": "Who?", "options": "x, y"}, "bad_fields"),
        ({"question": 7, "options": {"A": "x", "B": "y"}}, "bad_fields"),
        ({"question": "Who?", "options": {"\ud800": "x", "B": "y"}}, "options_differ"),
        ({"question": "谁赢了？", "options": {"A": "x", "B": "y"}}, "other_script"),
    ],
)
def test_translations_that_cannot_be_used(answer: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unusable) as found:
        read_translation(answer, item("Qui ?"), "en")
    assert found.value.reason == reason
    found.value.detail.encode()  # goes into tables and back to the model


def test_order_and_hidden_characters() -> None:
    answer = {"question": "Who\u202e?\ud800", "options": {"B": "second", "A": "\ufefffirst"}, "names": "no"}
    found = read_translation(answer, item("Qui ?"), "en")
    assert found == {"question": "Who?�", "options": ["first", "second"], "names": []}
    assert read_translation({**answer, "options": ["1", "2"]}, item("Qui ?"), "en")["options"] == ["1", "2"]


@given(st.text("abcd efgαβ漢字", max_size=40), st.text("abcd efgαβ漢字", max_size=40))
def test_similarity_is_that_of_sacrebleu(one: str, two: str) -> None:
    """chrF as the standard implementation of its field computes it."""
    sacrebleu = pytest.importorskip("sacrebleu")
    wanted = sacrebleu.CHRF().sentence_score(one, [two]).score / 100
    assert chrf(one, two) == pytest.approx(wanted, abs=1e-9)


@given(st.text(min_size=1, max_size=60).filter(str.split))
def test_a_text_is_like_itself(text: str) -> None:
    assert chrf(text, text) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('[{"a": 1}]', {"a": 1}),
        ('Sure: ```json\n{"a": {"b": 2}}\n```', {"a": {"b": 2}}),
        ('{"a": 1} no, rather {"a": 2}', {"a": 2}),
        ('<think>{"a": 1}</think>{"a": 2}', {"a": 2}),
        ('{ not } {"a": 3', None),
        ("[1, 2]", None),
        ('"text"', None),
        ("[" * 5000, None),
        ('{"a":' * 5000, None),
        ("", None),
    ],
)
def test_objects_in_what_a_model_writes(text: str, found: dict[str, Any] | None) -> None:
    if found is None:
        with pytest.raises(Unusable, match="no_json"):
            read_object(text)
    else:
        assert read_object(text) == found


def test_a_flood_of_braces_takes_no_hours() -> None:
    """Each of these took minutes to hours, and again whenever the kept answers were read."""
    start = time.monotonic()
    for text in ("{" * 1_000_000, '{"a":' * 50_000, "{ " * 300_000):
        with pytest.raises(Unusable, match="no_json"):
            read_object(text)
    assert read_object("{" * 300_000 + ' so: {"a": {"b": 1}}') == {"a": {"b": 1}}
    assert time.monotonic() - start < 20


def test_spans_are_found_in_the_items_own_words() -> None:
    asked = Item("q", "", "ar", "ما هو  عيد الفطر؟", ("Café de\u00a0Flore", "ب"), 0)
    question = asked.question
    span = find_span("عيد الفطر", asked)
    assert span == {"text": "عيد الفطر", "part": "question", "start": 7, "end": 16}
    assert find_span("هو عيد", asked) == {"text": question[3:10], "part": "question", "start": 3, "end": 10}
    assert find_span("cafe\u0301 de flore", asked) == {
        "text": "Café de\u00a0Flore", "part": "A", "start": 0, "end": 13,
    }  # fmt: skip
    assert find_span("Ramadan", asked) is None


def test_one_line() -> None:
    assert one_line("a\x1b[2J\n b\u202e \u2028c", 50) == "a [2J b c"
    assert one_line("می\u200cخواهم", 50) == "می\u200cخواهم"
    assert one_line("x" * 60, 50) == "x" * 49 + "…"
    assert one_line(None, 50) == ""


@pytest.mark.parametrize("language", ["bn", "de", "fr", "ja", "sw", "zh"])
def test_numbers_and_units_of_real_translations_by_people(language: str, shared: Path) -> None:
    """400 items of Global-MMLU-Lite: little that people translated is flagged, a changed number always is."""
    items = read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items
    english = {x.item: x.question for x in items if x.language == "en"}
    pairs = [(x.question, english[x.item]) for x in items if x.language == language]
    assert len(pairs) == 400
    flagged = [bool(compare_numbers(*pair) or compare_units(*pair)) for pair in pairs]
    assert np.mean(flagged) < 0.06
    changed = caught = 0
    for (source, target), flag in zip(pairs, flagged, strict=True):
        numbers = re.findall(r"(?<![\d.,])[2-9]\d{1,3}(?![\d.,])", target)
        if numbers and not flag:
            wrong = re.sub(rf"(?<![\d.,]){numbers[0]}(?![\d.,])", str(int(numbers[0]) + 1), target, count=1)
            changed += 1
            caught += bool(compare_numbers(source, wrong))
    assert changed > 30
    assert caught == changed
