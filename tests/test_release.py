"""One version everywhere, and Pythons that classifiers, release check and continuous integration agree on."""

from __future__ import annotations

import re
import sys
import tomllib

import maskedadv
from tests.conftest import ROOT
from tests.release_check import VERSIONS, find_python

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ACTIONS = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")


def test_the_version_is_one() -> None:
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "maskedadv/__init__.py"
    assert PROJECT["project"]["dynamic"] == ["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {maskedadv.__version__}\n" in citation
    released = re.search(r'^date-released: "(.+)"$', citation, flags=re.MULTILINE)
    assert released is not None
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {maskedadv.__version__} ({released[1]})\n" in changes


def test_the_pythons_are_the_same_everywhere() -> None:
    stated = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert stated == list(VERSIONS)
    assert PROJECT["project"]["requires-python"] == f">={VERSIONS[0]}"
    (tested,) = re.findall(r"python: \[(.+)\]", ACTIONS)
    assert re.findall(r"\d\.\d+", tested) == list(VERSIONS)


def test_cmdstan_is_installed_and_tested_on_three_systems() -> None:
    job = ACTIONS.partition("\n  cmdstan:")[2].partition("\n  release:")[0]
    for words in ("ubuntu-latest", "macos-latest", "windows-latest", "install_cmdstan", "tests/engines"):
        assert words in job, words


def test_a_python_is_found_by_its_version_only() -> None:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = find_python(own)
    assert found is None or found.is_file()
    assert find_python("3.99") is None
