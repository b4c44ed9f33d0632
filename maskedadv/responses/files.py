"""From a file, a folder or a DataFrame to Arrow columns, with every id kept as text."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from maskedadv.errors import BadId, EmptyTable, MissingColumn, UnreadableFile

IDS = ("model", "subset", "language", "item")
VALUES = ("correct", "p_correct", "crm_logit", "n_options")
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def load_table(source: str | Path | pd.DataFrame, *, extras: bool) -> pa.Table:
    """Read the known columns (and the others, if `extras`) of a response table into Arrow.

    Raises
    ------
    UnreadableFile
        The path is missing, not UTF-8, or not a table.
    """
    if isinstance(source, pd.DataFrame):
        return _from_frame(source, extras=extras)
    path = Path(source)
    if not path.exists():
        raise UnreadableFile(
            f"{path} does not exist; give a CSV or Parquet file, or a folder of Parquet files."
        )
    try:
        if path.is_dir():
            return _from_folder(path, extras=extras)
        if path.suffix.lower() in {".parquet", ".pq"}:
            return _from_parquet(path, extras=extras)
        return _from_csv(path, extras=extras)
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UnreadableFile(
            f"{path} cannot be read as a response table ({first_line}); "
            "it should be UTF-8 CSV with a header line, or Parquet."
        ) from error


def _wanted(names: list[str], *, extras: bool, where: str) -> list[str]:
    """The columns to read; refuses a header that names one column twice."""
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise MissingColumn(f"{where} names the column {twice[0]!r} twice; keep one of them.")
    return names if extras else [n for n in names if n in IDS + VALUES]


def _from_csv(path: Path, *, extras: bool) -> pa.Table:
    with pa.input_stream(str(path), compression="detect") as stream:
        head = stream.read(1 << 16)
    if not head.strip():
        raise EmptyTable(
            f"{path} is empty; expected a header line with {', '.join(IDS)} and correct or p_correct."
        )
    line = next(iter(io.StringIO(_decode(head)))).rstrip("\r\n")
    delimiter = max(",;\t|", key=line.count)
    names = next(csv.reader([line], delimiter=delimiter))
    wanted = _wanted(names, extras=extras, where=str(path))
    types = {n: (_DICTIONARY if n in IDS else pa.string()) for n in names}
    with pa.input_stream(str(path), compression="detect") as stream:
        return pyarrow.csv.read_csv(
            stream,
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=wanted, strings_can_be_null=False
            ),
        )


def _decode(head: bytes) -> str:
    """The first bytes as text; a character cut at the end of the buffer is no error."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head[:200]:
        raise UnicodeDecodeError("utf-8", head[:8], 0, 1, "this looks like UTF-16 or a binary file")
    line = head.split(b"\n", 1)[0].split(b"\r", 1)[0]
    return line.decode("utf-8-sig")


def _from_parquet(path: Path, *, extras: bool) -> pa.Table:
    schema = pyarrow.parquet.read_schema(path)
    wanted = _wanted(schema.names, extras=extras, where=str(path))
    texts = [n for n in wanted if n in IDS and pa.types.is_string(schema.field(n).type)]
    return pyarrow.parquet.read_table(path, columns=wanted, read_dictionary=texts, partitioning=None)


def _from_folder(folder: Path, *, extras: bool) -> pa.Table:
    """A folder of Parquet files, with columns from folder names such as `language=zh` read as text."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {".parquet", ".pq"})
    files = [f for f in files if not any(part.startswith((".", "_")) for part in f.relative_to(folder).parts)]
    if not files:
        raise UnreadableFile(f"{folder} holds no Parquet file; give a file, or a folder of .parquet files.")
    tables = []
    for file in files:
        table = _from_parquet(file, extras=extras)
        for part in file.relative_to(folder).parts[:-1]:
            name, equals, value = part.partition("=")
            if equals and name not in table.column_names and (extras or name in IDS):
                text = pa.array([unquote(value)], pa.string()).dictionary_encode()
                column = pa.DictionaryArray.from_arrays(
                    pa.array([0], pa.int32()).take(pa.nulls(len(table), pa.int32()).fill_null(0)),
                    text.dictionary,
                )
                table = table.append_column(name, column)
        tables.append(table)
    return pa.concat_tables(tables, promote_options="permissive")


def _from_frame(frame: pd.DataFrame, *, extras: bool) -> pa.Table:
    names = [str(c) for c in frame.columns]
    wanted = _wanted(names, extras=extras, where="the DataFrame")
    columns: dict[str, Any] = {}
    for name in wanted:
        series = frame.iloc[:, names.index(name)]
        try:
            columns[name] = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            columns[name] = _mixed(name, series, error)
    return pa.table(columns)


def _mixed(name: str, series: pd.Series, error: Exception) -> pa.Array:
    """A column of mixed types: text and whole numbers become text; anything else is refused for an id."""
    values = [None if v is None or v is pd.NA or v != v else v for v in series.tolist()]
    broken = [(i, v) for i, v in enumerate(values, 1) if isinstance(v, str) and not _encodable(v)]
    if broken:
        shown = ", ".join(f"row {i}: {v!a}" for i, v in broken[:3])
        raise BadId(f"column '{name}': {len(broken)} values are no valid Unicode text ({shown}); mend them.")
    if name in IDS:
        odd = [(i, v) for i, v in enumerate(values, 1) if not isinstance(v, str | int | None)]
        if odd:
            shown = ", ".join(f"row {i}: {v!r}" for i, v in odd[:3])
            raise BadId(f"column '{name}': {len(odd)} ids are not text ({shown}); make them text.") from error
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
