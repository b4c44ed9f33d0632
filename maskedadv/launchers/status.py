"""How far a run is: what `maskedadv status` tells, from the files beside the run's output."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskedadv.errors import NotAResult
from maskedadv.files.alive import is_left_over
from maskedadv.launchers.ledger import HELD, LEDGER, read_ledger
from maskedadv.launchers.tracking import units_folder

SILENT = 60.0
"""Seconds without a sign of life after which a run on another machine counts as ended."""


@dataclass(frozen=True)
class Running:
    """A unit that is being done: since how many seconds, and for the how-manieth time."""

    name: str
    seconds: float
    tries: int


@dataclass(frozen=True)
class Failure:
    """A unit that failed, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Status:
    """How far a run is.

    Attributes
    ----------
    state : `running`, `finished`, `failed` (it ended with an error), `interrupted` (it was asked to end) or
        `killed` (its process is gone, and said nothing)
    reason : why it failed
    command, launcher, host, process : what runs, by which launcher, and which process waits for it
    seconds : since its begin
    units : of which the run has spoken so far; what it does after them is not known beforehand
    done, running, waiting, failed : of these
    seconds_left : until they are done, from how long units took; None where no unit is done yet
    """

    output: str
    state: str
    reason: str = ""
    command: tuple[str, ...] = ()
    launcher: str = ""
    host: str = ""
    process: int = 0
    seconds: float = 0.0
    units: int = 0
    done: int = 0
    running: tuple[Running, ...] = ()
    waiting: int = 0
    failed: tuple[Failure, ...] = ()
    seconds_left: float | None = None


def read_status(output: str | Path) -> Status:
    """How far the run is that writes `output`, from this or any machine that shares the disk.

    Raises
    ------
    NotAResult
        No such run is known.
    """
    output = Path(output)
    folder = units_folder(output)
    try:
        events = read_ledger(folder)
        changed = (folder / LEDGER).stat().st_mtime
    except OSError:
        events, changed = [], 0.0
    if not events or events[0]["event"] != "run":
        if os.path.exists(output):
            return Status(str(output), "finished")
        raise NotAResult(f"no run that writes {output} is known here; give the output of a command (-o).")
    run, now = events[0], time.time()
    ended = next((e for e in reversed(events) if e["event"] == "end"), None)
    state = str(ended["state"]) if ended else "running" if _is_alive(folder, run, now - changed) else "killed"
    units = _follow(events)
    until = now if state == "running" else max(changed, float(events[-1]["at"]))
    under_way = [u for u in units if u.state == "running"]
    waiting = sum(u.state == "waiting" for u in units)
    took = [u.end - u.begin for u in units if u.state == "done"]
    left = None
    if state == "running" and took:
        mean = sum(took) / len(took)
        rest = waiting * mean + sum(max(mean - (now - u.begin), 0.0) for u in under_way)
        left = rest / max(len(under_way), 1)
    return Status(
        output=str(output),
        state=state,
        reason=str(ended.get("reason", "")) if ended else "",
        command=tuple(map(str, run.get("command", ()))),
        launcher=str(run.get("launcher", "")),
        host=str(run.get("host", "")),
        process=int(run.get("process", 0)),
        seconds=max(until - float(run["at"]), 0.0),
        units=len(units),
        done=sum(u.state == "done" for u in units),
        running=tuple(Running(u.name, max(until - u.begin, 0.0), u.tries) for u in under_way),
        waiting=waiting,
        failed=tuple(Failure(u.name, u.reason) for u in units if u.state == "failed"),
        seconds_left=left,
    )


def _is_alive(folder: Path, run: dict[str, Any], silent: float) -> bool:
    """Whether somebody still works at it; on other machines locks cannot be relied on, signs of life can."""
    if run.get("host") == socket.gethostname():
        return not is_left_over(folder / HELD)
    return silent < SILENT


@dataclass
class _Unit:
    name: str
    state: str = "waiting"
    begin: float = 0.0
    end: float = 0.0
    tries: int = 1
    reason: str = field(default="")


def _follow(events: list[dict[str, Any]]) -> list[_Unit]:
    """Every unit as the last line about it leaves it."""
    found: list[_Unit] = []
    current: dict[str, _Unit] = {}
    for event in events:
        if event["event"] == "units":
            current = {str(name): _Unit(str(name)) for name in event["units"]}
            found += current.values()
        unit = current.get(str(event.get("unit")))
        if unit is None:
            continue
        unit.end = float(event["at"])
        match event["event"]:
            case "begun":
                unit.state, unit.begin = "running", unit.end
            case "again":
                unit.tries += 1
                unit.begin = unit.end
            case "done":
                unit.state = "done"
            case "failed":
                unit.state, unit.reason = "failed", str(event.get("reason", ""))
    return found
