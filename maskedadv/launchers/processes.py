"""Units in processes of this machine; one that dies is followed by another, which does its unit again."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import maskedadv
from maskedadv.errors import WorkerDied
from maskedadv.files.alive import temporary_folder
from maskedadv.files.undisturbed import undisturbed
from maskedadv.launchers.kinds import Local
from maskedadv.launchers.unit import TRIES, Event, Happenings, Outcome, Unit
from maskedadv.launchers.worker import receive, send

_TAIL = 2000  # characters of what a process said last


class Gone(Exception):
    """A process ended without a result; says why."""


def run_processes(units: Sequence[Unit], how: Local) -> Happenings:
    """Do the units in `how.jobs` processes; whatever ends this, ends them."""
    places = how.environments or ({},) * min(how.jobs, len(units))
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for k in range(len(units)):
        waiting.put(k)
    happened: queue.SimpleQueue[Event | Outcome] = queue.SimpleQueue()
    with temporary_folder() as folder:
        pool = _Pool(folder)

        def serve(number: int) -> None:
            _serve(pool, places[number], units, waiting, happened, fresh=how.fresh)

        threads = [threading.Thread(target=serve, args=(n,), daemon=True) for n in range(len(places))]
        try:
            with undisturbed():
                for thread in threads:
                    thread.start()
            left = len(units)
            while left:
                try:
                    event = happened.get(timeout=1.0)  # so that Windows, too, hears of Ctrl-C
                except queue.Empty:
                    continue
                left -= isinstance(event, Outcome)
                yield event
        finally:
            pool.stop()
            for thread in threads:
                if thread.ident is not None:  # else a signal came before it was started
                    thread.join()


def _serve(
    pool: _Pool,
    environment: Mapping[str, str],
    units: Sequence[Unit],
    waiting: queue.SimpleQueue[int],
    happened: queue.SimpleQueue[Event | Outcome],
    *,
    fresh: bool,
) -> None:
    """Do what is waiting, in one process after the other."""
    worker: _Worker | None = None
    while not pool.stopped:
        try:
            k = waiting.get_nowait()
        except queue.Empty:
            break
        happened.put(Event(k, "begun"))
        for tried in range(1, TRIES + 1):
            try:
                worker = worker or pool.start(environment)
                value, error = worker.do(k, units[k], happened)
            except Gone as gone:
                worker = None
                if pool.stopped:
                    return
                if tried < TRIES:
                    happened.put(Event(k, "again", str(gone)))
                    continue
                value, error = None, WorkerDied(f"{gone}; so it went {TRIES} times.")
            except Exception as trouble:  # no process can be started, or the work cannot be pickled
                value, error = None, trouble
            happened.put(Outcome(k, value, error))
            break
        if fresh and worker is not None:
            worker.close()
            worker = None
    if worker is not None:
        worker.close()


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    errors: Path

    def do(self, k: int, unit: Unit, happened: queue.SimpleQueue[Event | Outcome]) -> tuple[Any, Any]:
        """The value of a unit, or its error.

        Raises
        ------
        Gone
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            send(_binary(self.process.stdin), unit.work)
            while True:
                kind, first, second = receive(_binary(self.process.stdout))
                if kind == "end":
                    return first, second
                if kind == "spoilt":
                    self.process.wait()
                    raise Gone(first)
                happened.put(Event(k, "line", first))
        except (EOFError, BrokenPipeError):
            code = self.process.wait()
        raise Gone(_why(code) + self._said())

    def close(self) -> None:
        """Let it go home."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait()

    def _said(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.errors.read_text("utf-8", "replace")[-_TAIL:].strip().splitlines()
            if lines:
                return f" ({lines[-1]})"
        return ""


@dataclass
class _Pool:
    """The processes alive, so that an interrupt can end them."""

    folder: Path
    stopped: bool = False
    _alive: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, environment: Mapping[str, str]) -> _Worker:
        """A new process.

        Raises
        ------
        Gone
            The pool is stopped.
        """
        home = str(Path(maskedadv.__file__).resolve().parent.parent)
        paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
        # A second thread of our small matrices' products waits more than it works, and adds up otherwise.
        more = {"OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1")}
        more |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8", **environment}
        with self._lock:
            if self.stopped:
                raise Gone("stopped")
            errors = self.folder / f"errors{len(self._alive)}"
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    [sys.executable, "-m", "maskedadv.launchers.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env={**os.environ, **more},
                    start_new_session=True,
                )
            self._alive.append(process)
        return _Worker(process, errors)

    def stop(self) -> None:
        """End all processes and what they started."""
        with self._lock:
            self.stopped = True
            alive = [process for process in self._alive if process.poll() is None]
        for process in alive:
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def _why(code: int) -> str:
    """In words, why a process is gone."""
    if code >= 0:
        return f"its process ended with exit code {code} and no result"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    more = ", as one does that finds no memory" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{more}"


def _binary(stream: IO[bytes]) -> Any:
    return stream
