"""The fenced blocks of a page: what each is, what is run, and what is said to be printed below it.

A block marked `text` shows what the one above it prints: a line is as it begins, `...` stands for others.
Above a block may stand, unseen by the reader of the page,

- `<!-- not run: why -->`: why it is not run;
- `<!-- file: NAME -->`: it is what the reader writes into this file;
- `<!-- example of: NAME -->`: it is what such a file may hold.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|file|example of): (?P<said>[^>]*?) -->\n+)?"
    r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
RUN = ("sh", "python", "r")
"""Kinds of blocks that are run; below one of them `text` is its output."""


class Block(NamedTuple):
    """One fenced block of a page."""

    kind: str
    text: str
    shown: str
    """What it is said to print."""
    place: str
    why: str | None
    """Why it is not run, where it is not."""
    file: str | None
    """The file that it is, or an example of, where it is one."""
    written: bool
    """Whether the reader writes it."""


def blocks_of(page: Path) -> Iterator[Block]:
    """Every fenced block of a page, outputs with what prints them."""
    text = page.read_text("utf-8")
    found = list(BLOCK.finditer(text))
    for before, block, after in zip_longest([None, *found], found, [*found[1:], None]):
        if block is None or (block["kind"] == "text" and _prints(before) and block["mark"] is None):
            continue
        output = after is not None and after["kind"] == "text" and after["mark"] is None
        line = text[: block.start("text")].count("\n") + 1
        yield Block(
            block["kind"],
            block["text"],
            after["text"] if output and _prints(block) else "",
            f"{page.relative_to(ROOT).as_posix()}:{line}",
            block["said"] if block["mark"] == "not run" else None,
            block["said"] if block["mark"] in ("file", "example of") else None,
            block["mark"] == "file",
        )


def _prints(block: re.Match[str] | None) -> bool:
    return block is not None and block["kind"] in RUN and block["mark"] != "not run"


def run_python(block: Block) -> str:
    """What a block of Python prints."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(block.text, block.place, "exec"), {"__name__": "a_block"})
    return told.getvalue()


def missing(shown: str, told: str) -> list[str]:
    """Lines that a page shows and nothing printed."""
    printed = [" ".join(line.split()) for line in told.splitlines()]
    lines = [" ".join(line.split()) for line in shown.splitlines() if line.strip() not in ("", "...")]
    return [line for line in lines if not any(p.startswith(line) for p in printed)]
