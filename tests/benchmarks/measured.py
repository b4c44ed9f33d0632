"""What a command of its own uses: processor time, wall time and the most memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


_ASIDE = """
import json, os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(json.loads(sys.argv[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - began
print(json.dumps([status, used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024]))
"""


def measured(arguments: Sequence[str], cwd: Path | None = None, **environment: str) -> Used:
    """A command of this Python, begun by a small process: at first a child has the size of its parent."""
    command = [sys.executable, *arguments]
    done = subprocess.run(
        [sys.executable, "-S", "-c", _ASIDE, json.dumps(command)],
        stdout=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **environment},
        check=True,
    )
    status, *used = json.loads(done.stdout)
    if status:
        raise RuntimeError(f"{' '.join(arguments)} failed")
    return Used(*used)
