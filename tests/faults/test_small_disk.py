"""Every command that writes, on a disk that is too small for it and on one that may only be read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.faults import commands, matrix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None,
        reason="mounts a small disk",
    ),
]
ROOM = (0, 4, 16, 64, 256, 1024, 3072)
"""KiB that are left; a disk that is large enough ends the trials of a command."""
KEPT = (".unfinished", ".units/")
"""What may stay after a failure: finished parts, which the same command takes up."""
WHOLE = {"score": "out/", "build": "set/", "export_stan": "stan/"}
"""Where commands keep answers that they have asked for, or folders of locales, each whole or not there."""


@pytest.fixture(scope="module")
def run() -> Iterator[matrix.Runner]:
    with matrix.runner() as started:
        yield started


def remount(place: Path, *options: str) -> None:
    subprocess.run(["mount", "-o", ",".join(("remount", *options)), str(place)], check=True)


@contextmanager
def disk(place: Path) -> Iterator[Path]:
    """A disk in memory, for the time of the block; the console is kept elsewhere."""
    place.mkdir(parents=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(place)], check=False)
    if made.returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        (place / "console").symlink_to(place.with_name(f"{place.name}-console"))
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def leave(place: Path, room: int) -> None:
    """Leave so many KiB."""
    state = os.statvfs(place)
    used = (state.f_blocks - state.f_bfree) * state.f_frsize // 1024
    remount(place, f"size={used + max(room, 4)}k")
    if room == 0:
        with suppress(OSError), (place / "full").open("wb", buffering=0) as file:
            while file.write(bytes(512)):
                pass


def check_refused(stage: matrix.Stage, done: matrix.Ended) -> None:
    """One sentence, exit code 2; 1 where a model's answers could not be kept, and other models' might be."""
    told = [line for line in done.said.splitlines() if line.startswith("Error: ")]
    assert done.code == 2 or (done.code, stage.name) == (1, "score"), done.said
    assert len(told) == 1, done.said
    assert re.search(r"cannot be written (to )?\(|no folder for temporary files can be", done.said)
    assert ".partial" not in told[0]
    assert matrix.TRACEBACK not in done.said


def check_left(stage: matrix.Stage, folder: Path, before: list[str]) -> None:
    new = set(matrix.names(folder / "work")) - {*before, stage.printed}
    kept = (*KEPT, WHOLE[stage.name]) if stage.name in WHOLE else KEPT
    assert [name for name in new if not any(part in name for part in kept)] == []
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.parametrize("name", commands.ALL)
def test_a_full_disk(name: str, run: matrix.Runner, tmp_path: Path) -> None:
    refused = 0
    with commands.made(name, tmp_path / "in") as stage:
        calm = matrix.calm_run(run, stage, tmp_path / "calm")
        for room in ROOM:
            with disk(tmp_path / f"disk{room}") as folder:
                matrix.fresh(stage, folder)
                before = matrix.names(folder / "work")
                leave(folder, room)
                done = run.run(stage, folder)
                if done.code == 0:
                    assert stage.result(folder / "work") == calm.result
                    break
                refused += 1
                check_refused(stage, done)
                check_left(stage, folder, before)
                remount(folder, "size=64m")
                matrix.finish(run, stage, folder, calm)
    print(f"{name}: {refused} disks too small")
    assert refused


@pytest.mark.parametrize("name", [n for n in commands.ALL if n not in ("check", "check_json", "gaps")])
def test_a_disk_that_may_only_be_read(name: str, run: matrix.Runner, tmp_path: Path) -> None:
    with commands.made(name, tmp_path / "in") as stage:
        calm = matrix.calm_run(run, stage, tmp_path / "calm")
        with disk(tmp_path / "disk") as folder:
            matrix.fresh(stage, folder)
            remount(folder, "ro")
            check_refused(stage, run.run(stage, folder))
            remount(folder, "rw")
            matrix.finish(run, stage, folder, calm)
