"""A fit holds no more than it needs."""

from __future__ import annotations

import weakref

import maskedadv
from maskedadv.fitting import fit_table
from maskedadv.settings import Settings


def test_the_table_is_let_go_before_the_blocks_are_fitted() -> None:
    tables = [maskedadv.read_responses(maskedadv.datasets.global_mmlu_lite())]
    there = weakref.ref(tables[0])
    seen: list[bool] = []
    fit_table(tables.pop(), Settings(locale=("sw",)), progress=lambda _: seen.append(there() is not None))
    assert seen
    assert not any(seen)
