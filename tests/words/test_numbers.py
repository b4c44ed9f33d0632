"""One form of numbers for terminal, page, LaTeX and sentences."""

from __future__ import annotations

import math

import pytest

from maskedadv.words import numbers
from maskedadv.words.lists import first_few
from maskedadv.words.numbers import PAGE, STUDY, TERMINAL, level_text, number, probability, signed


@pytest.mark.parametrize(
    ("value", "terminal", "page", "study"),
    [
        (-0.654, "-0.65", "−0.65", "-0.65"),
        (-0.004, "0.00", "0.00", "0.00"),
        (1234.5, "1234.50", "1234.50", "1234.50"),
        (math.nan, "-", "n/a", "NA"),
        (math.inf, "inf", "∞", "NA"),
        (-math.inf, "-inf", "−∞", "NA"),
    ],
)
def test_a_number_in_every_place(value: float, terminal: str, page: str, study: str) -> None:
    assert [number(value, 2, form) for form in (TERMINAL, PAGE, STUDY)] == [terminal, page, study]
    assert signed(value) == page


def test_the_decimals_of_tables_stand_in_one_place() -> None:
    """What a change of `DIGITS` does: the defaults of every form follow it."""
    assert number(1.23456) == signed(1.23456) == f"{1.23456:.{numbers.DIGITS}f}"


def test_probabilities_are_never_certain() -> None:
    assert [probability(p) for p in (0.0, 0.0004, 0.5, 0.9996, 1.0)] == [
        "<.001",
        "<.001",
        ".500",
        ">.999",
        ">.999",
    ]


def test_levels() -> None:
    assert [level_text(level) for level in (0.95, 0.995, 0.5)] == ["95%", "99.5%", "50%"]


def test_lists_say_when_there_is_more() -> None:
    assert first_few("abc") == "a, b, c"
    assert first_few("abcd") == "a, b, c, ..."
    assert first_few(["a", "b"], count=7) == "a, b, ..."
    assert first_few([]) == ""
