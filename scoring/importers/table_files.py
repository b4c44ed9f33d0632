"""Plain tables in pieces of bounded size, every cell as text: CSV, Parquet, JSON lines."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from maskedadv.errors import AggregateOnly, BrokenLog, MissingColumn, UnreadableFile, WrongFormat
from maskedadv.scoring.importers.answers import texts
from maskedadv.scoring.importers.jsonstream import CUT, read_records

_ROWS = 20_000
_BLOCK = 16 * 2**20  # bytes of CSV at a time; a row must fit


def read_pieces(path: Path, columns: list[str] | None) -> Iterator[pd.DataFrame]:
    """Yield a table piece by piece, each cell as text, '' where empty.

    Parameters
    ----------
    path
        .csv or .tsv (comma, semicolon, tab or bar; UTF-8), .parquet, .jsonl; CSV may be gzipped.
    columns
        Columns to read, those that exist; all if None.

    Raises
    ------
    UnreadableFile, WrongFormat, BrokenLog, MissingColumn, AggregateOnly
    """
    if not path.is_file():
        raise UnreadableFile(f"{path} is not a file; give a CSV, Parquet or JSON-lines table.")
    names = path.name.lower().removesuffix(".gz")
    try:
        if names.endswith((".csv", ".tsv", ".txt")):
            yield from _csv(path, columns)
        elif names.endswith((".parquet", ".pq")):
            yield from _parquet(path, columns)
        elif names.endswith((".jsonl", ".ndjson", ".json")):
            yield from _jsonl(path, columns)
        else:
            raise WrongFormat(f"{path}: a table ends in .csv, .tsv, .parquet or .jsonl.")
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if "straddling object" in reason:
            reason = f"a row longer than {_BLOCK // 2**20} MiB, or a quotation mark that is never closed"
        raise BrokenLog(f"{path} cannot be read as a table ({reason}).") from error


def _csv(path: Path, columns: list[str] | None) -> Iterator[pd.DataFrame]:
    with pa.input_stream(str(path), compression="detect") as stream:
        head = stream.read(1 << 16)
    line = head.split(b"\n", 1)[0].decode("utf-8-sig").rstrip("\r")
    delimiter = max(",;\t|", key=line.count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MissingColumn(f"{path} names the column {twice[0]!r} twice; keep one of them.")
    wanted = [name for name in names if columns is None or name in columns]
    with pa.input_stream(str(path), compression="detect") as stream:
        reader = pyarrow.csv.open_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                include_columns=wanted,
            ),
        )
        for batch in reader:
            yield batch.to_pandas().fillna("")


def _parquet(path: Path, columns: list[str] | None) -> Iterator[pd.DataFrame]:
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        wanted = [name for name in names if columns is None or name in columns]
        for batch in file.iter_batches(batch_size=_ROWS, columns=wanted):
            data = batch.to_pydict()
            yield pd.DataFrame({n: _texts(data[n], f"{path}, column {n!r}") for n in wanted})


def _jsonl(path: Path, columns: list[str] | None) -> Iterator[pd.DataFrame]:
    def rows() -> Iterator[Mapping[str, Any]]:
        for position, record in read_records(path):
            if record is CUT:
                raise BrokenLog(f"{path}: record {position} is cut off where the file ends; drop it.")
            if isinstance(record.get("results"), Mapping) and "dataset" in record:
                raise AggregateOnly(
                    f"{path} holds scores per data set, as EuroEval writes them; a response table needs the "
                    "answer to each item, which such a file does not have."
                )
            yield record

    source = rows()
    while piece := list(islice(source, _ROWS)):
        names = dict.fromkeys(n for record in piece for n in record if columns is None or n in columns)
        yield pd.DataFrame(
            {n: _texts([record.get(n) for record in piece], f"{path}, column {n!r}") for n in names}
        )


def _texts(values: list[Any], where: str) -> pd.Series:
    return texts([_text(value, where) for value in values], where)


def _text(value: Any, where: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float):  # whole numbers become floats where a column has gaps
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, list) and all(isinstance(v, int | float) for v in value):
        return json.dumps(value)
    raise BrokenLog(f"{where} holds a {type(value).__name__}, which no cell of a table should.")
