"""All files of a folder, however deep, with nothing missed in silence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from maskedadv.errors import UnreadableFile
from maskedadv.files.sources import is_pipe, reason_of


def files_below(folder: Path) -> list[Path]:
    """Every file below a folder, sorted; links to folders are followed, each folder once.

    Pipes, sockets and links that lead nowhere are among them: `is_data` tells.

    Raises
    ------
    UnreadableFile
        A folder cannot be listed, so that files in it would be missed.
    """

    def refuse(error: OSError) -> None:
        raise UnreadableFile(f"the folder {error.filename} cannot be read ({reason_of(error)}).") from error

    def walk() -> Iterator[Path]:
        seen: set[str] = set()
        for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
            folders.sort()
            if (real := os.path.realpath(place)) in seen:
                folders.clear()
                continue
            seen.add(real)
            yield from (Path(place, name) for name in names)

    return sorted(walk())


def is_data(path: Path) -> bool:
    """Whether this is a file that can be read to its end: no pipe, no link that leads nowhere."""
    try:
        return not is_pipe(path)
    except OSError:
        return False


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a file or a folder above it, below `folder`, begins with a dot or an underscore."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
