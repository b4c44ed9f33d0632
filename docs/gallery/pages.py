"""Make the gallery's pages: numbers by the scripts, set into the templates.

    python docs/gallery/pages.py [NAME ...] [--text]

`make gallery` runs it for all. VeritasQA's answers are not bundled: its page is made where the environment
variable VERITASQA names the file. `--text` sets kept numbers into changed templates and computes nothing.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from maskedadv.words.numbers import interval_text, p_value, signed

HERE = Path(__file__).resolve().parent
NAMES = ("bundled_outcomes", "truthfulqa", "bertaqa", "veritasqa")
DIGITS = 5
"""Decimals of kept numbers: more than any page shows."""


def page_of(name: str) -> Path:
    """The page that a script's numbers stand on."""
    return HERE / f"{name.replace('_', '-')}.md"


def kept(name: str) -> dict[str, Any]:
    """The numbers of the last run, those of `quick` and of `long` apart."""
    found: dict[str, Any] = json.loads((HERE / "numbers" / f"{name}.json").read_text("utf-8"))
    return found


def rounded(value: Any) -> Any:
    """Numbers as they are kept."""
    if isinstance(value, Mapping):
        return {str(k): rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if isinstance(value, float):
        return round(value, DIGITS) if math.isfinite(value) else None
    return value


def render(name: str, numbers: Mapping[str, Any]) -> str:
    """The page with these numbers."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates", encoding="utf-8"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown of our own numbers
    )
    environment.filters |= {
        "gap": lambda row: "n/a" if row["estimate"] is None else interval_text(_known(row)),
        "num": signed,
        "percent": lambda share, digits=0: f"{100 * share:.{digits}f}%",
        "p": p_value,
    }
    template = environment.get_template(f"{name}.md.j2")
    return template.render(**numbers["quick"], **numbers["long"])


def _known(row: Mapping[str, float | None]) -> dict[str, float]:
    return {k: math.nan if v is None else v for k, v in row.items()}


def make(name: str) -> None:
    """Numbers, figures and the page of one analysis."""
    script = importlib.import_module(name)
    numbers = {"quick": rounded(script.quick())}
    numbers["long"] = rounded(script.long()) if hasattr(script, "long") else {}
    script.draw(HERE / "figures")
    text = json.dumps(numbers, indent=1, ensure_ascii=False)
    (HERE / "numbers" / f"{name}.json").write_text(text + "\n", "utf-8")


def main(arguments: list[str]) -> None:
    """Make the pages that are named, or all."""
    names = [a for a in arguments if not a.startswith("-")] or list(NAMES)
    if unknown := set(names) - set(NAMES):
        sys.exit(f"no such analysis: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.")
    for name in names:
        if "--text" not in arguments:
            if name == "veritasqa" and not os.environ.get("VERITASQA"):
                print("veritasqa: left as it is; set VERITASQA to the file of log-likelihoods to make it.")
                continue
            make(name)
        page_of(name).write_text(render(name, kept(name)), "utf-8")
        print(page_of(name).name)


if __name__ == "__main__":
    main(sys.argv[1:])
