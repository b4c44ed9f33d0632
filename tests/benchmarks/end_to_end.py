"""The paper-sized table from Parquet to a result folder: wall time and peak memory of a process."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.tables import write_paper_sized


def run() -> list[str]:
    """Markdown lines: `maskedadv fit` on 80 models × 13 locales × (2,058 + 500) items."""
    lines = ["| command | seconds | peak MiB |", "| --- | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        rows = write_paper_sized(table)
        for options in ("", "--estimator marginal", "--scope joint", "--method nuts"):
            command = [sys.executable, "-m", "maskedadv", "fit", str(table), "-o", str(Path(folder) / "out")]
            start = time.perf_counter()
            done = subprocess.Popen(
                [*command, "--overwrite", *options.split()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            used = _wait(done)
            lines.append(
                f"| `maskedadv fit {options}` | {time.perf_counter() - start:.1f} | {used / 1024:.0f} |"
            )
        lines += ["", f"{rows:,} rows."]
    return lines


def _wait(process: subprocess.Popen[bytes]) -> float:
    """Peak resident memory (KiB) of one child."""
    import os

    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("the benchmarked command failed")
    assert isinstance(usage, resource.struct_rusage)
    return usage.ru_maxrss
