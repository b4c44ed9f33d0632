"""Two runs on one place, and what a killed one leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from maskedadv.errors import OutputExists
from maskedadv.files import folders
from maskedadv.files.alive import held, is_left_over, temporary_folder
from maskedadv.files.atomic import write_whole
from maskedadv.files.claims import claim, lock_file
from maskedadv.files.folders import whole_folder
from tests.faults.conftest import Command

posix = pytest.mark.skipif(os.name == "nt", reason="locks of files that are told apart by the system")


def holder(code: str) -> subprocess.Popen[str]:
    """A process that says `held` once it is at work, and stays there."""
    process = subprocess.Popen(
        [sys.executable, "-c", code + "\nprint('held', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_fit_into_the_folder_is_refused_at_once(command: Command, csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = holder(
        "from pathlib import Path\nfrom maskedadv.files.claims import claim\n"
        f"own = claim(Path({str(out)!r}))\nown.__enter__()"
    )
    done = command("fit", csv, "-o", out, "--min-accuracy", 0)
    assert done.returncode == 2
    assert "is being written by another process" in done.stderr
    assert not out.exists()
    first.kill()
    first.wait()
    assert command("fit", csv, "-o", out, "--min-accuracy", 0).returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["power", "sensitivity"])
def test_a_second_study_into_the_table_is_refused_before_its_work(
    command: Command, csv: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out.csv"
    what = {
        "power": ("--models", 6, "--knowledge-gap", 0.5, "--replicates", 20, "--at-items", 30),
        "sensitivity": (csv, "--min-accuracy", 0),
    }
    with claim(out):
        done = command(name, *what[name], "-o", out)
    assert done.returncode == 2
    assert "is being written by another process" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == []


def test_a_claim_is_for_one_thread_and_may_be_taken_again_by_it(tmp_path: Path) -> None:
    place, told = tmp_path / "deep" / "er" / "out", []

    def other() -> None:
        try:
            with claim(place):
                told.append("had it")
        except OutputExists as error:
            told.append(str(error))

    with claim(place), claim(place):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert lock_file(place).exists()
    assert "another process" in told[0]
    assert list(tmp_path.iterdir()) == []
    other()
    assert told[1] == "had it"


def test_many_processes_and_one_folder(tmp_path: Path) -> None:
    """Whoever gets the claim is alone: each adds one to a number that it reads first."""
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom maskedadv.errors import OutputExists\n"
        "from maskedadv.files.claims import claim\n"
        "place, number, mine = Path(sys.argv[1]), Path(sys.argv[2]), 0\n"
        "while mine < 30:\n"
        "    try:\n"
        "        with claim(place):\n"
        "            before = int(number.read_text())\n"
        "            time.sleep(0.001)\n"
        "            number.write_text(str(before + 1))\n"
        "            mine += 1\n"
        "    except OutputExists:\n"
        "        time.sleep(0.0005)\n"
    )
    number = tmp_path / "number"
    number.write_text("0")
    line = [sys.executable, "-c", code, str(tmp_path / "out"), str(number)]
    at_work = [subprocess.Popen(line) for _ in range(4)]
    assert [p.wait(timeout=300) for p in at_work] == [0] * 4
    assert number.read_text() == "120"
    assert [p.name for p in tmp_path.iterdir()] == ["number"]


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def disturbed() -> None:
        with whole_folder(out, bool) as partial:
            (partial / "a").write_text("ours")
            out.mkdir()
            (out / "theirs").write_text("theirs")

    with pytest.raises(OutputExists, match="appeared while this ran"):
        disturbed()
    assert [p.name for p in out.iterdir()] == ["theirs"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]

    file = tmp_path / "table.csv"

    def slow(partial: Path) -> None:
        partial.write_text("ours")
        file.write_text("theirs")

    with pytest.raises(OutputExists, match="appeared meanwhile"):
        write_whole(file, slow, replace=False)
    assert file.read_text() == "theirs"


@posix
def test_leftovers_of_killed_runs_go_and_files_at_work_stay(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    code = (
        "from pathlib import Path\nfrom maskedadv.files.atomic import write_whole\n"
        "def stay(partial):\n    partial.write_text('half')\n    print('held', flush=True)\n    input()\n"
        f"write_whole(Path({str(target)!r}), stay)"
    )
    working = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert working.stdout is not None
    assert working.stdout.readline() == "held\n"
    (partial,) = tmp_path.glob(".a.txt.*")
    write_whole(target, lambda p: p.write_text("whole"))
    assert partial.exists(), "somebody is at work on it"
    assert not is_left_over(partial)
    working.kill()
    working.wait()
    assert is_left_over(partial)
    write_whole(target, lambda p: p.write_text("again"))
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@posix
def test_a_folder_whose_run_was_killed_before_its_marker_counts_as_empty(tmp_path: Path) -> None:
    for end in ("", ".new"):
        (tmp_path / f".fit.json.1.2.partial{end}").write_text("")
    folders.check_folder(tmp_path, "fit.json", "x", overwrite=False)
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path / ".fit.json.1.2.partial"), pytest.raises(OutputExists):
        folders.check_folder(tmp_path, "fit.json", "x", overwrite=False)


@posix
def test_temporary_folders_of_killed_runs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = "from maskedadv.files.alive import temporary_folder\nown = temporary_folder()\nown.__enter__()"
    first, second = holder(code), holder(code)
    first.kill()
    first.wait()
    with temporary_folder() as folder:
        assert len(list(tmp_path.iterdir())) == 2  # the second's and ours
        assert folder.is_dir()
    second.kill()
    second.wait()
    with temporary_folder():
        pass
    assert list(tmp_path.iterdir()) == []


def test_leftover_folders_go_and_other_outputs_stay(tmp_path: Path) -> None:
    for name in (".out.abcd1234.partial", ".out.abcd1234.old", ".out.b.abcd1234.partial", ".out.mine"):
        (tmp_path / name).mkdir()
    with whole_folder(tmp_path / "out", bool) as partial:
        (partial / "a").write_text("ours")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".out.b.abcd1234.partial", ".out.mine", "out"]


def test_an_old_result_that_a_kill_left_aside_comes_back(tmp_path: Path) -> None:
    """On disks that exchange in two steps, the first may be the last."""
    aside = tmp_path / ".out.abcd1234.old" / "out"
    aside.mkdir(parents=True)
    (aside / "notes.txt").write_text("mine")
    with whole_folder(tmp_path / "out", lambda name: name == "a") as partial:
        (partial / "a").write_text("ours")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a", "notes.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_not_ours_never_leaves_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    out = tmp_path / "out"
    (out / "plots" / "deep").mkdir(parents=True)
    (out / "plots" / "deep" / "x").write_text("mine")
    (out / "link").symlink_to("nowhere")
    (out / "a").write_text("old")
    real = folders.exchange
    seen: list[bool] = []

    def watch(one: Path, other: Path) -> bool:
        seen.append((one / "plots" / "deep" / "x").read_text() == "mine" and (one / "link").is_symlink())
        return real(one, other) if at_once else False

    monkeypatch.setattr(folders, "exchange", watch)
    with whole_folder(out, lambda name: name == "a") as partial:
        (partial / "a").write_text("new")
    assert seen == [True], "both names hold it before they are exchanged"
    assert (out / "a").read_text() == "new"
    assert (out / "plots" / "deep" / "x").read_text() == "mine"
    assert (out / "link").is_symlink()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_where_no_lock_can_be_made_the_place_is_the_trouble() -> None:
    with pytest.raises(OutputExists, match="cannot be written"), claim(Path("/proc/x")):
        pass


def test_links_that_lead_in_a_circle_are_no_place(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OutputExists, match="symbolic links"), claim(loop):
        pass
    with pytest.raises(OutputExists, match="symbolic links"):
        folders.check_folder(loop, "fit.json", None, overwrite=False)
