"""The reference is complete, and the site is made without a warning."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from maskedadv import errors
from maskedadv.cli.main import COMMANDS
from maskedadv.warnings.find import KINDS
from tests.chromium import CHROMIUM, Browser
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


def test_every_command_is_among_those_that_read_or_write() -> None:
    """docs/reference/files.md names every command but those that only look, ask or print."""
    told = (ROOT / "docs" / "reference" / "files.md").read_text("utf-8")
    only_looks = {"doctor", "diagnose", "prompts", "power"}
    assert set(COMMANDS) - only_looks <= set(re.findall(r"`([a-z-]+)", told))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made without a warning."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(folder)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_link_of_the_site_is_broken(site: Path) -> None:
    pages = {
        p.relative_to(site).as_posix(): p.read_text("utf-8")
        for p in site.rglob("*.html")
        if "_static" not in p.parts
    }
    assert {"index.html", "docs/index.html", "README.html", "docs/reference/made/python.html"} <= set(pages)
    for name, page in pages.items():
        for link in re.findall(r'href="([^"#]+)(?:#[^"]*)?"', page):
            if not re.match(r"[a-z]+:", link):
                assert (site / name).parent.joinpath(link.split("?")[0]).exists(), (name, link)
    commands = pages["docs/reference/made/command-line.html"]
    for option in ("--min-accuracy", "--headline", "--chains"):
        assert option in commands
    assert not re.search(r"[–—]\w", re.sub(r"<[^>]*>", "", commands)), "options keep their hyphens"
    for name in COMMANDS:
        assert re.search(rf"<h3>{name}<", commands), name
    python = pages["docs/reference/made/python.html"]
    for name in ("fit", "diagnose", "vary", "items_needed", "write_report", "MaskedadvError", "read_lm_eval"):
        assert f"{name}</span>" in python, name


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_site_is_searched_and_fits_a_telephone(site: Path, tmp_path: Path) -> None:
    with Browser(tmp_path) as browser:
        browser.open(f"{(site / 'search.html').as_uri()}?q=copies")
        browser.wait_for("document.querySelectorAll('#search-results li a').length > 0")
        titles = browser.run("[...document.querySelectorAll('#search-results li a')].map(a => a.textContent)")
        assert "Relatives: families, checkpoints, copies" in titles
        for width in (1280, 420):
            browser.resize(width, 900)
            for mode in ("light", "dark"):
                browser.send(
                    "Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": mode}],
                )
                for page in ("README.html", "docs/index.html", "docs/tutorials/lm-eval.html"):
                    browser.open((site / page).as_uri())
                    assert browser.run("document.documentElement.dataset.theme") == mode
                    assert browser.run("document.documentElement.scrollWidth") <= width, page
        assert not browser.outside
