"""Lines of a shell as pages show them, given in the present folder: ours in this process, others as they are.

What installs is not installed here but looked at: `pip install` names extras that there are, `make` targets
that make can read. `git clone` and entering an environment have nothing to do where there is one;
`python -m tests.release_check` and the steps of CI do them.
"""

from __future__ import annotations

import contextlib
import glob
import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import groupby

import pytest

from maskedadv.cli.main import main
from tests.conftest import ROOT
from tests.documentation.steps import Block

VARIABLE = re.compile(r"[A-Z_]+=")
ELSEWHERE = {
    "maskedadv demo": "tests/cli/test_commands.py",
    "python docs/gallery/bundled_outcomes.py": "tests/gallery/test_pages.py",
    "python docs/gallery/truthfulqa.py": "tests/gallery/test_pages.py",
    "python docs/gallery/bertaqa.py": "tests/gallery/test_pages.py",
}
"""Commands that a test of their own gives, not again here: they take long."""
ENDS = {"diagnose": (None, 0, 3)}
"""How commands may end besides well: draws as few as here are not to be used, and that is said."""


def commands_of(block: Block) -> Iterator[list[str]]:
    """The words of every command of a block: comments, and variables set for it alone, left out."""
    lines = block.text.replace("\\\n", " ").splitlines() if block.kind == "sh" else []
    for line in lines:
        for last, words in groupby(shlex.split(line, comments=True), lambda word: word == "&&"):
            command = [] if last else list(words)
            while command and VARIABLE.match(command[0]):
                command.pop(0)
            if command:
                yield command


def ours(block: Block) -> list[list[str]]:
    """The arguments of every command that calls `maskedadv`."""
    return [words[1:] for words in commands_of(block) if words[0] == "maskedadv"]


def elsewhere(words: list[str]) -> str | None:
    """The test that gives this command, where another does."""
    line = shlex.join(words)
    return next((test for start, test in ELSEWHERE.items() if f"{line} ".startswith(f"{start} ")), None)


def run_shell(
    block: Block,
    monkeypatch: pytest.MonkeyPatch,
    *,
    more: Mapping[str, list[str]],
    instead: Mapping[str, str],
) -> str:
    """What the commands of a block print, on both streams; each has to end well.

    `more` are words put behind our commands that have the key among their words; `instead` is what stands for
    a word, or the beginning of one.
    """
    told = []
    for words in commands_of(block):
        if elsewhere(words) is None:
            told.append(_run([_replaced(word, instead) for word in words], monkeypatch, more))
    return "".join(told)


def _replaced(word: str, instead: Mapping[str, str]) -> str:
    for old, new in instead.items():
        word = word.replace(old, new)
    return word


def _run(words: list[str], monkeypatch: pytest.MonkeyPatch, more: Mapping[str, list[str]]) -> str:
    match words:
        case ["maskedadv", *arguments]:
            extra = [word for key, added in more.items() if set(key.split()) <= set(words) for word in added]
            return run_command([found for word in arguments for found in _expanded(word)] + extra)
        case ["export", assigned]:
            monkeypatch.setenv(*assigned.split("=", 1))
        case ["cd", folder] if folder != "maskedadv":
            monkeypatch.chdir(folder)
        case ["mkdir" | "cp", *_]:
            subprocess.run(words, check=True)
        case ["python", *arguments]:
            done = subprocess.run(
                [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout
        case ["pip", "install", wanted]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
            (name,) = re.fullmatch(r"maskedadv\[([\w,-]+)\]", wanted).groups()  # type: ignore[union-attr]
            assert set(name.split(",")) <= set(extras["optional-dependencies"]), wanted
        case ["make", *_]:
            if shutil.which("make"):
                subprocess.run([*words, "--dry-run"], cwd=ROOT, check=True, capture_output=True)
        case ["git", "clone", *_] | [".", _] | ["cd", "maskedadv"]:
            pass
        case _:
            raise AssertionError(f"nobody knows how to give this command: {shlex.join(words)}")
    return ""


def _expanded(word: str) -> list[str]:
    """A pattern of file names as a shell reads it."""
    return (sorted(glob.glob(word)) if "*" in word else []) or [word]


def run_command(arguments: list[str]) -> str:
    """What `maskedadv` prints with these arguments, which has to end well."""
    told = io.StringIO()
    with (
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
        pytest.raises(SystemExit) as left,
    ):
        main(arguments)
    assert left.value.code in ENDS.get(arguments[0], (None, 0)), (
        f"maskedadv {shlex.join(arguments)}\n{told.getvalue()}"
    )
    return told.getvalue()
