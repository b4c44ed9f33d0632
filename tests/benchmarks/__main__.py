"""`make bench`: run the benchmarks; write docs/reference/benchmarks.md, each with machine, load and date."""

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
    "many_models": "1,000 models × 3 locales × (500 + 500) items",
    "many_locales": "300 locales × 5 models: fit, gaps and report",
    "nuts": "NUTS: effective draws of the knowledge gap a second, beside NumPyro and the joint program",
    "floor": "The guessing floor: maximum likelihood and NUTS, beside SciPy and NumPyro",
    "launchers": "Launchers: what a unit costs beside its work, and two Ray nodes beside one",
    "scoring": "Scoring: models of 100 million parameters on the CPU, beside lm-evaluation-harness",
    "out_of_core": "Tables larger than memory: 1,000 models × up to 100 locales",
}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "benchmarks.md"


def machine() -> str:
    """Processor, cores and versions in one line."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    packages = ", ".join(f"{n} {version(n)}" for n in ("maskedadv", "stanli", "numpy", "scipy"))
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {packages}"


def sections(text: str) -> dict[str, str]:
    """The page's sections by their titles."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def main(chosen: list[str]) -> None:
    """Run the named benchmarks (all, if none is named) and renew their sections of the page."""
    found = sections(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    for name in chosen or BENCHMARKS:
        load = os.getloadavg()[0]
        print(f"{name} ... (load {load:.1f})", file=sys.stderr, flush=True)
        lines = importlib.import_module(f"tests.benchmarks.{name}").run()
        when = f"*{datetime.date.today()}, {machine()}; load of the machine before the run {load:.1f}.*"
        found[BENCHMARKS[name]] = "\n".join([when, "", *lines]).strip()
        print(found[BENCHMARKS[name]], flush=True)
        order = [t for t in BENCHMARKS.values() if t in found]
        body = "\n\n".join(f"## {t}\n\n{found[t]}" for t in order)
        PAGE.write_text(
            f"# Benchmarks\n\nMade by `make bench`, every peer in the same run.\n\n{body}\n", "utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
