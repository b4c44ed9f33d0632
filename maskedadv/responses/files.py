"""From a file, a folder or a DataFrame to Arrow columns, with every id kept as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from maskedadv.errors import BadId, EmptyTable, MissingColumn, UnreadableFile

IDS = ("model", "subset", "language", "item")
VALUES = ("correct", "p_correct", "crm_logit", "n_options")
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def load_table(source: str | Path | pd.DataFrame | pa.Table, *, extras: bool) -> pa.Table:
    """Read the known columns (and the others, if `extras`) of a response table into Arrow.

    Raises
    ------
    UnreadableFile
        The path is missing, not UTF-8, or not a table.
    MissingColumn
        A required column is absent or named twice.
    """
    if isinstance(source, pd.DataFrame):
        return _from_frame(source, extras=extras)
    if isinstance(source, pa.Table):
        wanted = _wanted(source.column_names, extras=extras, where="the table")
        return _normal(source.select(wanted))
    if not isinstance(source, str | Path) or not str(source):
        raise UnreadableFile(
            f"a response table is a path, a DataFrame or an Arrow table, not {type(source).__name__} "
            f"{str(source)[:40]!r}."
        )
    path = Path(source)
    if not path.exists():
        raise UnreadableFile(
            f"{path} does not exist; give a CSV or Parquet file or a folder of Parquet files."
        )
    if path.is_dir():
        return _from_folder(path, extras=extras)
    parquet = path.suffix.lower() in {".parquet", ".pq"}
    return _named(path, lambda: (_from_parquet if parquet else _from_csv)(path, extras=extras))


def _named(path: Path, read: Callable[[], pa.Table]) -> pa.Table:
    """Read, and turn the libraries' errors into a sentence that names the file."""
    try:
        return read()
    except (pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        text = str(error).strip()
        reason = text.splitlines()[0] if text else type(error).__name__
        raise UnreadableFile(
            f"{path} cannot be read as a response table ({reason}); "
            "it should be UTF-8 CSV with a header line, or Parquet."
        ) from error


def _wanted(names: list[str], *, extras: bool, where: str) -> list[str]:
    """The columns to read; refuses a header that lacks a required column or names a known one twice."""
    found = ", ".join(repr(n) for n in names[:12]) + (", ..." if len(names) > 12 else "")
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
    # A pipe can be read once only; a file is streamed.
    kept = None if path.is_file() else pa.py_buffer(path.read_bytes())

    def open_stream() -> Any:
        return pa.input_stream(str(path), compression="detect") if kept is None else pa.BufferReader(kept)

    with open_stream() as stream:
        head = stream.read(1 << 16)
    if not head.strip():
        raise EmptyTable(f"{path} is empty; expected a header with {', '.join(IDS)}, correct or p_correct.")
    skip, header = _header(head)
    delimiter, names = _split(header)
    wanted = _wanted(names, extras=extras, where=str(path))
    types = {n: (_DICTIONARY if n in IDS else pa.string()) for n in wanted}
    with open_stream() as stream:
        return pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(skip_rows=skip),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=wanted, strings_can_be_null=False
            ),
        )


def _header(head: bytes) -> tuple[int, str]:
    """Lines before the header (blank ones, Excel's `sep=;`), and the header line."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head[:200]:
        raise UnicodeDecodeError("utf-8", head[:8], 0, 1, "this looks like UTF-16 or a binary file")
    for skip, raw in enumerate(io.BytesIO(head)):
        line = raw.decode("utf-8-sig").strip("\r\n")
        if line.strip() and not re.fullmatch(r"sep=.", line):
            return skip, line
    return 0, ""


def _split(header: str) -> tuple[str, list[str]]:
    """The delimiter under which the header names the most known columns, and its names."""
    splits = {d: next(csv.reader([header], delimiter=d)) for d in ",;\t|"}
    known = {d: sum(n in IDS + VALUES for n in names) for d, names in splits.items()}
    best = max(splits, key=lambda d: (known[d], len(splits[d])))
    return best, splits[best]


def _from_parquet(path: Path, *, extras: bool, given: tuple[str, ...] = ()) -> pa.Table:
    names = [n for n in pyarrow.parquet.read_schema(path).names if n not in given] + list(given)
    wanted = [n for n in _wanted(names, extras=extras, where=str(path)) if n not in given]
    schema = pyarrow.parquet.read_schema(path)
    texts = [n for n in wanted if n in IDS and pa.types.is_string(schema.field(n).type)]
    return _normal(pyarrow.parquet.read_table(path, columns=wanted, read_dictionary=texts, partitioning=None))


def _from_folder(folder: Path, *, extras: bool) -> pa.Table:
    """A folder of Parquet files, with columns from folder names such as `language=zh` read as text."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {".parquet", ".pq"})
    files = [f for f in files if not any(p.startswith((".", "_")) for p in f.relative_to(folder).parts)]
    if not files:
        raise UnreadableFile(f"{folder} holds no Parquet file; give a file, or a folder of .parquet files.")
    tables = [_named(f, partial(_from_partition, folder, f, extras=extras)) for f in files]
    first = {n for n in tables[0].column_names if n in VALUES}
    for file, table in zip(files, tables, strict=True):
        own = {n for n in table.column_names if n in VALUES}
        if own != first:
            odd = sorted(own ^ first)[0]
            raise MissingColumn(
                f"column {odd!r} is in some files of {folder} and not in others (compare {files[0].name} and "
                f"{file.relative_to(folder)}); give all files the same columns."
            )
    return _named(folder, lambda: pa.concat_tables(tables, promote_options="permissive"))


def _from_partition(folder: Path, file: Path, *, extras: bool) -> pa.Table:
    parts = [p.partition("=") for p in file.relative_to(folder).parts[:-1]]
    given = {name: unquote(value) for name, equals, value in parts if equals and (extras or name in IDS)}
    inside = set(pyarrow.parquet.read_schema(file).names)
    table = _from_parquet(file, extras=extras, given=tuple(n for n in given if n not in inside))
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


def _normal(table: pa.Table) -> pa.Table:
    """One type for ids and one for numbers, so that files written by different tools fit together."""
    for k, name in enumerate(table.column_names):
        kind = table.schema.field(k).type
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if name in IDS and (_is_text(inner) or pa.types.is_integer(inner)):
            column = pc.cast(pc.cast(table[name], inner), pa.string())
            table = table.set_column(k, name, pc.dictionary_encode(column))
        elif name in VALUES and (pa.types.is_decimal(inner) or pa.types.is_boolean(inner)):
            table = table.set_column(k, name, pc.cast(pc.cast(table[name], inner), pa.float64()))
        elif name in VALUES and (pa.types.is_integer(inner) or pa.types.is_floating(inner)):
            table = table.set_column(k, name, pc.cast(pc.cast(table[name], inner), pa.float64(), safe=False))
    return table


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _from_frame(frame: pd.DataFrame, *, extras: bool) -> pa.Table:
    names = [str(c) for c in frame.columns]
    wanted = _wanted(names, extras=extras, where="the DataFrame")
    columns: dict[str, Any] = {}
    for name in wanted:
        series = frame.iloc[:, names.index(name)]
        try:
            columns[name] = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            columns[name] = _mixed(name, series, error)
    return _normal(pa.table(columns))


def _mixed(name: str, series: pd.Series, error: Exception) -> pa.Array:
    """A column of mixed types: text and whole numbers become text; anything else is refused for an id."""
    values = [None if _missing(v) else v for v in series.tolist()]
    broken = [(i, v) for i, v in enumerate(values, 1) if isinstance(v, str) and not _encodable(v)]
    if broken:
        shown = ", ".join(f"row {i}: {v!a}" for i, v in broken[:3])
        raise BadId(f"column '{name}': {len(broken)} values are no valid Unicode text ({shown}); mend them.")
    if name in IDS:
        odd = [(i, v) for i, v in enumerate(values, 1) if not isinstance(v, str | int | None)]
        if odd:
            shown = ", ".join(f"row {i}: {str(v)[:40]!r}" for i, v in odd[:3])
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
