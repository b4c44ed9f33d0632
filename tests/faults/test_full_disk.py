"""A disk that fills: one sentence, exit code 2, nothing left. The largest size of a file stands in for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import OutputExists
from maskedadv.files.atomic import write_table, write_whole
from maskedadv.result.fit_result import Fit
from tests.faults.conftest import NUTS, Command

resource = pytest.importorskip("resource", reason="POSIX limits")

COMMAND = [sys.executable, "-m", "maskedadv"]


def limit(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def left(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("size", [0, 8_000, 20_000])
def test_fit(command: Command, csv: Path, tmp_path: Path, size: int) -> None:
    done = command("fit", csv, "-o", tmp_path / "out", "--min-accuracy", 0, preexec_fn=limit(size))
    assert done.returncode == 2, done.stderr
    no_room_at_all = size == 0 and (
        "set TMPDIR" in done.stderr or "the output cannot be written" in done.stderr
    )
    assert no_room_at_all or f"{tmp_path / 'out'} cannot be written (" in done.stderr
    assert "Traceback" not in done.stderr
    assert left(tmp_path) == []


def test_nuts_keeps_nothing_that_is_not_whole(command: Command, csv: Path, tmp_path: Path) -> None:
    line = ("fit", csv, "-o", tmp_path / "out", "--min-accuracy", 0, *NUTS, "--variants", "none")
    done = command(*line, preexec_fn=limit(20_000))
    assert done.returncode == 2, done.stderr
    assert "cannot be written (" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("*.nc*"))
    assert command(*line).returncode in (0, 3)
    assert left(tmp_path) == ["out"]


@pytest.mark.parametrize("size", [40_000])
def test_report(command: Command, fit: Fit, tmp_path: Path, size: int) -> None:
    out = fit.save(tmp_path / "out")
    done = command("report", out, "-o", tmp_path / "page", preexec_fn=limit(size))
    assert done.returncode == 2, done.stderr
    assert "cannot be written (" in done.stderr
    assert "Traceback" not in done.stderr
    assert left(tmp_path) == ["out"]


def test_an_old_result_survives(command: Command, csv: Path, fit: Fit, tmp_path: Path) -> None:
    out = fit.save(tmp_path / "out")
    before = {p.name: p.stat().st_ino for p in out.iterdir()}
    line = ("fit", csv, "-o", out, "--overwrite", "--seed", 5, "--min-accuracy", 0)
    assert command(*line, preexec_fn=limit(8_000)).returncode == 2
    assert {p.name: p.stat().st_ino for p in out.iterdir()} == before


def test_simulate_names_the_place_that_was_given(command: Command, tmp_path: Path) -> None:
    done = command("simulate", "-o", tmp_path / "made", preexec_fn=limit(8_000))
    assert done.returncode == 2
    assert f"Error: {tmp_path / 'made' / 'responses.csv'} cannot be written (" in done.stderr
    assert left(tmp_path) == []


def test_an_export_leaves_no_half_folder(command: Command, csv: Path, tmp_path: Path) -> None:
    done = command("export-stan", csv, "-o", tmp_path / "stan", preexec_fn=limit(7_000))
    assert done.returncode == 2
    assert f"Error: {tmp_path / 'stan' / 'zh'} cannot be written (" in done.stderr
    assert left(tmp_path) == []


def test_a_disk_that_takes_a_part_of_what_is_printed(csv: Path, tmp_path: Path) -> None:
    """Without a buffer, as in many containers, Python itself does not notice."""
    line, unbuffered = [*COMMAND, "check", str(csv), "--json"], {**os.environ, "PYTHONUNBUFFERED": "1"}
    with (tmp_path / "said").open("wb") as file:
        done = subprocess.run(
            line, stdout=file, stderr=subprocess.PIPE, env=unbuffered, preexec_fn=limit(500), check=False
        )
    assert (tmp_path / "said").stat().st_size == 500
    assert b"the output cannot be written" in done.stderr
    assert done.returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["gaps", "OUT"], ["check", "CSV"], ["gaps", "OUT", "--json"]])
def test_printing_to_a_full_device(fit: Fit, csv: Path, tmp_path: Path, arguments: list[str]) -> None:
    out = fit.save(tmp_path / "out")
    line = [str({"OUT": out, "CSV": csv}.get(a, a)) for a in arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *line], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "the output cannot be written (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_closes_the_pipe_is_no_fault(fit: Fit, tmp_path: Path) -> None:
    line = [*COMMAND, "gaps", str(fit.save(tmp_path / "out"))]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=300)
    assert b"Traceback" not in errors
    assert process.returncode in (0, 1)


def test_other_errors_keep_their_own_words(tmp_path: Path) -> None:
    """What fails inside `write` for a reason of its own is not called a full disk."""

    def absent(_: Path) -> None:
        (tmp_path / "absent").read_bytes()

    with pytest.raises(FileNotFoundError, match="absent"):
        write_whole(tmp_path / "a", absent)
    with pytest.raises(OutputExists, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "no" / "a.csv")
    assert left(tmp_path) == []
