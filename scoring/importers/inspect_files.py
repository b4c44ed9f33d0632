"""Logs of Inspect, whole or sample by sample: `.eval` archives (deflate or zstd) and `.json`."""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from maskedadv.errors import BrokenLog, LogTooLarge, PackageMissing, WrongFormat
from maskedadv.files.sources import existing, first_bytes
from maskedadv.scoring.importers.archives import refuse_bomb
from maskedadv.scoring.importers.jsonstream import CUT, MAX_RECORD, read_members
from maskedadv.scoring.importers.paths import parts_of
from maskedadv.scoring.importers.runs import Run, files_under

_UNPACKING: tuple[type[Exception], ...] = (zlib.error, OSError, EOFError, RuntimeError, ValueError)
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError

    _UNPACKING += (ZstdError,)
else:
    try:
        from backports.zstd import ZstdError, zipfile

        _UNPACKING += (ZstdError,)
    except ImportError:  # archives without zstd members are still read
        import zipfile  # type: ignore[no-redef]

_UNPACKING += (zipfile.BadZipFile,)
_ZSTD = 93


def find_inspect_logs(paths: Sequence[Path]) -> list[Run]:
    """All logs under files and folders, each with its header as `results`.

    A task's arguments are part of its name here, `mmmlu(language=eu)`, since they make it another task.

    Raises
    ------
    UnreadableFile, WrongFormat, BrokenLog, LogTooLarge, PackageMissing
    """
    runs: dict[Path, Run] = {}
    for path in paths:
        existing(path, "give Inspect logs or the folder they are in")
        for file in files_under(path, (".eval", ".json")) if path.is_dir() else [path]:
            try:
                header = read_header(file)
            except WrongFormat:
                if not path.is_dir():
                    raise
                continue
            if header is None:
                if path.is_dir():
                    continue
                raise WrongFormat(f"{file} is not a log of Inspect; nothing in it names task and model.")
            spec = header["eval"]
            given = spec.get("task_args")
            arguments = ", ".join(f"{k}={v}" for k, v in given.items()) if isinstance(given, Mapping) else ""
            task = str(spec["task"]) + (f"({arguments})" if arguments else "")
            runs[file.resolve()] = Run(file, task, str(spec["model"]), str(spec.get("created", "")), header)
            parts = parts_of(file, path) if file != path else ()
            runs[file.resolve()] = replace(runs[file.resolve()], parts=parts)
    return list(runs.values())


def read_header(path: Path) -> dict[str, Any] | None:
    """What a log says of the whole run; None if the file is no log of Inspect."""
    if path.suffix == ".eval":
        with _open(path) as archive:
            names = set(archive.namelist())
            started = "_journal/start.json"  # all there is when the run was killed
            name = "header.json" if "header.json" in names else started if started in names else None
            header = _load(archive, name, path) if name else None
            if name == started and header is not None:
                header = {"status": "started", **header}
    elif path.suffix == ".json":
        header = {}
        for name, value in read_members(path, "samples"):
            if name == "samples" and "eval" in header:
                break
            if name != "samples" and value is not CUT:
                header[name] = value
    else:
        raise WrongFormat(f"{path} is not a log of Inspect, which ends in .eval or .json.")
    spec = header.get("eval") if isinstance(header, dict) else None
    return header if isinstance(spec, Mapping) and {"task", "model"} <= set(spec) else None


def read_samples(path: Path) -> Iterator[Any]:
    """The samples of a log, one at a time; `CUT` for one that the end of the file cuts off.

    Raises
    ------
    BrokenLog, LogTooLarge, PackageMissing
    """
    if path.suffix == ".eval":
        with _open(path) as archive:
            names = [n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json")]
            for name in dict.fromkeys(names):  # a name written twice stands for its last version
                yield _load(archive, name, path)
    else:
        for name, value in read_members(path, "samples"):
            if name == "samples" or value is CUT:
                yield value


def _open(path: Path) -> zipfile.ZipFile:
    """Open an archive; refuse one that unpacks to far more than any log."""
    first_bytes(path)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BrokenLog(f"{path} is not a whole zip archive ({error}).") from error
    try:
        for info in archive.infolist():
            refuse_bomb(info.compress_size, info.file_size, f"{path}, member {info.filename}")
    except LogTooLarge:
        archive.close()
        raise
    return archive


def _load(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    where = f"{path}, member {name}"
    try:
        with archive.open(name) as member:
            raw = member.read(MAX_RECORD + 1)
    except NotImplementedError as error:
        if archive.getinfo(name).compress_type == _ZSTD:
            raise PackageMissing(
                f"{path} is packed with zstd, which needs one more package: pip install backports.zstd"
            ) from error
        raise BrokenLog(f"{where} is packed in an unknown way ({error}).") from error
    except _UNPACKING as error:
        raise BrokenLog(f"{where} cannot be unpacked ({error}).") from error
    if len(raw) > MAX_RECORD:
        raise LogTooLarge(f"{where} is larger than {MAX_RECORD // 2**20} MiB.")
    try:
        value = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenLog(f"{where} is not UTF-8 JSON ({error}).") from error
    if not isinstance(value, dict):
        raise BrokenLog(f"{where} is a JSON {type(value).__name__}, not an object.")
    return value
