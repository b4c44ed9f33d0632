"""Written answers that were read wrong or not at all before, of each kind, as models write them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from maskedadv.scoring.reading.read import read_answer

DATA = Path(__file__).parents[2] / "data" / "reading"
CASES = [json.loads(line) for line in (DATA / "cases.jsonl").read_text("utf-8").splitlines()]
VARIANTS = (DATA / "variants.tsv").read_text("utf-8").splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['language']}-{c['kind']}")
def test_the_case_is_read_as_its_writer_means_it(case):
    expected = None if case["expected"] is None else "ABCDEFGHIJ".index(case["expected"])
    assert read_answer(case["text"], case["n_options"], case["language"]).option == expected


def test_variants_of_the_cases_in_other_words_and_languages() -> None:
    """Each kind of case again: written to be read wrong, by an option that is not meant or by none at all."""
    wrong = []
    for language, expected, options, text in list(
        csv.reader(VARIANTS, delimiter="\t", quoting=csv.QUOTE_NONE)
    )[1:]:
        text = text.replace("\\n", "\n").replace("\\\\", "\\")
        found = read_answer(text, int(options), language)
        if found.option != (None if expected == "-" else "ABCDE".index(expected)):
            wrong.append((language, text, expected, found))
    assert not wrong
