"""A small table and its result, and the command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import maskedadv
from maskedadv.result.fit_result import Fit
from tests.simulate import table

Command = Callable[..., subprocess.CompletedProcess[str]]

NUTS = ("--method", "nuts", "--chains", "2", "--warmup", "100", "--draws", "60", "--engine", "embedded")


@pytest.fixture(scope="session")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "answers.csv"
    table(4, (20, 20), seed=3).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def fit(csv: Path) -> Fit:
    return maskedadv.fit(csv, min_accuracy=0)


@pytest.fixture(scope="session")
def command() -> Command:
    def run(*arguments: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "maskedadv", *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload,no-any-return]

    return run
