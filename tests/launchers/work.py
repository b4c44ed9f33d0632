"""Work for launchers to do: small, and dying when told to. Importable wherever the repository is."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from maskedadv.errors import NotConverged
from maskedadv.launchers.unit import WorkerSpoilt

Tell = Callable[[str], None]


def square(x: float, tell: Tell) -> float:
    tell(f"squaring {x}")
    return x * x


def who(_: Tell) -> int:
    return os.getpid()


def seen(name: str, _: Tell) -> str | None:
    return os.environ.get(name)


def fail(kind: str, _: Tell) -> None:
    raise NotConverged("no optimum") if kind == "ours" else ValueError("odd")


def die_until(mark: Path, times: int, _: Tell) -> int:
    """Killed the first so many times, as by a lack of memory; then the number of times it was begun."""
    with mark.open("a") as file:
        file.write("x")
    begun = len(mark.read_text())
    if begun <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return begun


def spoil_once(mark: Path, _: Tell) -> int:
    if not mark.exists():
        mark.touch()
        raise WorkerSpoilt("the device is lost")
    return os.getpid()


def wait_for(mark: Path, begun: Path, _: Tell) -> str:
    """Say that it has begun, and wait for a file."""
    begun.touch()
    while not mark.exists():
        time.sleep(0.02)
    return "seen"


def unwieldy(_: Tell) -> object:
    return lambda: None
