"""The reference is complete, and the site is made without a warning."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from maskedadv import errors
from maskedadv.warnings.find import KINDS
from tests.conftest import ROOT


def first_cells(page: str) -> list[str]:
    rows = re.findall(
        r"^\| ([^|]+) \|", (ROOT / "docs" / "reference" / page).read_text("utf-8"), re.MULTILINE
    )
    return [row.strip() for row in rows if not set(row.strip()) <= {"-"}][1:]


def test_every_warning_is_explained() -> None:
    assert sorted(first_cells("warnings.md")) == sorted(KINDS)


def test_every_exit_code_of_an_error_is_explained() -> None:
    codes = {e.exit_code for e in vars(errors).values() if isinstance(e, type) and hasattr(e, "exit_code")}
    assert {str(code) for code in codes} <= set(first_cells("exit-codes.md"))


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="the extra docs is not installed")
def test_the_site_is_made(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = {
        p.relative_to(tmp_path).as_posix(): p.read_text("utf-8")
        for p in tmp_path.rglob("*.html")
        if "_static" not in p.parts
    }
    assert {"index.html", "docs/index.html", "README.html", "docs/reference/made/python.html"} <= set(pages)
    for name, page in pages.items():
        for link in re.findall(r'href="([^"#]+)(?:#[^"]*)?"', page):
            if not re.match(r"[a-z]+:", link):
                assert (tmp_path / name).parent.joinpath(link.split("?")[0]).exists(), (name, link)
    commands = pages["docs/reference/made/command-line.html"]
    for option in ("--min-accuracy", "--headline", "--chains"):
        assert option in commands
