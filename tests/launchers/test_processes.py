"""Units in processes: what comes of them wherever they run, of those that fail, and of processes that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import BadSetting, NotConverged, PartsFailed, WorkerDied
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete, launch
from maskedadv.launchers.unit import TRIES, Unit
from tests.conftest import ROOT
from tests.launchers import work


def run(units: Sequence[Unit], how: Launcher, said: list[str] | None = None) -> dict[int, Any]:
    """Value or error of each unit."""
    found: dict[int, Any] = {}
    told = [] if said is None else said
    launch(units, how, keep=found.__setitem__, failed=found.__setitem__, tell=told.append)
    assert sorted(found) == list(range(len(units)))
    return found


@pytest.mark.parametrize("how", [Local(1), Local(2), Local(2, fresh=True)], ids=["here", "two", "fresh"])
def test_values_and_progress_are_the_same_wherever_units_run(how: Local) -> None:
    units = [Unit(f"unit {x}", partial(work.square, 0.1 * x)) for x in range(5)]
    said: list[str] = []
    assert run(units, how, said) == {x: 0.1 * x * (0.1 * x) for x in range(5)}
    assert sorted(said) == sorted(f"unit {x}: squaring {0.1 * x}" for x in range(5))


def test_processes_are_others_and_serve_several_units_unless_fresh() -> None:
    units = [Unit(str(k), work.who) for k in range(4)]
    assert set(run(units, Local(1)).values()) == {os.getpid()}
    assert len(set(run(units, Local(2)).values()) - {os.getpid()}) <= 2
    assert len(set(run(units, Local(1, fresh=True)).values()) - {os.getpid()}) == 4


def test_environments_are_the_processes_own() -> None:
    how = Local(environments=({"WHERE": "left"}, {"WHERE": "right"}), fresh=True)
    units = [Unit(str(k), partial(work.seen, "WHERE")) for k in range(6)]
    assert set(run(units, how).values()) <= {"left", "right"}
    assert "WHERE" not in os.environ
    assert run([Unit("threads", partial(work.seen, "OPENBLAS_NUM_THREADS"))], Local(fresh=True))[0] == "1"


def test_a_process_that_dies_is_replaced_and_its_unit_done_again(tmp_path: Path) -> None:
    units = [Unit("dies", partial(work.die_until, tmp_path / "a", 2))]
    units += [Unit(str(x), partial(work.square, x)) for x in range(3)]
    said: list[str] = []
    found = run(units, Local(2), said)
    assert found == {0: 3, 1: 0, 2: 1, 3: 4}
    again = [line for line in said if "done again" in line]
    assert len(again) == 2
    assert all("dies: its process was ended by SIGKILL" in line for line in again)


def test_a_unit_that_kills_every_process_is_given_up_and_the_others_are_done(tmp_path: Path) -> None:
    units = [
        Unit("dies", partial(work.die_until, tmp_path / "a", 99)),
        Unit("lives", partial(work.square, 3)),
    ]
    found = run(units, Local(2))
    assert found[1] == 9
    assert isinstance(found[0], WorkerDied)
    assert str(TRIES) in str(found[0])
    assert "SIGKILL" in str(found[0])
    assert len((tmp_path / "a").read_text()) == TRIES


def test_a_spoilt_process_does_nothing_more(tmp_path: Path) -> None:
    units = [Unit("first", work.who), Unit("spoils", partial(work.spoil_once, tmp_path / "m"))]
    said: list[str] = []
    found = run(units, Local(environments=({},)), said)
    assert found[0] != found[1]
    assert said == ["spoils: the device is lost; it is done again."]


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_are_told_the_others_go_on_and_the_error_is_raised(jobs: int) -> None:
    units = [Unit("bad", partial(work.fail, "ours")), Unit("good", partial(work.square, 2))]
    kept: dict[int, Any] = {}
    said: list[str] = []
    with pytest.raises(NotConverged, match="no optimum"):
        complete(units, Local(jobs), keep=kept.__setitem__, tell=said.append)
    assert kept == {1: 4}
    assert "bad failed: no optimum" in said
    several = [Unit(str(k), partial(work.fail, "ours")) for k in range(3)]
    with pytest.raises(PartsFailed, match=r"3 of 3 parts failed \(0, 1, 2\); 0: no optimum"):
        complete(several, Local(jobs), keep=kept.__setitem__, tell=said.append)


def test_faults_come_with_the_trace_of_the_other_process() -> None:
    with pytest.raises(ValueError, match="odd") as caught:
        complete(
            [Unit("a", partial(work.fail, "")), Unit("b", work.who)],
            Local(2),
            keep=lambda *_: None,
            tell=lambda _: None,
        )
    assert any("in fail" in note for note in caught.value.__notes__)
    found = run([Unit("a", work.unwieldy), Unit("b", work.who)], Local(2))
    assert "pickle" in str(found[0])
    assert isinstance(found[1], int)


def test_what_keeps_a_value_may_end_everything(tmp_path: Path) -> None:
    """A full disk, say: nothing goes on computing."""
    begun = tmp_path / "begun"
    units = [
        Unit("quick", work.who),
        Unit("waits", partial(work.wait_for, tmp_path / "never", begun)),
    ]

    def keep(*_: object) -> None:
        while not begun.exists():
            time.sleep(0.02)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        launch(units, Local(2), keep=keep, failed=lambda *_: None, tell=lambda _: None)


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    """Killed outright, it can do nothing for them."""
    code = (
        "import sys\nfrom functools import partial\nfrom pathlib import Path\n"
        "from maskedadv.launchers.kinds import Local\nfrom maskedadv.launchers.launching import launch\n"
        "from maskedadv.launchers.unit import Unit\nfrom tests.launchers import work\n"
        "there = Path(sys.argv[1])\n"
        "units = [Unit(str(k), partial(work.wait_for, there / 'never', there / str(k))) for k in range(2)]\n"
        "launch(units, Local(2), keep=print, failed=print, tell=print)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    while len(list(tmp_path.iterdir())) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    children = [
        int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _parent_of(stat) == parent.pid
    ]
    assert len(children) == 2
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(200):
        alive = [pid for pid in children if Path(f"/proc/{pid}").exists()]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive


def _parent_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(BadSetting, match="jobs"):
        Local(0)
    with pytest.raises(BadSetting, match="a launcher is"):
        launch([Unit("a", work.who)], "here", keep=print, failed=print, tell=print)  # type: ignore[arg-type]
