"""Programs started by us and ended by us, whatever ends the wait for them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1


def run_all(
    commands: Sequence[Sequence[str]],
    consoles: Sequence[Path],
    *,
    at_once: int,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    watch: Callable[[int, str], None] | None = None,
) -> list[int | None]:
    """Run commands, so many at a time, and give their exit codes.

    A negative one is the signal that ended it; None is for those that were ended here, or never started,
    because another one failed.

    If the wait ends early, by an interrupt, a polite kill or an error in one of them, the others are ended;
    on Linux also if this process is killed outright.

    Parameters
    ----------
    consoles : a file for each, which takes its output and errors
    watch : called with the number of a command and each new line of its console

    Raises
    ------
    OSError
        One of them cannot be started.
    """
    codes: dict[int, int] = {}
    running: dict[int, subprocess.Popen[bytes]] = {}
    waiting = list(range(len(commands)))
    with contextlib.ExitStack() as stack:
        stack.callback(_end, running)
        readers: dict[int, IO[str]] = {}
        while waiting or running:
            while waiting and len(running) < at_once:
                k = waiting.pop(0)
                with consoles[k].open("wb") as console:
                    running[k] = subprocess.Popen(
                        list(commands[k]),
                        stdin=subprocess.DEVNULL,
                        stdout=console,
                        stderr=subprocess.STDOUT,
                        env=None if env is None else {**os.environ, **env},
                        cwd=cwd,
                        preexec_fn=_with_parent if sys.platform == "linux" else None,
                    )
                if watch is not None:
                    readers[k] = stack.enter_context(consoles[k].open(encoding="utf-8", errors="replace"))
            time.sleep(0.02)
            done = {k: code for k, process in running.items() if (code := process.poll()) is not None}
            if watch is not None:
                for k in running:
                    for line in readers[k]:
                        watch(k, line.rstrip("\n"))
            for k, code in done.items():
                codes[k] = code
                del running[k]
            if any(done.values()):
                break  # one failed: nothing is to be had of the others
    return [codes.get(k) for k in range(len(commands))]


def _end(running: Mapping[int, subprocess.Popen[bytes]]) -> None:
    for process in running.values():
        process.kill()
    for process in running.values():
        process.wait()


def _prctl() -> Callable[..., int] | None:
    try:
        return ctypes.CDLL(None).prctl
    except (OSError, AttributeError, TypeError):
        return None


_PRCTL = _prctl() if sys.platform == "linux" else None


def _with_parent() -> None:
    """In the new process: ask the system to end it when the one that started it is gone."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
