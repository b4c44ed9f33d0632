"""Renames that the system does in one step: exchange two names, or take one that must not be there."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_MAC_SWAP, _MAC_EXCL = 2, 4
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def exchange(one: Path, other: Path) -> bool:
    """Let two paths, both there, take each other's name; False, with nothing done, where that cannot be."""
    return _rename(one, other, _LINUX_EXCHANGE, _MAC_SWAP)


def rename_to_new(old: Path, new: Path) -> None:
    """Give `old` the name `new`, which must not be there; an empty folder there counts as there.

    Raises
    ------
    FileExistsError
    """
    if _rename(old, new, _LINUX_NOREPLACE, _MAC_EXCL):
        return
    if os.path.lexists(new):  # no such rename on this system or disk: between these lines it may appear
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(new))
    os.rename(old, new)


def _rename(old: Path, new: Path, linux: int, mac: int) -> bool:
    names = os.fsencode(old), os.fsencode(new)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            code = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], linux)
        elif sys.platform == "darwin":
            code = library.renamex_np(*names, mac)
        else:
            return False
    except (AttributeError, OSError, TypeError):  # a C library without it; Windows has no CDLL(None)
        return False
    if code == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(old), None, str(new))
