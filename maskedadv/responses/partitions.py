"""A response table as folders that Spark, Arrow and pandas know: `language=sw/model=org%2Fm/part-0.parquet`.

Rows may come in any order and in any number. They go to scratch files first, a bucket for each language and
some of the models, so that memory holds one bucket; every bucket is then sorted and written. So the same rows
give the same files, whatever order they came in.
"""

from __future__ import annotations

import json
import shutil
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from maskedadv.errors import DuplicateRows, EmptyTable, MissingColumn, MissingId
from maskedadv.files.disk import cannot_write
from maskedadv.files.folders import check_folder, whole_folder
from maskedadv.responses.folders import NULL_PARTITION
from maskedadv.responses.kinds import IDS, VALUES

MARKER = "_table.json"
"""Tells our folders from others; a name that readers of such folders pass over."""
_BUCKETS = 16
_ROWS = 2048
"""Rows of a row group: a locale needs few of the many items that the pivot's files hold."""


@dataclass(frozen=True)
class Written:
    """What was written: rows, files, distinct models and languages, and equal rows that were left out."""

    rows: int
    files: int
    models: int
    languages: int
    repeated: int


def check_partitioned(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, before any work is done.

    Raises
    ------
    OutputExists
    """
    check_folder(folder, MARKER, None, overwrite=overwrite)


def write_partitioned(
    tables: Iterable[pa.Table | pd.DataFrame], folder: Path, *, overwrite: bool = False
) -> Written:
    """Write a response table, partitioned by language, then model; whole or not at all.

    Parameters
    ----------
    tables : pieces of it, with the columns of a response table; all with the columns of the first

    Returns
    -------
    Written

    Raises
    ------
    OutputExists
        The folder is there and is not to be replaced, or cannot be written.
    DuplicateRows
        Two rows answer the same and differ.
    EmptyTable
        There is no row.
    """
    check_partitioned(folder, overwrite=overwrite)
    models, languages = _Names(), _Names()
    rows = files = repeated = 0
    try:
        with whole_folder(folder, lambda name: name == MARKER or name.startswith("language=")) as partial:
            scratch = partial / "_scratch"
            _scatter(tables, scratch)
            for place in sorted(scratch.glob("bucket=*")):
                table = ds.dataset(place, format="ipc").to_table()
                shutil.rmtree(place)
                table, again = _in_order(table)
                repeated += again
                for language, model, own in _runs(table):
                    at = partial / f"language={languages.of(language)}" / f"model={models.of(model)}"
                    at.mkdir(parents=True, exist_ok=True)
                    pq.write_table(own, at / "part-0.parquet", row_group_size=_ROWS, compression="zstd")
                    rows, files = rows + len(own), files + 1
            shutil.rmtree(scratch)
            note = {"fingerprint": "", "partitioned_by": ["language", "model"], "rows": rows, "files": files}
            (partial / MARKER).write_text(json.dumps(note, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise cannot_write(folder, error, "another folder") from error
    return Written(rows, files, len(models.ids), len(languages.ids), repeated)


def _scatter(tables: Iterable[pa.Table | pd.DataFrame], scratch: Path) -> None:
    """Write pieces to the files of their buckets."""
    batches = _batches(tables)
    first = next(batches, None)
    if first is None:
        raise EmptyTable("the table has no rows.")
    schema = first.schema

    def all_of_them() -> Iterator[pa.RecordBatch]:
        yield from first.to_batches()
        for table in batches:
            yield from _like(table, schema).to_batches()

    ds.write_dataset(
        all_of_them(),
        scratch,
        schema=schema,
        format="ipc",
        partitioning=ds.partitioning(pa.schema([("bucket", pa.string())]), flavor="hive"),
        max_partitions=10**6,
        max_open_files=256,
        use_threads=False,
    )


def _like(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """With the columns of the first piece; those that it lacks are empty."""
    if odd := sorted((set(table.column_names) ^ set(schema.names)) & set(VALUES)):
        raise MissingColumn(f"column {odd[0]!r} is in some pieces of the table and not in others.")
    columns = [
        table[f.name].cast(f.type) if f.name in table.column_names else pa.nulls(len(table), f.type)
        for f in schema
    ]
    return pa.table(columns, schema=schema)


def _batches(tables: Iterable[pa.Table | pd.DataFrame]) -> Iterator[pa.Table]:
    """Pieces with ids as text, known values as numbers, and the bucket of every row."""
    for piece in tables:
        table = piece if isinstance(piece, pa.Table) else pa.Table.from_pandas(piece, preserve_index=False)
        if not len(table):
            continue
        for name in IDS:
            if table[name].null_count or pc.any(pc.equal(table[name].cast(pa.string()), "")).as_py():
                raise MissingId(f"column '{name}': ids are empty; every answer needs its {name}.")
        for name in table.column_names:
            column, at = table[name], table.column_names.index(name)
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if name in IDS or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
                column = column.cast(pa.string())
            elif name in VALUES or pa.types.is_null(column.type):
                column = column.cast(pa.float64() if name in VALUES else pa.string())
            table = table.set_column(at, name, column)
        yield table.append_column("bucket", _bucket(table))


def _bucket(table: pa.Table) -> pa.ChunkedArray:
    model = table["model"].dictionary_encode().combine_chunks()
    number = [zlib.crc32(text.encode()) % _BUCKETS for text in model.dictionary.to_pylist()]
    part = pa.array(np.array(number)[model.indices.to_numpy()]).cast(pa.string())
    return pc.binary_join_element_wise(table["language"], part, " ")


def _in_order(table: pa.Table) -> tuple[pa.Table, int]:
    """Rows by language, model and item, without those that repeat another to the last column."""
    order = pc.sort_indices(table, [(name, "ascending") for name in ("language", "model", "item")])
    table = table.take(order)
    if len(table) < 2:
        return table, 0
    same = np.logical_and.reduce([_as_before(table[name]) for name in ("language", "model", "item")])
    if not same.any():
        return table, 0
    values = [name for name in table.column_names if name in (*IDS, *VALUES)]
    differs = np.flatnonzero(same & ~np.logical_and.reduce([_as_before(table[n]) for n in values]))
    if len(differs):
        at = table.slice(int(differs[0]) + 1, 1).to_pylist()[0]
        raise DuplicateRows(
            f"{len(differs)} answers repeat an earlier one's model, language and item and differ from it, "
            f"such as that of {at['model']!r} to {at['item']!r} in {at['language']!r}; keep one of each."
        )
    return table.filter(pa.array(np.concatenate([[True], ~same]))), int(same.sum())


def _as_before(column: pa.ChunkedArray) -> np.ndarray:
    """Whether a value is that of the row before, nothing like nothing; shape (N − 1,)."""
    one, other = column.slice(1), column.slice(0, len(column) - 1)
    equal = pc.fill_null(pc.equal(one, other), False)
    both = pc.and_(pc.is_null(one, nan_is_null=True), pc.is_null(other, nan_is_null=True))
    return np.asarray(pc.or_(equal, both))


def _runs(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """Language, model and rows of every file, without those two columns."""
    change = ~(_as_before(table["language"]) & _as_before(table["model"])) if len(table) > 1 else []
    starts = [0, *(np.flatnonzero(change) + 1).tolist(), len(table)]
    names = [n for n in table.column_names if n not in ("language", "model", "bucket")]
    for first, last in pairwise(starts):
        own = table.slice(first, last - first)
        language, model = own["language"][0].as_py(), own["model"][0].as_py()
        yield language, model, _small(own.select(names))


def _small(table: pa.Table) -> pa.Table:
    """Right and wrong, and numbers of options, as small whole numbers."""
    for name, kind in (("correct", pa.int8()), ("n_options", pa.int32())):
        if name in table.column_names:
            column = pc.if_else(pc.is_nan(table[name]), None, table[name])
            try:
                table = table.set_column(table.column_names.index(name), name, column.cast(kind))
            except pa.ArrowInvalid:  # no whole numbers: whoever reads the table will say so
                continue
    return table


class _Names:
    """Names of folders for the ids of a column: as Hive writes them, and distinct on any disk."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._holder: dict[str, str] = {}

    def of(self, text: str) -> str:
        """The name; a disk that knows no capitals takes it for that of no other id."""
        self.ids.add(text)
        name = "".join(f"%{ord(c):02X}" if c in _ESCAPED or c < " " else c for c in text)
        if text == NULL_PARTITION:  # an id that is spelled like Hive's name of nothing
            name = name.replace("_", "%5F")
        folded = unicodedata.normalize("NFKC", name).casefold()
        if self._holder.setdefault(folded, text) == text:
            return name
        return "".join(f"%{byte:02X}" for byte in text.encode())


_ESCAPED = frozenset("\"#%'*/:=?\\{[]^\x7f")
