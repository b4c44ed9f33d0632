"""The same command twice at once: one does the work, the other is refused in a sentence or comes after it."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults import commands, matrix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks processes, and looks into /proc"),
]
TIMES = 4


@pytest.fixture(scope="module")
def runners() -> Iterator[tuple[matrix.Runner, matrix.Runner]]:
    with ExitStack() as stack:
        yield stack.enter_context(matrix.runner()), stack.enter_context(matrix.runner())


@pytest.mark.parametrize("name", [n for n in commands.ALL if n not in ("check", "check_json", "gaps")])
def test_two_at_once(name: str, runners: tuple[matrix.Runner, matrix.Runner], tmp_path: Path) -> None:
    one, other = runners
    refused = 0
    with commands.made(name, tmp_path / "in") as stage:
        calm = matrix.calm_run(one, stage, tmp_path / "calm")
        for k in range(TIMES):
            folder = matrix.fresh(stage, tmp_path / str(k))
            first = one.start(stage, folder)
            time.sleep(random.Random(f"{name} {k}").random() * 0.3 * calm.seconds)
            second = other.start(stage, folder)
            ended = [one.wait(first, folder), other.wait(second, folder)]
            assert {done.code for done in ended} <= {0, 2}, ended
            assert any(done.code == 0 for done in ended), ended
            assert matrix.TRACEBACK not in ended[0].said + ended[1].said
            refused += sum(done.code == 2 for done in ended)
            assert stage.result(folder / "work") == calm.result
            for run in runners:
                matrix.check_nothing_left(run, folder, calm)
    print(f"{name}: {refused} of {TIMES} refused")
