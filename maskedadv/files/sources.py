"""Paths that users give: whether something readable is there, and whether it is what its name says."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from maskedadv.errors import UnreadableFile

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def existing(path: Path, hint: str) -> Path:
    """The path, if there is something there that can be looked at.

    Parameters
    ----------
    hint
        What to give instead, for the message: "give a CSV or Parquet file".

    Raises
    ------
    UnreadableFile
        Nothing is there, a link leads in a circle, a name is too long, a folder may not be entered.
    """
    try:
        os.stat(path)
    except FileNotFoundError as error:
        raise UnreadableFile(f"{path} does not exist; {hint}.") from error
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        shown = str(path) if len(str(path)) < 200 else f"{str(path)[:80]}...{str(path)[-40:]}"
        raise UnreadableFile(f"{shown} cannot be read ({reason_of(error)}); {hint}.") from error
    return path


_PLAINLY = {
    "zlib inflate failed": "it is no gzip file, or a damaged one",
    "Couldn't deserialize thrift": "its table of contents is damaged",
}
"""What libraries say, and what it means."""


def reason_of(error: Exception) -> str:
    """Why the system or a library refused, in its own words unless they are known: one line, never empty."""
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    for words, plainly in _PLAINLY.items():
        if words in told:
            return plainly
    lines = told.strip().splitlines()
    return lines[0] if lines else type(error).__name__


def is_pipe(path: Path) -> bool:
    """Whether reading would wait for another program: a pipe, a socket, a device."""
    kind = os.stat(path).st_mode
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def refuse_pointer(head: bytes, path: Path) -> None:
    """Refuse the few lines that Git LFS leaves in place of a file it has not fetched.

    Raises
    ------
    UnreadableFile
    """
    if head.startswith(_LFS_POINTER):
        raise UnreadableFile(f"{path} is a Git LFS pointer, not the file: run git lfs pull.")


def first_bytes(path: Path, size: int = 64) -> bytes:
    """How a regular file begins; b'' for pipes, whose content can be read only once.

    Raises
    ------
    UnreadableFile
        It cannot be opened, or is a Git LFS pointer.
    """
    try:
        if is_pipe(path) or path.is_dir():
            return b""
        with path.open("rb") as file:
            head = file.read(size)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be opened ({reason_of(error)}).") from error
    refuse_pointer(head, path)
    return head
