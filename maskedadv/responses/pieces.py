"""The Parquet files of a table, read one row group after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from maskedadv.errors import InputError, UnreadableFile
from maskedadv.responses.columns import parse_values
from maskedadv.responses.files import read_named, wanted_columns
from maskedadv.responses.kinds import IDS, VALUES, normal_kinds
from maskedadv.responses.vocabulary import Codes, Vocabulary

_ROWS = 1 << 20
"""Rows that are decoded at once."""


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of a table.

    Attributes
    ----------
    path : of the file
    given : ids that folder names give to all of its rows, by column; None for one that is missing
    """

    path: Path
    given: dict[str, str | None]

    @cached_property
    def state(self) -> tuple[int, int]:
        """Size and time of the last change, when it was first asked for."""
        return self._now()

    def _now(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns

    def refuse_change(self) -> None:
        """Refuse a file that is not what it was.

        Raises
        ------
        UnreadableFile
        """
        try:
            same = self._now() == self.state
        except OSError:
            same = False
        if not same:
            raise UnreadableFile(f"{self.path} changed while the table was read; read it again.")


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    Attributes
    ----------
    group : row group that they lie in
    first : place of the first of them in the file, from 0
    codes : numbers of the ids, by column, shape (N,)
    bounds : texts between which the ids of the items lie
    values : by column, NaN where empty, shape (N,)
    """

    group: int
    first: int
    codes: dict[str, Codes]
    bounds: tuple[str, str]
    values: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.codes["model"])


def read_batches(
    file: TableFile, vocabularies: dict[str, Vocabulary], groups: Sequence[int] | None = None
) -> Iterator[Batch]:
    """The known columns of a file, or of some of its row groups, in batches.

    Raises
    ------
    UnreadableFile
        It cannot be read, or an id in it is not that of the folder.
    MissingColumn, MissingId, BadId, BadValue
        As in `maskedadv.read_responses`; the message names the file.
    """
    with read_named(file.path, lambda: _open(file)) as opened:
        inside = opened.schema_arrow.names
        lacking = [name for name in file.given if name not in inside]
        wanted = wanted_columns([*inside, *lacking], extras=False, where=str(file.path))
        columns = [name for name in wanted if name in inside]
        first = 0
        for group in range(opened.num_row_groups):
            size = opened.metadata.row_group(group).num_rows
            if groups is None or group in groups:
                yield from _batches(file, opened, group, first, columns, vocabularies)
            first += size


def _open(file: TableFile) -> Any:
    """With ids as dictionaries; most files have all columns that their folders do not give."""
    try:
        likely = [name for name in IDS if name not in file.given]
        return pq.ParquetFile(file.path, read_dictionary=likely)
    except KeyError:
        names = pq.read_schema(file.path).names
        return pq.ParquetFile(file.path, read_dictionary=[name for name in IDS if name in names])


def _batches(
    file: TableFile,
    opened: Any,
    group: int,
    first: int,
    columns: list[str],
    vocabularies: dict[str, Vocabulary],
) -> Iterator[Batch]:
    if opened.metadata.row_group(group).num_rows <= _ROWS:
        tables = iter(
            [read_named(file.path, lambda: opened.read_row_group(group, columns, use_threads=False))]
        )
    else:
        found = opened.iter_batches(_ROWS, row_groups=[group], columns=columns, use_threads=False)
        tables = _named(file.path, found)
    for table in tables:
        if len(table):
            plain = read_named(file.path, partial(normal_kinds, table))
            yield _decode(file, plain, group, first, vocabularies)
        first += len(table)


def _named(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Of record batches, with an error that names the file."""
    while True:
        batch = read_named(path, lambda: next(batches, None))
        if batch is None:
            return
        yield pa.Table.from_batches([batch])


def _decode(
    file: TableFile, table: pa.Table, group: int, first: int, vocabularies: dict[str, Vocabulary]
) -> Batch:
    try:
        codes, bounds = {}, ("", "")
        for name in IDS:
            if name in table.column_names:
                codes[name], *ends = vocabularies[name].encode(table[name])
                if name in file.given:
                    _refuse_disagreement(file, name, codes[name], vocabularies[name])
            else:
                code, *ends = vocabularies[name].encode_one(file.given[name])
                codes[name] = np.full(len(table), code, dtype=np.int32)
            if name == "item":
                bounds = (ends[0], ends[1])
        values = {n: parse_values(n, table[n]) for n in VALUES if n in table.column_names}
    except InputError as error:
        where = f" from row {first + 1} on" if first else ""
        raise type(error)(f"{file.path}{where}: {error}") from error
    except KeyError as error:
        raise UnreadableFile(f"{file.path} changed while the table was read; read it again.") from error
    return Batch(group, first, codes, bounds, values)


def _refuse_disagreement(file: TableFile, name: str, codes: Codes, vocabulary: Vocabulary) -> None:
    text = file.given[name]
    if len(codes) and (codes.min() != codes.max() or vocabulary.ids[codes[0]] != text):
        raise UnreadableFile(f"column {name!r} disagrees with the folder's {name}={text}.")
