"""The paper-sized table from Parquet to a result folder: processor time, wall time and peak memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.tables import write_paper_sized

OPTIONS = ("", "--variants none", "--estimator marginal", "--scope joint", "--method nuts")


def run() -> list[str]:
    """Markdown lines: `maskedadv fit` on 80 models × 13 locales × (2,058 + 500) items."""
    lines = ["| command | processor seconds | seconds | peak MiB |", "| --- | ---: | ---: | ---: |"]
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        rows = write_paper_sized(table)
        for options in OPTIONS:
            command = [sys.executable, "-m", "maskedadv", "fit", str(table), "-o", str(Path(folder) / "out")]
            start = time.perf_counter()
            done = subprocess.Popen(
                [*command, "--overwrite", *options.split()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            used = wait(done)
            spent[options] = used.ru_utime + used.ru_stime
            lines.append(
                f"| `maskedadv fit {options}` | {spent[options]:.1f} | {time.perf_counter() - start:.1f} | "
                f"{used.ru_maxrss / 1024:.0f} |"
            )
        more = spent[""] / spent["--variants none"] - 1
        lines += [
            "",
            f"{rows:,} rows. What variants, links and the test of plain against paired add: {more:.0%}.",
        ]
    return lines


def wait(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """What one child used."""
    import os

    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("the benchmarked command failed")
    assert isinstance(usage, resource.struct_rusage)
    return usage
