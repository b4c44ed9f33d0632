"""One process at a time writes a place; a second one is told at once."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from maskedadv.errors import OutputExists
from maskedadv.files.disk import cannot_write
from maskedadv.files.undisturbed import undisturbed

_held: dict[Path, int] = {}
_guard = threading.Lock()


def lock_file(path: Path) -> Path:
    """Where the claim on `path` is kept while it is held; hidden, beside it."""
    return path.with_name(f".{path.name[:200]}.lock")


@contextmanager
def claim(path: Path | None) -> Iterator[None]:
    """Let nobody else write `path` meanwhile; a thread that holds the claim may take it again.

    Without a path there is nothing to claim.

    Raises
    ------
    OutputExists
        Somebody else is writing there, or nothing can be made beside it.
    """
    if path is None:
        yield
        return
    try:
        path = path.resolve()
    except (OSError, RuntimeError) as error:  # links that lead in a circle
        raise cannot_write(path, OSError(errno.ELOOP, "")) from error
    with _guard:
        owner = _held.get(path)
    if owner == threading.get_ident():
        yield
        return
    with undisturbed() as disturbed:
        absent = [folder for folder in path.parents if not folder.exists()]  # the nearest first
        lock = _acquire(path)
        try:
            with _guard:
                _held[path] = threading.get_ident()
            with disturbed():
                yield
        finally:
            with _guard:
                _held.pop(path, None)
            # While it is held: whoever opened the file looks whether it is there.
            with contextlib.suppress(OSError):
                lock_file(path).unlink(missing_ok=True)
            lock.release()
            with contextlib.suppress(OSError):  # nothing was written: no folders are left for it either
                for folder in absent:
                    folder.rmdir()


def _acquire(path: Path) -> FileLock:
    place = lock_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            opened: list[int] = []
            lock = FileLock(place, timeout=0, thread_local=False, on_acquired=opened.append)
            lock.acquire()
            if _is_there(opened[0], place):
                return lock
            lock.release()  # its owner removed the file between our opening and our locking it
    except Timeout:
        if not os.path.lexists(place):  # no lock could be made: what looks like waiting for one never ends
            raise OutputExists(
                f"{path} cannot be written (nothing can be made in {path.parent}); give another place."
            ) from None
        raise OutputExists(
            f"{path} is being written by another process; wait until it is done, or give another place."
        ) from None
    except OSError as error:
        raise cannot_write(path, error) from error


def _is_there(descriptor: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(place))
    except FileNotFoundError:
        return False
