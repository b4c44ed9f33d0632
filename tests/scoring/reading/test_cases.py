"""Written answers that were read wrong or not at all before, of each kind, as models write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maskedadv.scoring.reading.read import read_answer

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "reading" / "cases.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['language']}-{c['kind']}")
def test_the_case_is_read_as_its_writer_means_it(case):
    expected = None if case["expected"] is None else "ABCDEFGHIJ".index(case["expected"])
    assert read_answer(case["text"], case["n_options"], case["language"]).option == expected
