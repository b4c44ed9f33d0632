"""A folder of Parquet files as one table, with columns from folder names such as `language=zh`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from maskedadv.errors import BadId, MissingColumn, UnreadableFile
from maskedadv.files.sources import first_bytes
from maskedadv.files.walk import files_below, is_data, is_hidden
from maskedadv.responses.kinds import IDS, VALUES, same_kinds
from maskedadv.words.lists import first_few

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_TABLES = (
    ".csv",
    ".tsv",
    ".csv.gz",
    ".tsv.gz",
    ".jsonl",
    ".ndjson",
    ".jsonl.gz",
    ".xlsx",
    ".feather",
    ".arrow",
)

ReadParquet = Callable[..., pa.Table]


def read_folder(
    folder: Path, read_parquet: ReadParquet, read_named: Callable[..., pa.Table], *, extras: bool
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read all Parquet files below a folder, whatever their names.

    Hidden files (a dot or an underscore in front) are left alone.

    Returns
    -------
    The table, and a note on files that are no tables and were not read.

    Raises
    ------
    UnreadableFile
        A subfolder cannot be listed, a pipe or another kind of table lies among the files, or there is no
        Parquet file.
    MissingColumn
        A value column is in some files only.
    """
    files, notes = parquet_files(folder)
    tables = [
        read_named(file, partial(_read_partition, folder, file, read_parquet, extras=extras))
        for file in files
    ]
    refuse_other_columns(files, [set(table.column_names) for table in tables])
    table = read_named(folder, lambda: pa.concat_tables(same_kinds(tables), promote_options="permissive"))
    return table, notes


def parquet_files(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """All Parquet files below a folder, sorted, and a note on files that are no tables; see `read_folder`.

    Raises
    ------
    UnreadableFile
    """
    found = [file for file in files_below(folder) if not is_hidden(file, folder)]
    files, others = [], []
    for file in found:
        named = file.suffix.lower() in {".parquet", ".pq"}
        if not is_data(file):
            if named:
                raise UnreadableFile(f"{file} is a pipe or leads nowhere; a table's folder holds files.")
            others.append(file)
        elif named or first_bytes(file).startswith(b"PAR1"):
            files.append(file)
        elif file.name.lower().endswith(_TABLES) and file.stat().st_size > 0:
            raise UnreadableFile(
                f"{file} lies in a folder of Parquet files and would not be read; take it out, or turn it "
                "into Parquet with maskedadv import table."
            )
        else:
            others.append(file)
    if not files:
        raise UnreadableFile(f"{folder} holds no Parquet file; give a file, or a folder of .parquet files.")
    names = first_few(str(file.relative_to(folder)) for file in others)
    notes = (f"files in {folder} that are no tables were not read: {names}",) if others else ()
    return files, notes


def refuse_other_columns(files: list[Path], columns: list[set[str]]) -> None:
    """Refuse files that have other columns of values than the first.

    Raises
    ------
    MissingColumn
    """
    first = columns[0] & set(VALUES)
    for file, names in zip(files, columns, strict=True):
        own = names & set(VALUES)
        if own != first:
            raise other_columns(sorted(own ^ first)[0], files[0], file)


def other_columns(name: str, one: Path, other: Path) -> MissingColumn:
    """What to say of a column that only some files have."""
    return MissingColumn(
        f"column {name!r} is in some files of the table and not in others (compare {one} and {other}); give "
        "all files the same columns."
    )


def folder_columns(folder: Path, file: Path) -> dict[str, str | None]:
    """What the names of the folders above a file say: `language=zh`; None for Hive's name of nothing.

    Raises
    ------
    BadId
        A name is no text: `model=%FF`.
    """
    parts = [part.partition("=") for part in file.relative_to(folder).parts[:-1]]
    try:
        return {
            unquote(name, errors="strict"): None
            if value == NULL_PARTITION
            else unquote(value, errors="strict")
            for name, equals, value in parts
            if equals
        }
    except UnicodeDecodeError as error:
        raise BadId(
            f"{file.parent}: what the folder's name writes with % is no UTF-8 text ({error.reason}); "
            "write the id in UTF-8, as model=%C3%A9 for é."
        ) from error


def _read_partition(folder: Path, file: Path, read_parquet: ReadParquet, *, extras: bool) -> pa.Table:
    named = folder_columns(folder, file)
    given = {name: value for name, value in named.items() if extras or name in IDS}
    inside = set(pyarrow.parquet.read_schema(file).names)
    table = read_parquet(file, given=tuple(name for name in given if name not in inside))
    for name, text in given.items():
        if name in inside:
            if name in table.column_names and set(pc.unique(table[name]).to_pylist()) - {text}:
                raise UnreadableFile(f"{file}: column {name!r} disagrees with the folder's {name}={text}.")
            continue
        column = pa.array([text] * min(len(table), 1), pa.string()).dictionary_encode()
        index = pa.array(np.zeros(len(table), dtype=np.int32))
        table = table.append_column(name, pa.chunked_array([column.take(index) if len(table) else column]))
    return table
