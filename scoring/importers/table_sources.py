"""Which files hold the tables to import: files, folders searched through, archives and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maskedadv.errors import UnreadableFile, WrongFormat
from maskedadv.files.sources import existing, first_bytes
from maskedadv.files.walk import files_below, is_data, is_hidden
from maskedadv.scoring.importers.archives import unpack_file, unpack_zip
from maskedadv.scoring.importers.paths import parts_of

CSV = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
JSON = (".jsonl", ".ndjson", ".json")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PACKED = (".gz", ".bz2", ".xz", ".zst")
TABLES = (*CSV, *PARQUET, *JSON, *EXCEL)
_TEXTS = {"readme.txt", "license.txt", "requirements.txt"}


@dataclass(frozen=True)
class TableFile:
    """One table.

    Attributes
    ----------
    path
        What to open, unpacked if it was packed.
    shown
        Its name for messages, with the archive it lies in.
    parts
        The parts of its path that count, as `paths.parts_of` gives them.
    in_folder
        Whether a folder was given rather than the file itself.
    kind
        csv, parquet, json or excel.
    """

    path: Path
    shown: str
    parts: tuple[str, ...]
    in_folder: bool
    kind: str

    @property
    def name(self) -> str:
        return self.parts[-1]


def find_tables(paths: Sequence[Path], scratch: Path) -> tuple[list[TableFile], list[str]]:
    """All tables under files, folders and archives.

    Parameters
    ----------
    scratch
        An empty folder for what has to be unpacked.

    Returns
    -------
    The tables, each once, and names of files that are none.

    Raises
    ------
    UnreadableFile, WrongFormat, BrokenLog, LogTooLarge
    """
    found: dict[Path, TableFile] = {}
    others: list[str] = []
    for given in paths:
        existing(given, "give a CSV, Parquet, JSON or Excel table, or a folder of them")
        inside = given.is_dir()
        files = [f for f in files_below(given) if not is_hidden(f, given)] if inside else [given]
        for file in files:
            if inside and not is_data(file):
                others.append(str(file))
                continue
            tables = _tables_in(file, parts_of(file, given), scratch, inside=inside)
            if not tables and not inside:
                raise WrongFormat(
                    f"{file}: a table ends in .csv, .tsv, .parquet, .jsonl, .json or .xlsx, or is a .zip of "
                    "such files."
                )
            others += [] if tables else [str(file)]
            for table in tables:
                found.setdefault(table.path.resolve(), table)
    if not found:
        named = ", ".join(str(path) for path in paths[:3])
        raise UnreadableFile(f"no table lies under {named}; give CSV, Parquet, JSON or Excel files.")
    return list(found.values()), others


def kind_of(name: str) -> str:
    """What a file's name says it is: csv, parquet, json, excel, or '' for none of them."""
    name = name.lower()
    for kind, suffixes in (("csv", CSV), ("parquet", PARQUET), ("json", JSON), ("excel", EXCEL)):
        if name.endswith(suffixes):
            return kind
    return ""


def _tables_in(file: Path, parts: tuple[str, ...], scratch: Path, *, inside: bool) -> list[TableFile]:
    name = file.name.lower()
    if inside and name in _TEXTS:
        return []
    if name.endswith(".zip"):
        into = scratch / f"{len(list(scratch.iterdir()))}"
        into.mkdir()
        return [
            TableFile(member, f"{file}/{inner}", (*parts, *inner.split("/")), True, kind)
            for inner, member in unpack_zip(file, into)
            if (kind := kind_of(inner))
        ]
    packed = next((suffix for suffix in PACKED if name.endswith(suffix)), "")
    kind = kind_of(name.removesuffix(packed))
    if packed and kind not in {"", "csv"} and packed != ".zst":
        into = scratch / f"{len(list(scratch.iterdir()))}"
        return [TableFile(unpack_file(file, into), str(file), parts, inside, kind)]
    if packed and kind != "csv":
        return []
    first_bytes(file)
    return [TableFile(file, str(file), parts, inside, kind)] if kind else []
