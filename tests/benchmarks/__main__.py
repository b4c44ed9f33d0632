"""`make bench`: run every benchmark and write docs/benchmarks.md, with machine and date."""

from __future__ import annotations

import datetime
import importlib
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

BENCHMARKS = {
    "maximum_likelihood": "Maximum likelihood: 80 models × (2,058 + 500) items, 409,280 answers",
    "end_to_end": "End to end, 80 models × 13 locales × (2,058 + 500) items",
    "scoring": "Scoring: a model of 100 million parameters on the CPU, beside lm-evaluation-harness",
}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def machine() -> str:
    """Processor, cores and versions in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    packages = ", ".join(f"{n} {version(n)}" for n in ("maskedadv", "stanli", "numpy", "scipy"))
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {packages}"


def main(chosen: list[str]) -> None:
    """Run the named benchmarks (all, if none is named); only a whole run rewrites the page."""
    parts = ["# Benchmarks", "", f"Run {datetime.date.today()} on {machine()}. Made by `make bench`.", ""]
    for name in chosen or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        lines = importlib.import_module(f"tests.benchmarks.{name}").run()
        parts += [f"## {BENCHMARKS.get(name, name)}", "", *lines, ""]
    text = "\n".join(parts)
    print(text)
    if not chosen:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
