"""The rule that gives the class, at its edges."""

from __future__ import annotations

import math

import pytest

from maskedadv.validity.evidence import classify, conclude


@pytest.mark.parametrize(
    ("p", "lower", "passed", "refits", "expected"),
    [
        (0.05, 1.0, 17, 17, "null"),  # alpha itself is not below alpha
        (0.0499, 0.01, 17, 17, "robust"),
        (0.0499, 0.0, 17, 17, "marginal"),
        (0.0499, 0.01, 16, 17, "marginal"),
        (0.0499, -2.0, 0, 0, "marginal"),  # robust is out, whatever the families say
        (0.0499, 0.01, 0, 0, "undetermined"),  # one family
        (0.0499, math.nan, 17, 17, "undetermined"),  # no interval
        (0.0499, math.nan, 16, 17, "marginal"),
        (math.nan, 0.01, 17, 17, "undetermined"),
        (0.9, math.nan, 0, 0, "null"),
    ],
)
def test_rule(p: float, lower: float, passed: int, refits: int, expected: str) -> None:
    assert classify(p, lower, passed, refits) == expected


def test_refits_that_cannot_be_estimated_neither_pass_nor_fail() -> None:
    assert classify(0.01, 0.5, 16, 17, unknown=1) == "undetermined"
    assert classify(0.01, 0.5, 15, 17, unknown=1) == "marginal"
    assert classify(0.01, -0.5, 16, 17, unknown=1) == "marginal"
    assert classify(0.5, 0.5, 0, 17, unknown=17) == "null"


def test_alpha_can_be_set() -> None:
    assert classify(0.027, 0.006, 17, 17, alpha=0.01) == "null"
    assert classify(0.08, 0.006, 17, 17, alpha=0.1) == "robust"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([("robust", 0.01), ("robust", 0.02)], "robust"),
        ([("robust", 0.01), ("marginal", 0.02)], "marginal"),
        ([("robust", 0.01), ("null", 0.2)], "null"),
        ([("null", 0.3), ("undetermined", math.nan)], "null"),
        ([("robust", 0.01), ("undetermined", 0.01)], "undetermined"),  # marginal or robust
        ([("marginal", 0.01), ("undetermined", 0.01)], "marginal"),  # whichever it is
        ([("marginal", 0.01), ("undetermined", math.nan)], "undetermined"),  # it may be null
    ],
)
def test_the_weaker_of_two_counts(found: list, expected: str) -> None:
    assert conclude(found) == expected
    assert conclude(found[::-1]) == expected
