"""The numbers of docs/how-to/compare.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.datasets import global_mmlu_lite
from tests.conftest import ROOT
from tests.documentation.shell import run_command
from tests.documentation.steps import blocks_of, missing


@pytest.mark.slow  # the default candidates on 28,800 answers: a quarter of a minute
def test_the_table_of_the_bundled_outcomes(tmp_path: Path) -> None:
    (block,) = (b for b in blocks_of(ROOT / "docs" / "how-to" / "compare.md") if b.kind == "text")
    global_mmlu_lite().to_parquet(tmp_path / "answers.parquet")
    told = run_command(["compare", str(tmp_path / "answers.parquet")])
    assert len(block.text.splitlines()) == 7
    assert not missing(block.text, told), told
