"""A posterior and simulated studies as jobs of a real Slurm of one node: the same numbers, one job killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.errors import BadSetting, NotConverged
from maskedadv.launchers import Slurm, read_status
from maskedadv.launchers.unit import Unit
from tests.conftest import ROOT
from tests.launchers import slurm_node, work
from tests.launchers.test_processes import run
from tests.simulate import table

QUICK = {"chains": 2, "warmup": 60, "draws": 12, "variants": "none", "min_accuracy": 0, "engine": "embedded"}


def test_through_submitit_without_a_cluster(tmp_path: Path) -> None:
    """The launcher, with submitit's local executor in Slurm's place."""
    pytest.importorskip("submitit")
    units = [Unit("square", partial(work.square, 0.3)), Unit("fails", partial(work.fail, "ours"))]
    units += [Unit("dies", partial(work.die_until, tmp_path / "mark", 1))]
    said: list[str] = []
    found = run(units, Slurm("none", folder=tmp_path / "jobs", cluster="local"), said)
    assert found[0] == 0.3 * 0.3
    assert isinstance(found[1], NotConverged)
    assert found[2] == 2
    assert [line.split(" ended")[0].split(":")[0] for line in said[1:]] == ["dies"]
    with pytest.raises(BadSetting, match="a folder that all machines share"):
        run(units, Slurm("none"))


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands work."""
    pytest.importorskip("submitit")
    if reason := slurm_node.missing():
        pytest.skip(reason)
    with slurm_node.running(tmp_path_factory.mktemp("slurm")) as environment:
        yield {**environment, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow  # as long as Slurm takes to notice: half a minute
def test_a_posterior_is_the_same_with_one_job_killed(slurm: dict[str, str], tmp_path: Path) -> None:
    answers, out = tmp_path / "answers.csv", tmp_path / "an out"
    table(2, (12, 12), locales=("zh", "sw"), seed=3).to_csv(answers, index=False)
    line = [sys.executable, "-m", "maskedadv", "fit", str(answers), "-o", str(out), "--method", "nuts"]
    line += [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    process = subprocess.Popen(
        [*line, "--slurm", "cpu"], env=slurm, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    )
    victims: list[int] = []
    while not victims:
        assert process.poll() is None, process.communicate()[1]
        victims = jobs_of(out)
        time.sleep(0.02)
    os.kill(victims[0], signal.SIGKILL)
    said = process.communicate(timeout=500)[1]
    assert process.returncode == 0, said
    assert "Handed in as Slurm job" in said
    assert "ended without a result" in said
    assert "it is done again" in said
    calm = maskedadv.fit(answers, method="nuts", **QUICK)  # type: ignore[arg-type]
    np.testing.assert_array_equal(maskedadv.load(out).draws("knowledge_gap"), calm.draws("knowledge_gap"))
    assert not out.with_name("an out.units").exists()


@pytest.mark.slow
def test_simulated_studies_are_the_same_and_are_taken_up_after_an_interrupt(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    line = [sys.executable, "-m", "maskedadv", "power", "--models", "3", "--replicates", "40"]
    line += ["--at-items", "30", "--at-items", "40", "--variant", "paired", "-o"]
    calm, out = tmp_path / "calm.csv", tmp_path / "out.csv"
    assert subprocess.run([*line, str(calm)], capture_output=True, check=False).returncode == 0

    def four_wait() -> None:
        assert read_status(out).waiting == 4

    slurm_node.interrupt_waiting([*line, str(out), "--slurm", "cpu"], slurm, four_wait)
    assert read_status(out).state == "interrupted"
    done = subprocess.run(
        [*line, str(out), "--slurm", "cpu"], env=slurm, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    pd.testing.assert_frame_equal(pd.read_csv(out), pd.read_csv(calm))
    assert not (tmp_path / "out.csv.units").exists()


def jobs_of(out: Path) -> list[int]:
    """The processes that Slurm runs for this output."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = command.read_bytes().split(b"\0")
            named = f"{out.name}.units/slurm".encode()
            if (
                b"submitit.core._submit" in words
                and any(named in w for w in words)
                and b"srun" not in words[0]
            ):
                found.append(int(command.parent.name))
    return found
