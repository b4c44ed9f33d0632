"""What a command of its own uses: processor time, wall time and the most memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Used:
    """Processor seconds (all threads), seconds, and the largest resident size in MiB."""

    processor: float
    seconds: float
    mib: float

    def cells(self) -> str:
        """Three cells of a Markdown table."""
        return f"{self.processor:.1f} | {self.seconds:.1f} | {self.mib:,.0f}"


HEADER = ("| command | processor seconds | seconds | peak MiB |", "| --- | ---: | ---: | ---: |")


def maskedadv(*arguments: str | Path, cwd: Path | None = None) -> Used:
    """`maskedadv` with some arguments."""
    return measured(["-m", "maskedadv", *map(str, arguments)], cwd)


def girth(table: Path) -> str:
    """A row of the peer of whole commands; see `tests.benchmarks.girth_peer`."""
    from tests.benchmarks.girth_peer import NAME

    arguments = ["-W", "ignore", "-m", "tests.benchmarks.girth_peer", str(table), os.devnull]
    used = measured(arguments, OPENBLAS_NUM_THREADS="1")  # its threads would wait more than they work
    return f"| {NAME} | {used.cells()} |"


def measured(arguments: Sequence[str], cwd: Path | None = None, **environment: str) -> Used:
    """A command of this Python."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(arguments)} failed")
    seconds = time.perf_counter() - began
    return Used(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024)
