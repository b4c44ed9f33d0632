"""1,000 models in three locales: fits and their tables, by processor time and peak memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.tables import write_paper_sized

COMMANDS = (
    "fit {table} -o {folder}/joint --estimator joint",
    "gaps {folder}/joint",
    "fit {table} -o {folder}/marginal --estimator marginal",
)


def run(models: int = 1000) -> list[str]:
    """Markdown lines: 500 CA and 500 CS items a locale."""
    lines = ["| command | processor seconds | peak MiB |", "| --- | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        rows = write_paper_sized(table, models, 500, 500, locales=3)
        for command in COMMANDS:
            used = _run(command.format(table=table, folder=folder))
            shown = command.format(table="table.parquet", folder=".")
            spent = used.ru_utime + used.ru_stime
            lines.append(f"| `maskedadv {shown}` | {spent:.1f} | {used.ru_maxrss / 1024:.0f} |")
    return [*lines, "", f"{rows:,} rows; one thread of linear algebra."]


def _run(arguments: str) -> resource.struct_rusage:
    """What one command used; threads that wait for each other would count as work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "maskedadv", *arguments.split()],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"maskedadv {arguments} failed")
    return usage
