"""Make can read what the README says to run."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.conftest import ROOT


def test_make_reads_every_target_that_it_declares() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    (declared,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    assert {"demo", "test"} <= set(declared.split())
    done = subprocess.run(
        [make, "--dry-run", *declared.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
