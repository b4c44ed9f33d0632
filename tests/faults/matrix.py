"""Kill a command at some moment, again and again; then the same command must complete as if nothing had been.

What is held after each kill: the same command ends well, its result is that of a run that nobody disturbed,
and nothing else is left: no hidden file beside the output, nothing in the folder for temporary files, no
process, no shared memory.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

MARK = "MASKEDADV_FAULT_MATRIX"
_SHARED = Path("/dev/shm")
_GONE = 20.0  # seconds in which orphans have to notice
TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes
    ----------
    code : exit code, negative for a signal
    changes : changes of files that it had begun
    said : what it printed
    number : of its process
    """

    code: int
    changes: int
    said: str
    number: int


@dataclass(frozen=True)
class Stage:
    """A command to be killed.

    Attributes
    ----------
    arguments : after `maskedadv`; paths are relative to the folder of a trial
    inputs : files that are put into that folder, by name
    result : what the folder holds once the command is done, to be compared
    workers : how a command line of a process that it starts can be told; '' if there are none
    printed : file in that folder that standard output goes to; '' for none
    """

    name: str
    arguments: Sequence[str]
    inputs: dict[str, Path]
    result: Callable[[Path], Any]
    workers: str = ""
    printed: str = ""


@dataclass
class Runner:
    """Starts commands in processes forked from one that is warm; see `zygote.py`."""

    process: subprocess.Popen[str]
    marker: str
    numbers: list[int] = field(default_factory=list)

    def start(
        self,
        stage: Stage,
        folder: Path,
        *,
        at: int = 0,
        signal: int = 9,
        alone: bool = False,
    ) -> int:
        """The process's number; it works in `folder/work`, with its temporary files in `folder/tmp`.

        Parameters
        ----------
        at, signal, alone : see `zygote.py`
        """
        environment = {
            MARK: self.marker,
            "TMPDIR": str(folder / "tmp"),
            "XDG_CACHE_HOME": str(folder.parent / "cache"),
        }
        request = {
            "arguments": list(stage.arguments),
            "environment": environment,
            "cwd": str(folder / "work"),
            "console": str(folder / "console"),
            "printed": stage.printed,
            "at": at,
            "signal": signal,
            "alone": alone,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        number = int(self._line())
        self.numbers.append(number)
        return number

    def wait(self, number: int, folder: Path) -> Ended:
        """How it ended."""
        told = json.loads(self._line())
        said = (folder / "console").read_text("utf-8", "replace")
        return Ended(told["code"], told["changes"], said, number)

    def run(self, stage: Stage, folder: Path, **kill: Any) -> Ended:
        """Start it, killed as `start` is told, and wait."""
        number = self.start(stage, folder, **kill)
        return self.wait(number, folder)

    def run_and_send(self, stage: Stage, folder: Path, after: float, to: Callable[[int], None]) -> Ended:
        """Start it, call `to` with its number after so many seconds, and wait."""
        number = self.start(stage, folder)
        time.sleep(after)
        to(number)
        return self.wait(number, folder)

    def others(self) -> list[tuple[int, str]]:
        """Processes that commands have started and that are there, with their command lines."""
        mark = f"{MARK}={self.marker}".encode()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if (
                    mark in (place / "environ").read_bytes()
                    and (place / "stat").read_text().split()[2] != "Z"
                ):
                    line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    found.append((int(place.name), line))
            except OSError:
                continue
        return found

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process that forks the others is gone"
        return line


@contextmanager
def runner() -> Iterator[Runner]:
    """The process that forks all others, until the end of the block."""
    marker = f"{os.getpid()}-{time.monotonic_ns()}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.zygote"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Runner(process, marker)
    finally:
        process.kill()
        process.wait()


def fresh(stage: Stage, folder: Path) -> Path:
    """A folder for a trial, with the stage's inputs."""
    for part in ("work", "tmp"):
        (folder / part).mkdir(parents=True)
    for name, path in stage.inputs.items():
        target = folder / "work" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            target.symlink_to(path)
    return folder


def kill_group(number: int) -> None:
    _send(os.killpg, number, signal.SIGKILL)


def kill_alone(number: int) -> None:
    _send(os.kill, number, signal.SIGKILL)


def kill_worker(run: Runner, stage: Stage, rng: random.Random) -> Callable[[int], None]:
    """End one of the processes that the command has started, as the system does when memory is short."""

    def to(number: int) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and Path(f"/proc/{number}/cmdline").exists():
            workers = [n for n, line in run.others() if stage.workers in line]
            if workers:
                time.sleep(rng.random() * 0.2)
                kill_alone(rng.choice(workers))
                return
            if Path(f"/proc/{number}/stat").read_text().split()[2] == "Z":
                return
            time.sleep(0.005)

    return to


def send(number_of_signal: int) -> Callable[[int], None]:
    return lambda number: _send(os.kill, number, number_of_signal)


def _send(how: Callable[[int, int], None], number: int, which: int) -> None:
    with suppress(ProcessLookupError):
        how(number, which)


def names(folder: Path) -> list[str]:
    """All files below a folder, by their path from there."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def check_nothing_runs(run: Runner) -> None:
    """No process of a command is left, at once or soon."""
    deadline = time.monotonic() + _GONE
    while left := run.others():
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.05)


def check_nothing_left(run: Runner, folder: Path, calm: Calm) -> None:
    """Only what a run that nobody disturbed leaves."""
    assert names(folder / "work") == calm.names
    assert sorted(p.name for p in (folder / "tmp").iterdir()) == []
    check_nothing_runs(run)
    if _SHARED.is_dir():
        own = {str(n) for n in run.numbers}
        assert not [p.name for p in _SHARED.iterdir() if own & set(p.name.replace("-", "_").split("_"))]


@dataclass(frozen=True)
class Calm:
    """A run that nobody disturbed: its result, its files, and how long it is."""

    result: Any
    names: list[str]
    changes: int
    seconds: float


def calm_run(run: Runner, stage: Stage, folder: Path) -> Calm:
    """Run a stage in peace."""
    fresh(stage, folder)
    begun = time.monotonic()
    done = run.run(stage, folder)
    assert done.code == 0, done.said
    work = folder / "work"
    calm = Calm(stage.result(work), names(work), done.changes, time.monotonic() - begun)
    check_nothing_left(run, folder, calm)
    return calm


def finish(run: Runner, stage: Stage, folder: Path, calm: Calm) -> None:
    """The same command completes, equals the calm run, and leaves nothing."""
    check_nothing_runs(run)
    done = run.run(stage, folder)
    assert done.code == 0, done.said
    assert TRACEBACK not in done.said
    assert stage.result(folder / "work") == calm.result
    check_nothing_left(run, folder, calm)
