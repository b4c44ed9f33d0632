"""A file of records that only grows: a line is a checksum and JSON, whole or as if it were not there."""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from maskedadv.files.disk import writing

_SECONDS = 2.0  # between two orders to bring lines to the disk itself; a kill loses none without them


def read_lines(path: Path) -> Iterator[bytes]:
    """The records that are whole: one that was torn by a kill, or changed since, is passed over."""
    try:
        content = path.read_bytes()
    except OSError:
        return
    for line in content.split(b"\n"):
        checksum, _, record = line.partition(b" ")
        if checksum == _checksum(record, path):
            yield record


class Lines:
    """A file to add records to, from any thread; it is made with the first one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._closed = False
        self._synced = time.monotonic()
        self._lock = threading.Lock()

    def add(self, record: bytes) -> bool:
        """Add a record without line breaks; after the end, nothing. Whether it was kept.

        Raises
        ------
        OutputExists
            The disk is full.
        """
        with self._lock, writing(self._path):
            if self._closed:  # the file's number may be another file's by now
                return False
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            # A line begins with its own newline: what was torn before it stays a line by itself.
            _write_all(self._file, b"\n" + _checksum(record, self._path) + b" " + record + b"\n")
            if time.monotonic() - self._synced > _SECONDS:
                self._synced = time.monotonic()
                os.fsync(self._file)
            return True

    def close(self) -> None:
        """End it; what comes later is not kept."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None


def _write_all(file: int, line: bytes) -> None:
    written = os.write(file, line)
    if written < len(line):  # a full disk: what is torn counts as not there
        raise OSError(28, "No space left on device")


def _checksum(record: bytes, path: Path) -> bytes:
    """Of a line and of the name, which holds the fingerprint: no file is read in another's place."""
    return b"%08x" % zlib.crc32(record, zlib.crc32(path.name.encode()))
