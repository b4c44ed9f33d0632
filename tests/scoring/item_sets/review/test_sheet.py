"""The text that people mark: places in it and places in the item are each other's way back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maskedadv.scoring.item_sets.review.sheet import (
    Piece,
    from_utf16,
    pieces_of,
    place_of,
    read_sheet,
    sheet_of,
    to_utf16,
)

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
WORDS = TEXT.filter(lambda t: t.strip() == t and "\u2068" not in t and "\u2069" not in t)
OPTIONS = st.lists(WORDS, min_size=2, max_size=10)


@given(TEXT, st.lists(TEXT, min_size=2, max_size=10), st.data())
def test_every_piece_of_a_part_comes_back_as_it_was(
    question: str, options: list[str], data: st.DataObject
) -> None:
    parts = {"question": question, **dict(zip("ABCDEFGHIJ", options, strict=False))}
    part = data.draw(st.sampled_from(sorted(parts)))
    start = data.draw(st.integers(0, len(parts[part]) - 1))
    end = data.draw(st.integers(start + 1, len(parts[part])))
    text = parts[part][start:end]
    sheet = sheet_of(question, options)
    low, high = place_of(question, options, part, start, end)
    assert sheet[low:high] == text
    found = pieces_of(question, options, low, high)
    lead = len(text) - len(text.lstrip())
    stripped = text.strip()
    assert found == ([Piece(stripped, part, start + lead, start + lead + len(stripped))] if stripped else [])
    # and as a browser counts
    assert from_utf16(sheet, to_utf16(sheet, low)) == low
    assert to_utf16(sheet, low) == len(sheet[:low].encode("utf-16-le")) // 2


def test_a_mark_over_the_whole_sheet_is_every_part() -> None:
    question, options = "Which?", ["one", " two ", "3"]
    found = pieces_of(question, options, 0, len(sheet_of(question, options)))
    assert found == [
        Piece("Which?", "question", 0, 6),
        Piece("one", "A", 0, 3),
        Piece("two", "B", 1, 4),
        Piece("3", "C", 0, 1),
    ]


def test_letters_and_blanks_between_the_parts_are_no_piece() -> None:
    sheet = sheet_of("Which?", ["one", "two"])
    assert pieces_of("Which?", ["one", "two"], 6, sheet.index("one")) == []


@given(WORDS, OPTIONS)
def test_a_sheet_that_nobody_changed_reads_as_it_was(question: str, options: list[str]) -> None:
    # A question's or an option's own line that begins as an option does is told by the last one that does.
    assert read_sheet(sheet_of(question, options), len(options)) == (question, tuple(options))


def test_an_edited_sheet() -> None:
    assert read_sheet(" What is it?\r\n\r\nA) one\nmore of it\n B. two\n", 2) == (
        "What is it?",
        ("one\nmore of it", "two"),
    )
    assert read_sheet("What is it?\n\nA. one\nB. two", 3) is None, "an option is missing"
    assert read_sheet("What is it?\n\nA. one\nB. ", 2) is None, "an option is empty"
    assert read_sheet("A. one\nB. two", 2) is None, "no question"
