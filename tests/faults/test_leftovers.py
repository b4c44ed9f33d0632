"""What a run leaves beside its result if it is killed after it wrote it goes with the same command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from maskedadv.cli.main import cli
from maskedadv.files.alive import held, new_name
from maskedadv.launchers.tracking import HELD, units_folder
from tests.simulate import table


def test_a_rerun_of_a_finished_run_clears_its_folders(tmp_path: Path) -> None:
    csv, out = tmp_path / "in.csv", tmp_path / "out"
    table(3, (20, 20)).to_csv(csv, index=False)
    fit = ["fit", str(csv), "-o", str(out)]
    assert CliRunner().invoke(cli, fit).exit_code == 0
    told = (out / "fit.json").read_bytes()
    units = units_folder(out)
    units.mkdir()
    new_name(units / HELD).touch()  # killed before it held its file
    again = CliRunner().invoke(cli, fit)
    assert again.exit_code == 0
    assert "nothing to do" in again.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "out"]
    assert (out / "fit.json").read_bytes() == told


def test_another_runs_folder_stays(tmp_path: Path) -> None:
    csv, out = tmp_path / "in.csv", tmp_path / "out"
    table(3, (20, 20)).to_csv(csv, index=False)
    assert CliRunner().invoke(cli, ["fit", str(csv), "-o", str(out)]).exit_code == 0
    units_folder(out).mkdir()
    (units_folder(out) / "letter.txt").write_text("mine")
    kept = tmp_path / "out.unfinished"
    (kept / "plain").mkdir(parents=True)
    (kept / "plain" / "zh.nc").write_text("a finished locale")
    (kept / "run.json").write_text(json.dumps({"maskedadv": "0.0.1"}))
    assert CliRunner().invoke(cli, ["fit", str(csv), "-o", str(out)]).exit_code == 0
    assert (units_folder(out) / "letter.txt").read_text() == "mine"
    assert (kept / "plain" / "zh.nc").exists()


@pytest.mark.parametrize("tries", [1, 2])
def test_a_file_killed_before_it_was_held_is_made_anew(tmp_path: Path, tries: int) -> None:
    for _ in range(tries):
        new_name(tmp_path / "held").touch()
        with held(tmp_path / "held"):
            assert [p.name for p in tmp_path.iterdir()] == ["held"]
