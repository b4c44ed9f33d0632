"""Packed tables: zip archives and gzip, bzip2 or xz files, unpacked into a folder that goes again."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from maskedadv.errors import BrokenLog, LogTooLarge
from maskedadv.files.sources import first_bytes, reason_of

_UNPACKING = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError)
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MAX_RATIO = 250  # real tables and logs shrink 5 to 100 times
SMALL = 16 * 2**20  # what unpacks to less than this is no danger
_CHUNK = 2**20


def refuse_bomb(packed: int, unpacked: int, where: str) -> None:
    """Refuse what unpacks to far more than any log or table does.

    Raises
    ------
    LogTooLarge
    """
    if unpacked > SMALL and unpacked > MAX_RATIO * packed:
        raise LogTooLarge(
            f"{where} would unpack to {unpacked // 2**20:,} MiB, more than {MAX_RATIO} times its size; it is "
            "not read."
        )


def unpack_zip(path: Path, into: Path) -> list[tuple[str, Path]]:
    """Unpack the members of an archive, but hidden ones.

    Returns
    -------
    (name inside the archive, file) of each.

    Raises
    ------
    BrokenLog, LogTooLarge
    """
    first_bytes(path)
    found = []
    try:
        with zipfile.ZipFile(path) as archive:
            for n, info in enumerate(archive.infolist()):
                parts = PurePosixPath(info.filename).parts
                if info.is_dir() or any(part.startswith((".", "__MACOSX")) for part in parts):
                    continue
                where = f"{path}/{info.filename}"
                refuse_bomb(info.compress_size, info.file_size, where)
                target = (
                    into / f"{n}" / (parts[-1] if len(parts[-1]) < 200 else f"member{Path(parts[-1]).suffix}")
                )
                target.parent.mkdir()
                with archive.open(info) as member, target.open("wb") as out:
                    _copy(member, out, info.compress_size, where)
                found.append((info.filename, target))
    except NotImplementedError as error:
        raise BrokenLog(f"{path} is packed in an unknown way ({error}).") from error
    except _UNPACKING as error:
        raise BrokenLog(f"{path} is not a whole zip archive ({reason_of(error)}).") from error
    return found


def unpack_file(path: Path, into: Path) -> Path:
    """Unpack a .gz, .bz2 or .xz file.

    Raises
    ------
    BrokenLog, LogTooLarge
    """
    first_bytes(path)
    target = into / path.stem
    into.mkdir(exist_ok=True)
    try:
        with _OPENERS[path.suffix.lower()](path, "rb") as member, target.open("wb") as out:
            _copy(member, out, path.stat().st_size, str(path))
    except _UNPACKING as error:
        raise BrokenLog(f"{path} cannot be unpacked ({reason_of(error)}).") from error
    return target


def _copy(member: IO[bytes], out: IO[bytes], packed: int, where: str) -> None:
    """Copy, and stop where more comes out than the archive said."""
    written = 0
    while chunk := member.read(_CHUNK):
        written += len(chunk)
        refuse_bomb(packed, written, where)
        out.write(chunk)
