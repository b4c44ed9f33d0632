"""The fenced blocks of a page: what is run, and what is said to be printed below it.

A block marked `text` shows what the one above it prints: a line is as it begins, `...` stands for others.
`<!-- not run: why -->` above a block says why it is not run.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

from maskedadv.cli.main import main
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^>]*?) -->\n+)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """One fenced block of a page."""

    kind: str
    text: str
    shown: str
    """What it is said to print."""
    place: str
    why: str | None
    """Why it is not run, where it is not."""


def blocks_of(page: Path) -> Iterator[Block]:
    """Every fenced block of a page, outputs with what prints them."""
    text = page.read_text("utf-8")
    found = list(BLOCK.finditer(text))
    for block, after in zip_longest(found, found[1:]):
        if block["kind"] == "text":
            continue
        shown = after["text"] if after is not None and after["kind"] == "text" else ""
        line = text[: block.start("text")].count("\n") + 1
        place = f"{page.relative_to(ROOT).as_posix()}:{line}"
        yield Block(block["kind"], block["text"], shown, place, block["why"])


def commands_of(block: Block) -> list[list[str]]:
    """The arguments of every line that calls `maskedadv`, without its comment."""
    if block.kind not in ("", "bash", "sh"):
        return []
    lines = block.text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("maskedadv ")]


def run_commands(lines: list[list[str]]) -> str:
    """What the commands print, on both streams; each has to end well."""
    told = io.StringIO()
    for arguments in lines:
        with (
            contextlib.redirect_stdout(told),
            contextlib.redirect_stderr(told),
            pytest.raises(SystemExit) as left,
        ):
            main(arguments)
        assert not left.value.code, f"maskedadv {shlex.join(arguments)}\n{told.getvalue()}"
    return told.getvalue()


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


def follow(page: Path) -> int:
    """Give every command of a page in the present folder; how many there were."""
    given = 0
    for block in blocks_of(page):
        commands = [] if block.why else commands_of(block)
        if commands:
            told = run_commands(commands)
            assert not missing(block.shown, told), (block.place, missing(block.shown, told), told)
            given += len(commands)
    return given
