"""What `maskedadv status` tells: while a run goes on, and after it failed, was killed, or is done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from maskedadv.errors import NotAResult, NotConverged, OutputExists
from maskedadv.launchers import Local, read_status, tracked
from maskedadv.launchers.launching import complete
from maskedadv.launchers.ledger import HELD, LEDGER
from maskedadv.launchers.unit import Unit
from tests.conftest import ROOT
from tests.launchers import work


def nothing(*_: object) -> None: ...


def test_a_run_is_told_unit_by_unit_and_leaves_nothing_when_it_is_done(tmp_path: Path) -> None:
    out, seen = tmp_path / "out", []
    units = [Unit(str(k), partial(work.square, k)) for k in range(3)]
    with tracked(Local(), out) as how:
        complete(units, how, keep=lambda k, _: seen.append((k, read_status(out))), tell=nothing)
        last = read_status(out)
    for k, found in seen:  # the unit is kept before it counts as done
        assert (found.state, found.units, found.done, found.waiting) == ("running", 3, k, 2 - k)
        assert [r.name for r in found.running] == [str(k)]
        assert (found.seconds_left is None) == (k == 0)
    assert (last.done, last.running, last.waiting) == (3, (), 0)
    assert last.process == os.getpid()
    assert not list(tmp_path.iterdir())
    with pytest.raises(NotAResult, match="no run that writes"):
        read_status(out)
    out.touch()
    assert read_status(out).state == "finished"


def test_a_failure_is_told_with_its_reason_until_the_run_succeeds(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    units = [Unit("bad", partial(work.fail, "ours")), Unit("good", partial(work.square, 2))]
    with pytest.raises(NotConverged), tracked(Local(), out) as how:
        complete(units, how, keep=nothing, tell=nothing)
    found = read_status(out)
    assert (found.state, found.reason, found.done) == ("failed", "no optimum", 1)
    assert [(f.name, f.reason) for f in found.failed] == [("bad", "no optimum")]
    with tracked(Local(), out) as how:
        complete(units[1:], how, keep=nothing, tell=nothing)
    assert not list(tmp_path.iterdir())


def test_an_end_before_any_unit_is_done_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), tracked(Local(), tmp_path / "out"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_a_tried_again_unit_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    units = [Unit("dies", partial(work.die_until, tmp_path / "mark", 99))]
    lines: list[str] = []
    with pytest.raises(Exception, match="SIGKILL"), tracked(Local(fresh=True), out) as how:
        complete(units, how, keep=nothing, tell=lines.append)
    events = [json.loads(x) for x in (tmp_path / "out.units" / LEDGER).read_text().splitlines()]
    assert [e["event"] for e in events] == ["run", "units", "begun", "again", "again", "failed", "end"]
    assert "SIGKILL" in read_status(out).failed[0].reason


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.units").mkdir()
    (tmp_path / "out.units" / "mine").touch()
    with pytest.raises(OutputExists, match="holds something else"), tracked(Local(), tmp_path / "out"):
        pass
    assert (tmp_path / "out.units" / "mine").exists()


def test_a_second_run_in_one_place_leaves_the_firsts_book_alone(tmp_path: Path) -> None:
    with tracked(Local(), tmp_path / "out") as first, tracked(Local(), tmp_path / "out") as second:
        assert first.ledger is not None
        assert second.ledger is None


CODE = """
import sys
from functools import partial
from pathlib import Path
from maskedadv.launchers import Local, tracked
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit
from tests.launchers import work
there = Path(sys.argv[1])
units = [Unit('quick', work.who)]
units += [Unit(n, partial(work.wait_for, there / 'go', there / n)) for n in ('first', 'second', 'third')]
with tracked(Local(2), there / 'out') as how:
    complete(units, how, keep=print, tell=print)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of the system by which a killed run is known")
def test_from_another_process_while_it_runs_and_after_it_was_killed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = subprocess.Popen([sys.executable, "-c", CODE, str(tmp_path)], cwd=ROOT, stdout=subprocess.DEVNULL)
    while not ((tmp_path / "first").exists() and (tmp_path / "second").exists()):
        assert run.poll() is None
        time.sleep(0.05)
    found = read_status(out)
    assert (found.state, found.process, found.launcher) == ("running", run.pid, "local")
    assert (found.done, found.waiting) == (1, 1)
    assert {r.name for r in found.running} == {"first", "second"}
    shown = status(out)
    assert shown.returncode == 0
    assert "done     1 of 4 units" in shown.stdout
    assert "running  2: first (" in shown.stdout
    assert "left     about" in shown.stdout
    run.send_signal(signal.SIGKILL)
    run.wait()
    found = read_status(out)
    assert (found.state, found.done, len(found.running), found.seconds_left) == ("killed", 1, 2, None)
    shown = status(out, "--json")
    assert shown.returncode == 1
    assert json.loads(shown.stdout)["state"] == "killed"
    # On another machine its lock says nothing; signs of life do.
    ledger = tmp_path / "out.units" / LEDGER
    lines = ledger.read_text().replace(f'"host": "{found.host}"', '"host": "another"')
    ledger.write_text(lines + '{"event": "done", "un')  # a line that is being written
    assert read_status(out).state == "running"
    os.utime(ledger, (time.time() - 300, time.time() - 300))
    assert read_status(out).state == "killed"
    assert (tmp_path / "out.units" / HELD).exists()
    (tmp_path / "go").touch()
    assert subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], cwd=ROOT, check=False).returncode == 0
    assert not (tmp_path / "out.units").exists()


def status(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "maskedadv", "status", str(out), *more]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
