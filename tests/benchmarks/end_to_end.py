"""The paper-sized table from Parquet to a result folder: processor time, wall time and peak memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.measured import HEADER, girth, maskedadv
from tests.benchmarks.tables import write_paper_sized

OPTIONS = (
    "",
    "--variants none",
    "--estimator marginal",
    "--scope joint",
    "--method nuts --locale ar",  # all thirteen take half an hour
)
TIMES = 7
"""Runs of the first, whose wall time is to be told within some tenths; the others run once."""


def run() -> list[str]:
    """Markdown lines: `maskedadv fit` on 80 models × 13 locales × (2,058 + 500) items."""
    lines = list(HEADER)
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "table.parquet", Path(folder) / "out"
        rows = write_paper_sized(table)
        fit = ("fit", table, "-o", out, "--overwrite")
        own = sorted((maskedadv(*fit) for _ in range(TIMES)), key=lambda used: used.seconds)
        for options in OPTIONS:
            used = maskedadv(*fit, *options.split()) if options else own[TIMES // 2]
            spent[options] = used.processor
            lines.append(f"| `{f'maskedadv fit {options}'.strip()}` | {used.cells()} |")
        lines.append(girth(table))
    more = spent[""] / spent["--variants none"] - 1
    return [
        *lines,
        "",
        f"{rows:,} rows. The first is the median of {TIMES} runs, which took {own[0].seconds:.1f} to "
        f"{own[-1].seconds:.1f} s. Variants, links and the test of plain against paired add {more:.0%} of "
        "processor time.",
    ]
