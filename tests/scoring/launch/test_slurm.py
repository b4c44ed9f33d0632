"""Models as Slurm jobs: through submitit's local executor, and on a real Slurm of one node."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import BadSetting
from maskedadv.launchers import Slurm
from maskedadv.scoring.items.sources import read_items
from maskedadv.scoring.launch.launch import identify_units, read_errors, run_units
from maskedadv.scoring.launch.plan import Unit, make_pieces
from maskedadv.scoring.models.settings import HfSettings
from maskedadv.scoring.prompts.prompts import load_prompts
from tests.launchers import slurm_node
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import ENVIRONMENT, answer_files, assert_same_answers

pytest.importorskip("transformers")
pytest.importorskip("submitit")


def units_of(tiny_model: Path, tmp_path: Path) -> list[Unit]:
    items = read_items([write_item_file(tmp_path / "set.jsonl")]).items
    pieces = make_pieces({"set": items}, load_prompts())
    return [
        Unit("tiny", HfSettings(str(tiny_model), device="cpu"), pieces),
        Unit("absent", HfSettings(str(tmp_path / "absent"), device="cpu"), pieces),
    ]


def test_jobs_through_submitit(tiny_model: Path, tmp_path: Path) -> None:
    """The launcher, with submitit's local executor in Slurm's place."""
    units = units_of(tiny_model, tmp_path)
    known = identify_units(units, tmp_path / "out", print)
    said: list[str] = []
    how = Slurm("none", folder=tmp_path / "out/_slurm", cluster="local")
    failed = run_units(units, known, tmp_path / "out", said.append, how=how)
    assert failed == ["absent"]
    assert len(answer_files(tmp_path / "out")) == 2
    assert said[-1] == "1 of 1 jobs done."


def test_no_slurm_is_said(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    units = units_of(tiny_model, tmp_path)
    known = identify_units(units, tmp_path / "out", print)
    with pytest.raises(BadSetting, match=r"cannot be handed in to Slurm .*srun"):
        run_units(units, known, tmp_path / "out", print, how=Slurm("none", folder=tmp_path / "jobs"))


# --- a real one -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands work."""
    if slurm_node.working():
        yield {**ENVIRONMENT}
        return
    if reason := slurm_node.missing():
        pytest.skip(reason)
    with slurm_node.running(tmp_path_factory.mktemp("slurm")) as environment:
        yield {**environment, **{k: ENVIRONMENT[k] for k in ("OMP_NUM_THREADS", "HF_HUB_OFFLINE")}}


def partition(environment: dict[str, str]) -> str:
    command = ["sinfo", "--noheader", "--format=%R"]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()[0]


def start(environment: dict[str, str], items: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "maskedadv", "score", "run", str(items), "-o", str(out), *more]
    command += ["--device", "cpu", "--dtype", "float32"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_two_models_as_jobs_of_a_real_slurm(slurm: dict[str, str], tiny_model: Path, tmp_path: Path) -> None:
    """Folders with blanks, a model that fails, and the same bytes as without Slurm."""
    items = write_item_file(tmp_path / "set.jsonl", languages=("en", "zh", "fr"))
    models = ["-m", str(tiny_model), "-m", f"b={tiny_model}"]
    calm = start(slurm, items, tmp_path / "calm", *models)
    assert calm.wait(300) == 0
    out = tmp_path / "an out"
    jobs = start(slurm, items, out, *models, "--slurm", partition(slurm))
    printed, said = jobs.communicate(timeout=500)
    assert jobs.returncode == 0, said
    assert "Handed in as Slurm job" in said
    assert "2 of 2 jobs done." in said
    assert "Written to" in printed
    assert (out / "responses.parquet").read_bytes() == (tmp_path / "calm/responses.parquet").read_bytes()
    broken = tmp_path / "broken"
    shutil.copytree(tiny_model, broken)
    (broken / "model.safetensors").write_bytes(b"no weights")
    jobs = start(slurm, items, out, *models, "-m", str(broken), "--slurm", partition(slurm))
    _, said = jobs.communicate(timeout=500)
    assert jobs.returncode == 1
    assert "1 of 3 models failed (broken" in said
    assert len(pd.read_parquet(out / "responses.parquet")) == 2 * 36


def workers(out: Path) -> list[int]:
    """The processes that Slurm runs for this folder, as a lack of memory would end them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (
            b"submitit.core._submit" in words
            and f"{out}/_slurm".encode() in words
            and b"srun" not in words[0]
        ):
            found.append(int(folder.name))
    return found


@pytest.mark.slow
def test_a_job_killed_in_the_middle_is_noticed_and_taken_up(
    slurm: dict[str, str], tiny_model: Path, tmp_path: Path
) -> None:
    languages = ("en", "zh", "fr", "ja", "ar", "ko", "el", "pl")
    items = write_item_file(tmp_path / "set.jsonl", languages=languages, count=300)
    calm = start(slurm, items, tmp_path / "calm", "-m", str(tiny_model))
    assert calm.wait(500) == 0
    out = tmp_path / "out"
    jobs = start(slurm, items, out, "-m", str(tiny_model), "--slurm", partition(slurm))
    for _ in range(3000):
        done = len(list(out.rglob("_answers/**/[!.]*.parquet")))
        if done:
            break
        time.sleep(0.02)
    for pid in workers(out):
        os.kill(pid, signal.SIGKILL)
    before = answer_files(out)
    assert 0 < len(before) < len(languages)
    _, said = jobs.communicate(timeout=500)
    assert jobs.returncode == 0, said
    assert "ended without a result" in said
    assert "it is done again" in said
    assert before.items() <= answer_files(out).items()  # what was there is not asked again
    assert_same_answers(out, tmp_path / "calm")
    assert not read_errors(out)


@pytest.mark.slow
def test_an_unknown_partition_and_an_interrupt(
    slurm: dict[str, str], tiny_model: Path, tmp_path: Path
) -> None:
    items = write_item_file(tmp_path / "set.jsonl")
    jobs = start(slurm, items, tmp_path / "out", "-m", str(tiny_model), "--slurm", "nowhere")
    _, said = jobs.communicate(timeout=300)
    assert (jobs.returncode, "cannot be handed in to Slurm" in said) == (2, True), said
    assert "partition" in said
    command = [sys.executable, "-m", "maskedadv", "score", "run", str(items), "-o", str(tmp_path / "out")]
    command += ["-m", str(tiny_model), "--device", "cpu", "--dtype", "float32", "--slurm", partition(slurm)]
    slurm_node.interrupt_waiting(command, slurm)
