"""From logs to a report: the tutorial, in an empty folder, with the logs it comes with."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.simulation import simulate
from tests.conftest import ROOT
from tests.documentation.lm_eval_logs import LOGS, PLAN, write_logs
from tests.documentation.test_commands import follow

PAGE = ROOT / "docs" / "tutorials" / "lm-eval.md"


def test_from_logs_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my work"
    folder.mkdir()
    (folder / "maskedadv").symlink_to(ROOT)  # the clone, in which `make demo` was run
    monkeypatch.chdir(folder)
    assert follow("docs/tutorials/lm-eval.md", {}, monkeypatch) == 9
    assert (folder / "study" / "report" / "index.html").is_file()


def test_the_logs_are_those_that_the_script_makes(tmp_path: Path) -> None:
    write_logs(tmp_path)
    made = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.json*")}
    assert made == {p.relative_to(LOGS): p.read_bytes() for p in LOGS.rglob("*.json*")}


def test_the_truth_that_the_tutorial_tells_is_the_simulations() -> None:
    truth = simulate(PLAN).truth.groupby("gap")["truth"].mean()
    told = " ".join(PAGE.read_text("utf-8").split())
    gaps = [f"{truth[gap]:.1f}".replace("-", "−") for gap in ("global_gap", "local_gap", "knowledge_gap")]
    assert "a global gap of {}, a local gap of {}, so a knowledge gap of {}".format(*gaps) in told
