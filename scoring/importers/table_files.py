"""Plain tables in pieces of bounded size, every cell as text: CSV, Parquet, JSON, Excel."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from maskedadv.errors import AggregateOnly, BrokenLog, MissingColumn, WrongFormat
from maskedadv.files.csv_text import BLOCK, CsvLayout, csv_layout, iterate_csv, stream_opener
from maskedadv.files.sources import reason_of
from maskedadv.scoring.importers.answers import texts
from maskedadv.scoring.importers.excel import sheet_rows
from maskedadv.scoring.importers.json_documents import (
    describe,
    field_names,
    is_document,
    load_document,
    lookup,
    records_at,
)
from maskedadv.scoring.importers.jsonstream import CUT, read_records
from maskedadv.scoring.importers.table_sources import TableFile

_ROWS = 20_000
_LOOKED_AT = 500  # records, for the names of their fields


@dataclass(frozen=True)
class Layout:
    """How to read the files: where in a JSON document the records are, which sheet of a workbook."""

    at: str = ""
    sheet: str = ""
    known: Collection[str] = field(default=())


def read_pieces(file: TableFile, columns: list[str] | None, layout: Layout) -> Iterator[pd.DataFrame]:
    """Yield a table piece by piece, each cell as text, '' where empty.

    Parameters
    ----------
    columns
        Columns to read, those that exist; all if None. In JSON also dotted paths into a record, `key` and
        `key.0` (what led to the record), and fields of the document around it.

    Raises
    ------
    UnreadableFile, WrongFormat, BrokenLog, MissingColumn, AggregateOnly, BadMapping
    """
    readers = {"csv": _csv, "parquet": _parquet, "json": _json, "excel": _excel}
    with _told(file):
        yield from readers[file.kind](file, columns, layout)


@contextmanager
def _told(file: TableFile) -> Iterator[None]:
    """What a library says of a broken file, as a sentence about it."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        reason = reason_of(error)
        if "straddling object" in reason:
            reason = f"a row longer than {BLOCK // 2**20} MiB, or a quotation mark that is never closed"
        raise BrokenLog(f"{file.shown} cannot be read as a table ({reason}).") from error


def columns_of(file: TableFile, layout: Layout) -> list[str]:
    """All columns of a table; of JSON, those of its first records.

    Raises
    ------
    As `read_pieces`.
    """
    with _told(file):
        if file.kind == "csv":
            return [name for name in _csv_layout(file, layout).names if name]
        if file.kind == "parquet":
            with pq.ParquetFile(file.path) as parquet:
                return list(parquet.schema_arrow.names)
        if file.kind == "excel":
            return [name for name in next(sheet_rows(file.path, file.shown, layout.sheet), []) if name]
        records = islice(_records(file, layout), _LOOKED_AT)
        return list(dict.fromkeys(name for _, record, _ in records for name in field_names(record)))


def _csv_layout(file: TableFile, layout: Layout) -> CsvLayout:
    return csv_layout(stream_opener(file.path), file.path, layout.known)


def _csv(file: TableFile, columns: list[str] | None, layout: Layout) -> Iterator[pd.DataFrame]:
    found = _csv_layout(file, layout)
    if not found.names:
        raise BrokenLog(f"{file.shown} is empty; expected a line with the names of the columns.")
    names = [name for name in found.names if name]
    wanted = _once([name for name in names if columns is None or name in columns], file)
    if not wanted:
        raise no_columns(file, names)
    for batch in iterate_csv(stream_opener(file.path), file.path, found, wanted):
        yield batch.to_pandas().fillna("")


def no_columns(file: TableFile, names: Collection[str]) -> MissingColumn:
    """What to say of a table that has none of the columns wanted."""
    return MissingColumn(
        f"{file.shown} has none of the columns wanted (found: {', '.join(names)}); say what they mean in a "
        "mapping (--map; --guess writes one to edit)."
    )


def _once(names: list[str], file: TableFile) -> list[str]:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MissingColumn(f"{file.shown} names the column {twice[0]!r} twice; keep one of them.")
    return names


def _parquet(file: TableFile, columns: list[str] | None, layout: Layout) -> Iterator[pd.DataFrame]:  # noqa: ARG001
    with pq.ParquetFile(file.path) as parquet:
        names = list(parquet.schema_arrow.names)
        tops = [name for name in names if columns is None or name in columns]
        nested = [c for c in columns or [] if c not in names and c.split(".")[0] in names]
        wanted = list(dict.fromkeys([*tops, *(name.split(".")[0] for name in nested)]))
        if not wanted:
            raise no_columns(file, names)
        for batch in parquet.iter_batches(batch_size=_ROWS, columns=wanted):
            data = batch.to_pydict()
            piece = {n: as_texts(data[n], f"{file.shown}, column {n!r}") for n in tops}
            for name in nested:
                top, _, rest = name.partition(".")
                values = [lookup(value, rest) for value in data[top]]
                piece[name] = as_texts(values, f"{file.shown}, column {name!r}")
            yield pd.DataFrame(piece)


def _records(file: TableFile, layout: Layout) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], Any]]:
    """(keys, record, document around it) of a JSON file in any layout."""
    if layout.at:
        for located in records_at(load_document(file.path), layout.at, file.shown):
            yield tuple(located)
        return
    if file.path.suffix.lower() == ".json" and is_document(file.path):
        document = load_document(file.path)
        if isinstance(document, Mapping):
            _refuse_aggregates(document, file)
        raise WrongFormat(
            f'{file.shown} is {describe(document)}; say where the records are: [records] at = "results" '
            'in a mapping, or at = "." where its members are the records.'
        )
    for position, record in read_records(file.path):
        if record is CUT:
            raise BrokenLog(f"{file.shown}: record {position} is cut off where the file ends; drop it.")
        _refuse_aggregates(record, file)
        yield (str(position - 1),), record, None


def _refuse_aggregates(record: Mapping[str, Any], file: TableFile) -> None:
    if isinstance(record.get("results"), Mapping) and "dataset" in record:
        raise AggregateOnly(
            f"{file.shown} holds scores per data set, as EuroEval writes them; a response table needs the "
            "answer to each item, which such a file does not have."
        )
    if {"instance_id", "stats"} <= set(record) or "request_states" in record:
        raise WrongFormat(
            f"{file.shown} is of a run of HELM; read the run's folder with maskedadv import helm."
        )


def _json(file: TableFile, columns: list[str] | None, layout: Layout) -> Iterator[pd.DataFrame]:
    source = _records(file, layout)
    while piece := list(islice(source, _ROWS)):
        names = columns or list(dict.fromkeys(n for _, record, _ in piece for n in record))
        cells: dict[str, pd.Series] = {}
        for name in names:
            values = [_cell(name, keys, record, document) for keys, record, document in piece]
            if any(value is not None for value in values) or any(name in record for _, record, _ in piece):
                cells[name] = as_texts(values, f"{file.shown}, column {name!r}")
        yield pd.DataFrame(cells, index=pd.RangeIndex(len(piece)))


def _cell(name: str, keys: tuple[str, ...], record: Mapping[str, Any], document: Any) -> Any:
    value = lookup(record, name)
    if value is None and name not in record:
        step = name.removeprefix("key.")
        if name == "key":
            return keys[-1] if keys else None
        if name.startswith("key.") and step.lstrip("-").isdigit() and -len(keys) <= int(step) < len(keys):
            return keys[int(step)]
        return lookup(document, name) if document is not None else None
    return value


def _excel(file: TableFile, columns: list[str] | None, layout: Layout) -> Iterator[pd.DataFrame]:
    rows = sheet_rows(file.path, file.shown, layout.sheet)
    header = next(rows, [])
    wanted = _once([name for name in header if name and (columns is None or name in columns)], file)
    if not wanted:
        raise no_columns(file, [name for name in header if name])
    places = [header.index(name) for name in wanted]
    while piece := list(islice(rows, _ROWS)):
        cells = {
            name: as_texts(
                [row[k] if k < len(row) else None for row in piece], f"{file.shown}, column {name!r}"
            )
            for name, k in zip(wanted, places, strict=True)
        }
        yield pd.DataFrame(cells)


def as_texts(values: list[Any], where: str) -> pd.Series:
    """Cells as texts.

    Raises
    ------
    BrokenLog
        One is an object, or no text at all.
    """
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
    if isinstance(value, list) and all(isinstance(v, str | int | float | bool | None) for v in value):
        return json.dumps(value, ensure_ascii=False)
    raise BrokenLog(f"{where} holds a {type(value).__name__}, which no cell of a table should.")
