"""What a disk may refuse, as one sentence; bytes that are really on it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maskedadv.errors import OutputExists

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_REFUSED = _NO_ROOM | {errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}


def is_disk_error(error: OSError) -> bool:
    """Whether the disk, not what was asked for, is the trouble: full, read-only, broken, not ours."""
    return error.errno in _REFUSED


def cannot_write(path: Path | str, error: OSError, instead: str = "another place") -> OutputExists:
    """The sentence for a place that cannot be written; `instead`: what to give."""
    mend = "make room, or " if error.errno in _NO_ROOM else ""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputExists(f"{path} cannot be written ({reason}); {mend}give {instead}.")


@contextmanager
def writing(path: Path, instead: str = "another place") -> Iterator[None]:
    """Turn what the disk refuses while `path` is written into a sentence about `path`.

    Raises
    ------
    OutputExists
    """
    try:
        yield
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise cannot_write(path, error, instead) from error


def bring_to_disk(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, would survive a power failure."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def bring_folder_to_disk(folder: Path) -> None:
    """All files below a folder, and their names."""
    for place, _, names in os.walk(folder):
        for name in names:
            bring_to_disk(Path(place, name))
        bring_to_disk(Path(place))
