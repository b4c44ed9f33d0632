"""What happens to the units of a run, line by line in a file, for `maskedadv status` on any machine.

One process writes it: the one that the user started, which waits for all units wherever they run.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from maskedadv import __version__
from maskedadv.files.alive import held

LEDGER = "ledger.jsonl"
HELD = "held"
BEAT = 10.0
"""Seconds between signs of life: the time of the file's last change."""


@dataclass(frozen=True)
class Ledger:
    """A book to write into.

    Attributes
    ----------
    folder : its place, where the launcher has its own files, too
    """

    folder: Path
    _file: TextIO

    def write(self, event: str, **more: Any) -> None:
        """Add a line. A disk that refuses it does not end the work that is told of."""
        line = json.dumps({"event": event, "at": round(time.time(), 3), **more}, ensure_ascii=False)
        with contextlib.suppress(OSError):
            self._file.write(line + "\n")
            self._file.flush()


@contextmanager
def open_ledger(folder: Path, command: Sequence[str], launcher: str) -> Iterator[Ledger]:
    """A new book, held and with signs of life until the end."""
    path = folder / LEDGER
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT):
            with contextlib.suppress(OSError):
                os.utime(path)

    with held(folder / HELD), path.open("w", encoding="utf-8") as file:
        book = Ledger(folder, file)
        book.write(
            "run",
            maskedadv=__version__,
            command=list(command),
            launcher=launcher,
            host=socket.gethostname(),
            process=os.getpid(),
        )
        threading.Thread(target=beat, daemon=True).start()
        try:
            yield book
        finally:
            done.set()


def read_ledger(folder: Path) -> list[dict[str, Any]]:
    """Its lines; a last one that was cut off is left out."""
    events = []
    for line in (folder / LEDGER).read_text("utf-8", "replace").split("\n")[:-1]:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            events.append(event)
    return events


def words_of_command() -> list[str]:
    """The command line at hand, as it would be typed."""
    return ["maskedadv", *sys.argv[1:]]
