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

from maskedadv.errors import MissingColumn, UnreadableFile
from maskedadv.files.sources import first_bytes
from maskedadv.files.walk import files_below, is_data, is_hidden
from maskedadv.responses.kinds import IDS, VALUES, same_kinds
from maskedadv.words.lists import first_few

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
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
    tables = [
        read_named(file, partial(_read_partition, folder, file, read_parquet, extras=extras))
        for file in files
    ]
    _refuse_other_columns(folder, files, tables)
    table = read_named(folder, lambda: pa.concat_tables(same_kinds(tables), promote_options="permissive"))
    names = first_few(str(file.relative_to(folder)) for file in others)
    notes = (f"files in {folder} that are no tables were not read: {names}",) if others else ()
    return table, notes


def _refuse_other_columns(folder: Path, files: list[Path], tables: list[pa.Table]) -> None:
    first = {name for name in tables[0].column_names if name in VALUES}
    for file, table in zip(files, tables, strict=True):
        own = {name for name in table.column_names if name in VALUES}
        if own != first:
            odd = sorted(own ^ first)[0]
            raise MissingColumn(
                f"column {odd!r} is in some files of {folder} and not in others (compare {files[0].name} and "
                f"{file.relative_to(folder)}); give all files the same columns."
            )


def _read_partition(folder: Path, file: Path, read_parquet: ReadParquet, *, extras: bool) -> pa.Table:
    parts = [part.partition("=") for part in file.relative_to(folder).parts[:-1]]
    given = {name: unquote(value) for name, equals, value in parts if equals and (extras or name in IDS)}
    inside = set(pyarrow.parquet.read_schema(file).names)
    table = read_parquet(file, given=tuple(name for name in given if name not in inside))
    for name, value in given.items():
        text = None if value == _NULL_PARTITION else value
        if name in inside:
            if name in table.column_names and set(pc.unique(table[name]).to_pylist()) - {text}:
                raise UnreadableFile(f"{file}: column {name!r} disagrees with the folder's {name}={value}.")
            continue
        column = pa.array([text] * min(len(table), 1), pa.string()).dictionary_encode()
        index = pa.array(np.zeros(len(table), dtype=np.int32))
        table = table.append_column(name, pa.chunked_array([column.take(index) if len(table) else column]))
    return table
