"""1,000 models in three locales: fits and their tables, by processor time and peak memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.measured import HEADER, girth, maskedadv
from tests.benchmarks.tables import write_paper_sized

COMMANDS = (
    "fit table.parquet -o joint --estimator joint",
    "gaps joint",
    "fit table.parquet -o marginal --estimator marginal",
)


def run(models: int = 1000) -> list[str]:
    """Markdown lines: 500 CA and 500 CS items a locale."""
    lines = list(HEADER)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_paper_sized(folder / "table.parquet", models, 500, 500, locales=3)
        for command in COMMANDS:
            lines.append(f"| `maskedadv {command}` | {maskedadv(*command.split(), cwd=folder).cells()} |")
        lines.append(girth(folder / "table.parquet"))
    return [*lines, "", f"{rows:,} rows."]
