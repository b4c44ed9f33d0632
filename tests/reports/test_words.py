"""Words that follow from numbers."""

from __future__ import annotations

import math

import pytest

from maskedadv.reports.figures.variants import survival
from maskedadv.reports.words import verdict
from maskedadv.words.numbers import chance, interval_text, p_value, percent, signed


def _gap(estimate: float, half: float = 0.2) -> dict[str, float]:
    return {"estimate": estimate, "lower": estimate - half, "upper": estimate + half}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.654, "−0.65"),
        (-0.001, "0.00"),
        (0.0, "0.00"),
        (12.345, "12.35"),
        (math.nan, "n/a"),
        (-math.inf, "−∞"),
    ],
)
def test_signed(value: float, text: str) -> None:
    assert signed(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0003, "= .0003"),
        (0.009, "= .009"),
        (0.32, "= .32"),
        (1.0, "= 1.00"),
        (1e-9, "< .0001"),
        (math.nan, "n/a"),
    ],
)
def test_p_value(p: float, text: str) -> None:
    assert p_value(p) == text


def test_chances_and_shares_never_claim_certainty() -> None:
    assert chance(0.99999) == "P(>0) > .999"
    assert chance(0.0) == "P(>0) < .001"
    assert chance(0.0421) == "P(>0) = .042"
    assert percent(0.9999) == "over 99%"
    assert percent(0.001) == "under 1%"
    assert (percent(0.0), percent(1.0), percent(0.98), percent(math.nan)) == ("0%", "100%", "98%", "n/a")


def test_interval_without_interval() -> None:
    assert interval_text({"estimate": -0.5, "lower": math.nan, "upper": math.nan}) == "−0.50"


@pytest.mark.parametrize(
    ("global_", "local", "first", "second"),
    [
        (-0.8, 0.5, "The local language is better for local questions.", "weaker proficiency masks it"),
        (-0.8, -0.1, "Neither language is clearly better", "weaker proficiency masks it"),
        (-1.5, -0.8, "English is better for local questions.", "weaker proficiency masks it"),
        (
            -0.8,
            -0.85,
            "English is better for local questions.",
            "beyond it, no difference in access is clear",
        ),
        (-0.5, -1.5, "English is better for local questions.", "Both play a part"),
        (0.05, -0.9, "English is better for local questions.", "It is access, better through English"),
        (0.6, -0.9, "English is better for local questions.", "in spite of stronger local proficiency"),
        (0.6, 1.5, "The local language is better", "Access and proficiency are both better"),
        (0.05, 0.1, "Neither language is clearly better", "the data do not say which"),
        (0.6, 0.6, "The local language is better", "Proficiency is better in the local language"),
    ],
)
def test_verdicts(global_: float, local: float, first: str, second: str) -> None:
    words = verdict(_gap(global_), _gap(local), _gap(local - global_), "English")
    assert words.startswith(first)
    assert second in words


def test_an_unknown_gap_gives_no_verdict() -> None:
    assert verdict(_gap(math.nan), _gap(0.1), _gap(math.nan), "English").startswith("Not known")


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ({"plain": 1, "floor": 1, "linked": 1}, "stays clearly above zero under all"),
        ({"plain": 1, "floor": 1, "linked": 0}, "clearly above zero as plain, but not as linked"),
        ({"plain": -1, "floor": 1}, "clearly below zero as plain, but not as floor"),
        ({"plain": 0, "floor": 0}, "not clearly off zero under any"),
        ({"plain": 0, "floor": 1}, "not clearly off zero as plain, but as floor"),
    ],
)
def test_what_survives_other_assumptions(sides: dict[str, int], words: str) -> None:
    assert words in survival(sides)
