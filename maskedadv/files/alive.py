"""Files and folders that a process is at work on, told apart from what a killed one left behind.

A process holds a lock of the system on what it works on, and the system lets go of it when the process ends,
however that happens. So what nobody holds is a leftover, on any machine that shares the disk and whatever the
number of the process. Where there are no such locks (Windows), nothing is taken for a leftover.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "maskedadv-"
_HELD = ".held"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Make a file, which must not be there, and hold it until the end."""
    new = path.with_name(path.name + ".new")  # not to be taken for a leftover before it is held
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks: its leftovers stay
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, path)
        yield
    finally:
        os.close(descriptor)


def is_left_over(path: Path) -> bool:
    """Whether a file of `held` has nobody who holds it."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone at the end; those of killed processes go too.

    The system's folder for such things (`TMPDIR`) holds it.
    """
    _sweep(Path(tempfile.gettempdir()))
    made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    with made as name, held(Path(name, _HELD)):
        yield Path(name)


def _sweep(above: Path) -> None:
    for folder in above.glob(f"{_PREFIX}*"):
        if is_left_over(folder / _HELD):
            shutil.rmtree(folder, ignore_errors=True)
