"""From a file, a folder or a DataFrame to Arrow columns, with every id kept as text."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from maskedadv.errors import BadId, EmptyTable, MissingColumn, UnreadableFile
from maskedadv.files.csv_text import csv_layout, read_csv, stream_opener
from maskedadv.files.sources import existing, first_bytes, reason_of
from maskedadv.responses.folders import read_folder
from maskedadv.responses.kinds import IDS, VALUES, normal_kinds
from maskedadv.words.lists import first_few

_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_OTHER_TABLES = {".jsonl", ".ndjson", ".json", ".xlsx", ".xls", ".xlsb", ".ods", ".zip"}


def load_table(
    source: str | Path | pd.DataFrame | pa.Table, *, extras: bool
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read the known columns (and the others, if `extras`) of a response table into Arrow.

    Returns
    -------
    The table, and notes on what was not read.

    Raises
    ------
    UnreadableFile
        The path is missing, not UTF-8, or not a table.
    MissingColumn
        A required column is absent or named twice.
    """
    if isinstance(source, pd.DataFrame):
        return _from_frame(source, extras=extras), ()
    if isinstance(source, pa.Table):
        wanted = wanted_columns(source.column_names, extras=extras, where="the table")
        return normal_kinds(source.select(wanted)), ()
    if not isinstance(source, str | Path) or not str(source):
        raise UnreadableFile(
            f"a response table is a path, a DataFrame or an Arrow table, not {type(source).__name__} "
            f"{str(source)[:40]!r}."
        )
    path = existing(Path(source), "give a CSV or Parquet file or a folder of Parquet files")
    if path.is_dir():
        return read_folder(path, partial(_from_parquet, extras=extras), read_named, extras=extras)
    return read_named(path, lambda: _from_file(path, extras=extras)), ()


def _from_file(path: Path, *, extras: bool) -> pa.Table:
    """By its suffix, and by how it begins where that says more."""
    head = first_bytes(path)
    if path.suffix.lower() in {".parquet", ".pq"} or head.startswith(b"PAR1"):
        return _from_parquet(path, extras=extras)
    if head.startswith(b"PK\x03\x04") or path.suffix.lower() in _OTHER_TABLES:
        raise UnreadableFile(
            f"{path} is no CSV or Parquet file; turn it into a response table with maskedadv import table."
        )
    return _from_csv(path, extras=extras)


def read_named(path: Path, read: Callable[[], pa.Table]) -> pa.Table:
    """Read, and turn the libraries' errors into a sentence that names the file."""
    try:
        return read()
    except (pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        raise UnreadableFile(
            f"{path} cannot be read as a response table ({reason_of(error)}); "
            "it should be UTF-8 CSV with a header line, or Parquet."
        ) from error


def wanted_columns(names: list[str], *, extras: bool, where: str) -> list[str]:
    """The columns to read; refuses a header that lacks a required column or names a known one twice."""
    found = first_few([repr(n) for n in names], 12)
    twice = sorted({n for n in names if n in IDS + VALUES and names.count(n) > 1})
    if twice:
        raise MissingColumn(f"{where} names the column {twice[0]!r} twice; keep one of them.")
    absent = [name for name in IDS if name not in names]
    if absent:
        raise MissingColumn(f"column {absent[0]!r} is missing in {where} (found: {found}).")
    if "correct" not in names and "p_correct" not in names:
        raise MissingColumn(f"neither 'correct' nor 'p_correct' is in {where} (found: {found}); add one.")
    once = [n for n in names if names.count(n) == 1 and n.strip()]
    return once if extras else [n for n in names if n in IDS + VALUES]


def _from_csv(path: Path, *, extras: bool) -> pa.Table:
    open_stream = stream_opener(path)
    layout = csv_layout(open_stream, path, IDS + VALUES)
    if not layout.names:
        raise EmptyTable(f"{path} is empty; expected a header with {', '.join(IDS)}, correct or p_correct.")
    wanted = wanted_columns(list(layout.names), extras=extras, where=str(path))
    return read_csv(open_stream, path, layout, wanted, dict.fromkeys(IDS, _DICTIONARY))


def _from_parquet(path: Path, *, extras: bool, given: tuple[str, ...] = ()) -> pa.Table:
    """The wanted columns but those that folder names have `given`."""
    names = [n for n in pyarrow.parquet.read_schema(path).names if n not in given] + list(given)
    wanted = [n for n in wanted_columns(names, extras=extras, where=str(path)) if n not in given]
    schema = pyarrow.parquet.read_schema(path)
    texts = [n for n in wanted if n in IDS and pa.types.is_string(schema.field(n).type)]
    table = pyarrow.parquet.read_table(path, columns=wanted, read_dictionary=texts, partitioning=None)
    return normal_kinds(table)


def _from_frame(frame: pd.DataFrame, *, extras: bool) -> pa.Table:
    names = [str(c) for c in frame.columns]
    wanted = wanted_columns(names, extras=extras, where="the DataFrame")
    columns: dict[str, Any] = {}
    for name in wanted:
        series = frame.iloc[:, names.index(name)]
        try:
            columns[name] = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            columns[name] = _mixed(name, series, error)
    return normal_kinds(pa.table(columns))


def _mixed(name: str, series: pd.Series, error: Exception) -> pa.Array:
    """A column of mixed types: text and whole numbers become text; anything else is refused for an id."""
    values = [None if _missing(v) else v for v in series.tolist()]
    broken = [(i, v) for i, v in enumerate(values, 1) if isinstance(v, str) and not _encodable(v)]
    if broken:
        shown = first_few([f"row {i}: {v!a}" for i, v in broken])
        raise BadId(f"column '{name}': {len(broken)} values are no valid Unicode text ({shown}); mend them.")
    if name in IDS:
        odd = [(i, v) for i, v in enumerate(values, 1) if not isinstance(v, str | int | None)]
        if odd:
            shown = first_few([f"row {i}: {str(v)[:40]!r}" for i, v in odd])
            raise BadId(f"column '{name}': {len(odd)} ids are not text ({shown}); make them text.") from error
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
