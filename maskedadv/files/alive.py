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

from maskedadv.files.undisturbed import undisturbed

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "maskedadv-"
_HELD = ".held"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Make a file, which must not be there, and hold it until the end.

    To be called undisturbed by signals: see `undisturbed.py`.
    """
    descriptor = _make_held(path)
    try:
        yield
    finally:
        os.close(descriptor)


def new_name(path: Path) -> Path:
    """The name that a file of `held` has until it is held."""
    return path.with_name(path.name + ".new")


def _make_held(path: Path) -> int:
    new = new_name(path)
    while True:
        if is_left_over(new):  # of a process killed before it held its file
            new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # a disk without locks: its leftovers stay
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.rename(new, path)
        except FileNotFoundError:  # somebody who sweeps took it for a leftover before it was held
            os.close(descriptor)
        except BaseException:
            os.close(descriptor)
            new.unlink(missing_ok=True)
            raise
        else:
            return descriptor


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
    above = Path(tempfile.gettempdir())
    with undisturbed() as disturbed:
        _sweep(above)
        folder, descriptor = _make_folder(above)
        try:
            with disturbed():
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def _make_folder(above: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=above))
        try:
            return folder, _make_held(folder / _HELD)
        except FileNotFoundError:  # as above
            continue
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _sweep(above: Path) -> None:
    for folder in above.glob(f"{_PREFIX}????????"):
        if is_left_over(folder / _HELD):
            shutil.rmtree(folder, ignore_errors=True)
        elif not (folder / _HELD).exists():  # killed before it was held
            if is_left_over(new := new_name(folder / _HELD)):
                new.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # not empty: not ours
                folder.rmdir()
