"""Names cut to a width: names that differ stay different, whatever they have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.reports.theme import distinct_labels
from maskedadv.words.distinct import shorten_distinct
from maskedadv.words.terminal import display_width, format_table

MODELS = [f"Qwen/Qwen2.5-{size}B-Instruct" for size in (7, 14, 32)] + [
    f"meta-llama/Llama-3.{v}-70B-Instruct" for v in (0, 1, 3)
]


def test_the_models_of_a_family_are_told_apart():
    shown = shorten_distinct(MODELS, 22)
    assert len(set(shown.values())) == 6
    assert all(display_width(label) <= 22 for label in shown.values())
    assert [m for m, size in zip(MODELS, ("7", "14", "32"), strict=False) if size in shown[m]] == MODELS[:3]
    assert len(set(distinct_labels(MODELS, 22))) == 6


def test_long_names_that_differ_in_the_middle_only():
    names = [f"{'a' * 60}{n}{'b' * 60}" for n in range(12)]
    shown = shorten_distinct(names, 30)
    assert len(set(shown.values())) == 12
    assert shown[names[11]].count("11")


@given(st.lists(st.text(st.sampled_from("ab語"), min_size=1, max_size=40), max_size=12), st.integers(6, 30))
def test_no_two_names_are_shown_alike(names, width):
    shown = shorten_distinct(names, width)
    assert len(set(shown.values())) == len(set(names))
    assert all(display_width(label) <= width for label in shown.values())


@pytest.mark.parametrize("width", [60, 70, 80])
def test_codes_of_languages_are_not_cut_in_tables(width):
    header = ["locale", "set", *"abcdefghij"]
    rows = [["kk-Latn", "CA", *(["123456"] * 10)], ["uz-Cyrl", "CS", *(["1"] * 10)]]
    table = format_table(header, rows, width=width)
    assert "kk-Latn" in table
    assert "uz-Cyrl" in table


def test_names_in_a_table_that_is_too_wide_stay_different():
    table = format_table(["model", "n"], [[m, "1" * 60] for m in MODELS], width=80)
    assert len({line.split()[0] for line in table.splitlines()[1:]}) == 6
