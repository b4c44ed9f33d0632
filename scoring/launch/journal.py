"""Answers kept as they come: a file that only grows, a line for what came at once; a kill loses nothing.

A line is a checksum and JSON. One that was torn by a kill, or changed since, is as if it were not there. The
journal of a piece lies beside its answer file and goes when that is written.
"""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maskedadv.scoring.launch.store import Answer, may_pass

_SUFFIX = ".journal"
_SECONDS = 2.0  # between two orders to bring lines to the disk itself; a kill loses none without them


def journal_path(answers: Path) -> Path:
    """The journal of an answer file."""
    return answers.with_name(answers.name + _SUFFIX)


def read_journal(path: Path, n_items: int) -> dict[int, Answer]:
    """The answers that are kept, by the item's position."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    found: dict[int, Answer] = {}
    for line in content.split(b"\n"):
        checksum, _, record = line.partition(b" ")
        if checksum != _checksum(record, path):
            continue
        for position, *fields in json.loads(record):
            if 0 <= position < n_items and len(fields) == len(Answer._fields):  # not another version's
                found.setdefault(position, _answer(fields))
    return found


class Journal:
    """A journal to write to; its file is made with the first answer.

    What is kept by one call is there as a whole or not at all. Failures that may pass are not kept: a later
    run is to ask again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._closed = False
        self._synced = time.monotonic()
        self._lock = threading.Lock()

    def keep(self, answers: Iterable[tuple[int, Answer]]) -> None:
        """Keep answers with the positions of their items; after the end, nothing.

        Raises
        ------
        OSError
            The disk is full.
        """
        rows = [_fields(position, answer) for position, answer in answers if not may_pass(answer.reason)]
        with self._lock:
            if not rows or self._closed:  # the file's number may be another file's by now
                return
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            record = json.dumps(rows).encode()
            # A line begins with its own newline: what was torn before it stays a line by itself.
            _write_all(self._file, b"\n" + _checksum(record, self._path) + b" " + record + b"\n")
            if time.monotonic() - self._synced > _SECONDS:
                self._synced = time.monotonic()
                os.fsync(self._file)

    def close(self) -> None:
        """End it; answers that come later are not kept."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None


def forget(path: Path) -> None:
    """Remove a journal whose answers are in their file."""
    path.unlink(missing_ok=True)


def _write_all(file: int, line: bytes) -> None:
    written = os.write(file, line)
    if written < len(line):  # a full disk: what is torn counts as not there
        raise OSError(28, "No space left on device")


def _checksum(record: bytes, path: Path) -> bytes:
    """Of a line and of the name, which holds the fingerprint: no journal is read in another's place."""
    return b"%08x" % zlib.crc32(record, zlib.crc32(path.name.encode()))


def _fields(position: int, answer: Answer) -> list[Any]:
    logprobs = None if answer.logprobs is None else [_exact(float(x)) for x in answer.logprobs]
    return [position, logprobs, *answer[1:]]


def _answer(fields: Iterable[Any]) -> Answer:
    logprobs, *rest = fields
    return Answer(None if logprobs is None else [float.fromhex(x) for x in logprobs], *rest)


def _exact(value: float) -> str:
    """A number so that the same comes back, infinities and NaN too."""
    return value.hex()
