"""A reader that goes away, as `head -1` does, is no fault: no traceback, and files are whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults import commands, matrix
from tests.faults.zygote import CLOSED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks processes, and looks into /proc"),
]


@pytest.fixture(scope="module")
def run() -> Iterator[matrix.Runner]:
    with matrix.runner() as started:
        yield started


@pytest.mark.parametrize("name", commands.ALL)
def test_a_closed_pipe(name: str, run: matrix.Runner, tmp_path: Path) -> None:
    with commands.made(name, tmp_path / "in") as stage:
        calm = matrix.fresh(stage, tmp_path / "calm")
        assert run.run(replace(stage, printed="said"), calm).code == 0
        folder = matrix.fresh(stage, tmp_path / "closed")
        done = run.run(replace(stage, printed=CLOSED), folder)
        assert done.code in (0, 1)
        assert matrix.TRACEBACK not in done.said
        assert "Broken pipe" not in done.said
        whole = [name for name in matrix.names(calm / "work") if name != "said"]
        found = [
            name for name in matrix.names(folder / "work") if ".units/" not in name
        ]  # score tells status
        assert found == whole
