"""Rows of item files, whatever their form: JSON lines, CSV, Parquet, Arrow files of `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from maskedadv.errors import BrokenLog, UnreadableFile
from maskedadv.files.text_tables import read_text_table
from maskedadv.scoring.importers.jsonstream import CUT, read_records

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow")


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The item files meant by paths: files as they are; of a folder all, but for splits other than test.

    Raises
    ------
    UnreadableFile
        A path is not there, or a folder holds no item file.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file())
            inside = [
                p for p in inside if not any(x.startswith((".", "_")) for x in p.relative_to(path).parts)
            ]
            tests = [p for p in inside if _split(p, path) == "test"]
            chosen = tests or [p for p in inside if _split(p, path) == ""]
            if not chosen:
                raise UnreadableFile(f"{path} holds no item file ({', '.join(ENDINGS)}) of a test split.")
            found += chosen
        elif path.is_file():
            found.append(path)
        else:
            raise UnreadableFile(f"{path} does not exist; give item files or folders of them.")
    return found


def read_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (where, row) of one file; `where` names file and row, counted from 1.

    Raises
    ------
    UnreadableFile, BrokenLog, MissingColumn, EmptyTable
    """
    ending = path.suffix.lower()
    if ending in {".parquet", ".arrow"}:
        try:
            rows = _arrow(path).to_pylist()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).strip().split("\n")[0]
            raise UnreadableFile(f"{path} cannot be read as {ending[1:]} ({reason}).") from error
        yield from ((f"{path}, row {n}", row) for n, row in enumerate(rows, 1))
    elif ending in {".csv", ".tsv"}:
        for n, values in enumerate(read_text_table(path, "the item file", []).to_dict("records"), 1):
            yield f"{path}, row {n}", {str(k): v for k, v in values.items()}
    elif ending in {".jsonl", ".json"}:
        for n, record in read_records(path):
            if record is CUT:
                raise BrokenLog(f"{path}: record {n} is cut off; the file is not complete.")
            yield f"{path}, row {n}", record
    else:
        raise UnreadableFile(f"{path} is none of {', '.join(ENDINGS)}.")


def _arrow(path: Path) -> pa.Table:
    if path.suffix.lower() == ".parquet":
        return pyarrow.parquet.read_table(path, partitioning=None)
    with pa.memory_map(str(path)) as source:
        try:
            return pa.ipc.open_stream(source).read_all()
        except pa.ArrowInvalid:
            return pa.ipc.open_file(source).read_all()


def _split(path: Path, root: Path) -> str:
    """The split a file belongs to, by its name or a folder's: test, another one, or '' for none."""
    names = [part.lower() for part in path.relative_to(root).parts]
    names[-1] = names[-1].split(".")[0]
    for split in ("test", "train", "dev", "validation", "valid", "val"):
        if any(name == split or name.startswith(f"{split}-") or name.endswith(f"-{split}") for name in names):
            return "test" if split == "test" else "other"
    return ""
