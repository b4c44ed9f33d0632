"""Tables that memory cannot hold: time a row and peak memory of check and fit from 2 to 200 million rows.

The largest takes half an hour, 2 GB of disk for the table and 4 GB for the result.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.end_to_end import wait
from tests.benchmarks.tables import write_by_language

MODELS, ITEMS = 1000, 500
LOCALES = (1, 10, 100)
COMMANDS = {
    "check": lambda table, out: ["check", table],  # noqa: ARG005
    "fit": lambda table, out: ["fit", table, "-o", out],
}


def run() -> list[str]:
    """Markdown lines: every size with each command."""
    lines = [
        "| locales | rows | command | processor seconds | a million rows | seconds | peak MiB |",
        "| ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for locales in LOCALES:
        with tempfile.TemporaryDirectory() as folder:
            table, out = Path(folder) / "table", Path(folder) / "out"
            rows = write_by_language(table, locales, MODELS, ITEMS)
            for name, command in COMMANDS.items():
                start = time.perf_counter()
                arguments = [str(v) for v in command(table, out)]
                process = subprocess.Popen(
                    [sys.executable, "-m", "maskedadv", *arguments],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                used = wait(process)
                spent = used.ru_utime + used.ru_stime
                lines.append(
                    f"| {locales} | {rows:,} | `{name}` | {spent:.0f} | {1e6 * spent / rows:.2f} | "
                    f"{time.perf_counter() - start:.0f} | {used.ru_maxrss / 1024:.0f} |"
                )
                print(lines[-1], file=sys.stderr, flush=True)
    note = (
        f"{MODELS:,} models × {ITEMS} items × 4 cells (CA and CS, local and pivot) in every locale; Parquet "
        "by language and model. The smallest table is read into memory, the others a locale at a time."
    )
    return [*lines, "", note]
