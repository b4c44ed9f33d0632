"""The page of an item set: counts by hand, texts that are no markup, and filters in a real browser."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.errors import EmptyTable, OutputExists
from maskedadv.reports.item_counts import agreement, by_language, by_subject, left_out
from maskedadv.reports.item_entries import entries_of, pieces
from maskedadv.reports.item_page import item_page, write_item_page
from tests.chromium import CHROMIUM, Browser

EVIL = "</article><script>document.body.dataset.hit=1</script><img src=x onerror=alert(1)>"
ATTRIBUTE = '"><img src=x onerror="document.body.dataset.hit=1">'


def item(
    name: str, language: str, subset: str, question: str, options: list[str], **more: str
) -> dict[str, Any]:
    usual = {"item": name, "language": language, "subset": subset, "answer": "B", "subject": "food"}
    return {**usual, "question": question, "options": options, **more}


ITEMS = pd.DataFrame(
    [
        item("a", "ar", "CS", "ما هي عاصمة الإمارات؟ (UAE)", ["دبي", "أبو ظبي", "3 km"], subject="civics"),
        item(
            "a",
            "en",
            "CS",
            "What is the capital of the UAE?",
            ["Dubai", "Abu Dhabi", "3 km"],
            subject="civics",
        ),
        item("b", "ar", "CA", "2 + 2?", ["3", "4"], subject="maths"),
        item("c", "zh", "CS", "端午节吃什么？", ["月饼", "粽子"]),
        item("c", "en", "CS", "What is eaten?\n<b>Then</b>", ["Mooncakes", "Zongzi"]),
        item("d" + EVIL, "zh", "CA", EVIL + " {{ 7*7 }} &amp;", [ATTRIBUTE, "x" * 300], subject=ATTRIBUTE),
    ]
)
TRANSLATIONS = pd.DataFrame(
    [
        {"item": "b", "language": "ar", "translated_question": "2 + 2 =", "translated_options": ["3", "4"],
         "answer": "B", "flags": ["numbers_differ", "length"], "why": EVIL},
        {"item": "a", "language": "ar", "translated_question": None, "translated_options": None,
         "answer": "B", "flags": [], "why": ""},
    ]
)  # fmt: skip
DECISIONS = pd.DataFrame(
    [
        {"item": "a", "language": "ar", "keep": True, "reason": ""},
        {"item": "c", "language": "zh", "keep": False, "reason": f"not sound: 2 to 1 (ana: {EVIL})"},
    ]
)


def said(name: str, language: str, who: str, label: str, spans: list[dict[str, Any]] = []) -> dict[str, Any]:  # noqa: B006
    return {
        "item": name, "language": language, "annotator": who, "cultural_sensitivity_label": label,
        "explanation": EVIL, "trigger_spans": spans, "reason": "", "detail": "",
    }  # fmt: skip


MARK = {"text": "الإمارات", "part": "question", "start": 12, "end": 20}
ANNOTATIONS = pd.DataFrame(
    [
        said("a", "ar", "m1", "CS", [MARK]),
        said("a", "ar", "m2", "CS", [{"text": "ظبي", "part": "B", "start": 4, "end": 7}]),
        said("c", "zh", "m1", "CS", [{"text": "gone", "part": "question", "start": 2, "end": 6}]),
        said("c", "zh", "m2", "CA"),
    ]
)
TABLES = {"annotations": ANNOTATIONS, "translations": TRANSLATIONS, "decisions": DECISIONS}


class Seen(HTMLParser):
    """Elements of a page, with what they hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "every element is closed where it was opened"

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts.setdefault(tag, []).append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return item_page(ITEMS, **TABLES, title="Trial " + EVIL)  # type: ignore[arg-type]


def test_counts_are_those_of_the_items() -> None:
    entries = entries_of(ITEMS, [ANNOTATIONS], TRANSLATIONS, DECISIONS)
    assert [(x.item[0], x.locale) for x in entries] == [("a", "ar"), ("b", "ar"), ("c", "zh"), ("d", "zh")]
    table = by_language(entries).set_index("language")
    assert table.loc["ar"].to_dict() == {
        "items": 2, "CA": 1, "CS": 1, "without English": 0, "flagged": 1, "reviewed": 1, "fail review": 0
    }  # fmt: skip
    assert table.loc["zh"].to_dict() == {
        "items": 2, "CA": 1, "CS": 1, "without English": 1, "flagged": 0, "reviewed": 1, "fail review": 1
    }  # fmt: skip
    subjects = by_subject(entries).set_index("subject")
    assert subjects.loc["civics"].to_dict() == {"all": 1, "ar": 1, "zh": 0}
    assert subjects["all"].sum() == 4


def test_agreement_is_that_of_the_annotators() -> None:
    found = agreement(ANNOTATIONS)
    row = found[found["language"] == "all"].to_dict("records")[0]
    assert (row["field"], row["items"], row["share_unanimous"]) == ("cultural sensitivity label", 2, 0.5)
    # Labels CS CS | CS CA: observed disagreement 1/2, expected 2 * 3 * 1 / (4 * 3) = 1/2.
    assert row["alpha"] == pytest.approx(0)
    assert agreement(ANNOTATIONS[ANNOTATIONS["annotator"] == "m1"]).empty


def test_what_was_left_out_is_counted_by_step_and_kind_of_reason() -> None:
    frame = pd.DataFrame(
        [
            ("review", "review", "not sound: 2 to 1"),
            ("review", "review", "not sound: 3 (ana: two: answers)"),
            ("translate", "options_differ", "3 options, not 4"),
        ],
        columns=["step", "reason", "detail"],
    )
    assert left_out(frame).to_numpy().tolist() == [
        ["review", "not sound", 2],
        ["translate", "options differ", 1],
    ]


def test_sides_run_as_their_language_does_and_marks_stand_where_people_put_them(page: str) -> None:
    sides = [a for tag, a in Seen(page).tags if tag == "div" and a.get("lang")]
    assert {(a["lang"], a["dir"]) for a in sides} == {("ar", "rtl"), ("zh", "ltr"), ("en", "ltr")}
    assert Seen(page).texts["mark"] == ["الإمارات", "ظبي"], "marks of another text are left out"
    entry = entries_of(ITEMS, [], TRANSLATIONS, None)[1]
    assert (entry.item, entry.local.way if entry.local else "") == ("b", "rtl"), (
        "digits run as the language does"
    )


def test_texts_are_no_markup(page: str) -> None:
    seen = Seen(page)
    assert not [tag for tag, _ in seen.tags if tag in {"img", "b", "i"}]
    assert sum(tag == "script" for tag, _ in seen.tags) == 1
    assert not [a for _, a in seen.tags if any(name.startswith("on") for name in a)]
    assert sum(tag == "article" for tag, _ in seen.tags) == 4
    assert EVIL in "".join(seen.texts["article"])
    assert "{{ 7*7 }} &amp;" in "".join(seen.texts["article"])
    assert ATTRIBUTE in {a.get("value") for tag, a in seen.tags if tag == "option"}


def test_without_a_script_every_item_is_there_and_no_form(page: str) -> None:
    seen = Seen(page)
    assert not [a for tag, a in seen.tags if tag == "article" and "hidden" in a]
    assert [a for tag, a in seen.tags if tag == "form" and "hidden" in a]


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(-3, 33), st.integers(-3, 33)), max_size=5))
def test_marks_never_change_a_text(text: str, places: list[tuple[int, int]]) -> None:
    spans = [(a, b, text[a:b] if 0 <= a < b else "") for a, b in places]
    found = pieces(text, spans)
    assert "".join(p.text for p in found) == text
    marked = {k for a, b, _ in spans if 0 <= a < b <= len(text) for k in range(a, b)}
    assert sum(len(p.text) for p in found if p.marked) == len(marked)


def test_a_page_is_written_whole_or_refused(tmp_path: Path) -> None:
    write_item_page(ITEMS, tmp_path / "p.html")
    with pytest.raises(OutputExists, match="--overwrite"):
        write_item_page(ITEMS, tmp_path / "p.html")
    with pytest.raises(EmptyTable):
        item_page(ITEMS.iloc[:0])


def test_items_without_labels_or_counterparts_make_a_page(tmp_path: Path) -> None:
    write_item_page(
        ITEMS[["item", "language", "subset", "question", "options", "answer"]].iloc[[1]], tmp_path / "p.html"
    )
    text = (tmp_path / "p.html").read_text("utf-8")
    assert "1 item in 1 language." in text
    assert "Only in en." in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")
@pytest.mark.parametrize(("width", "columns"), [(420, 1), (1300, 2)])
def test_in_a_browser_it_is_quiet_fits_and_filters(
    page: str, width: int, columns: int, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(page, "utf-8")
    with Browser(tmp_path / "profile", width) as b:
        b.open((tmp_path / "page.html").as_uri())
        assert b.run("document.body.dataset.hit") is None
        assert b.run("document.documentElement.scrollWidth") <= width
        assert (
            b.run("getComputedStyle(document.querySelector('.sides')).gridTemplateColumns.split(' ').length")
            == columns
        )

        def shown(**asked: str) -> str:
            b.run("document.querySelector('#filters button').click()")
            b.wait_for("document.getElementById('shown').textContent.startsWith('4 of 4')")
            for name, value in asked.items():
                b.run(
                    f"(() => {{ const e = document.querySelector('#filters [name={name}]');"
                    f" e.value = {value!r};"
                    " e.dispatchEvent(new Event('input', {bubbles: true})); })()"
                )
            return "".join(
                b.run(
                    "[...document.querySelectorAll('article')].filter(e => e.offsetParent)"
                    ".map(e => e.querySelector('h3 bdi').textContent[0])"
                )
            )

        assert shown() == "abcd"
        assert shown(locale="ar") == "ab"
        assert shown(subset="CS") == "ac"
        assert shown(flags="any") == "b"
        assert shown(flags="length") == "b"
        assert shown(flags="none") == "acd"
        assert shown(state="out") == "c"
        assert shown(text="ZONGZI") == "c"
        assert shown(subset="CS", text="uae") == "a"
        assert shown(text="nowhere") == ""
        assert b.run("getComputedStyle(document.getElementById('nothing')).display") != "none"
        assert b.console == []
        assert b.outside == []
        b.send("Emulation.setEmulatedMedia", media="print")
        assert b.run("getComputedStyle(document.getElementById('filters')).display") == "none"
