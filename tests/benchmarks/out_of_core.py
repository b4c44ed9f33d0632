"""Tables that memory cannot hold: time a row and peak memory of check and fit from 2 to 200 million rows.

The largest takes half an hour and more, 2 GB of disk for the table and 4 GB for the result. Beside them the
least that any program needs: PyArrow goes through the answers and counts the right ones.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measured import Used, maskedadv, measured
from tests.benchmarks.tables import write_by_language

MODELS, ITEMS = 1000, 500
LOCALES = (1, 10, 100)
_SCAN = """
import sys
import pyarrow.compute as pc
import pyarrow.dataset as ds
table = ds.dataset(sys.argv[1], partitioning="hive")
print(sum(pc.sum(batch["correct"]).as_py() or 0 for batch in table.to_batches(use_threads=False)))
"""


def run() -> list[str]:
    """Markdown lines: every size with each command."""
    lines = [
        "| locales | rows | command | processor seconds | a million rows | peak MiB |",
        "| ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for locales in LOCALES:
        with tempfile.TemporaryDirectory() as folder:
            table, out = Path(folder) / "table", Path(folder) / "out"
            rows = write_by_language(table, locales, MODELS, ITEMS)

            def add(name: str, used: Used, locales: int = locales, rows: int = rows) -> None:
                lines.append(
                    f"| {locales} | {rows:,} | {name} | {used.processor:,.0f} | "
                    f"{1e6 * used.processor / rows:.2f} | {used.mib:,.0f} |"
                )
                print(lines[-1], file=sys.stderr, flush=True)

            add("PyArrow, one pass", measured(["-c", _SCAN, str(table)]))
            add("`maskedadv check`", maskedadv("check", table))
            add("`maskedadv fit`", maskedadv("fit", table, "-o", out))
    note = (
        f"{MODELS:,} models × {ITEMS} items × 4 cells (CA and CS, local and pivot) in every locale; Parquet "
        "by language and model. The smallest table is read into memory, the others a locale at a time."
    )
    return [*lines, "", note]
