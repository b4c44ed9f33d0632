"""The one reader of CSV: how a file is laid out, and its cells as text.

Used for response tables, for tables to import, and for the small tables of `text_tables`. It finds the
delimiter (comma, semicolon, tab or bar), steps over blank lines and Excel's `sep=;`, reads headers of any
length, and knows R's files, whose header lacks a name for the row names.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from maskedadv.errors import UnreadableFile
from maskedadv.files.csv_quotes import check_quotes
from maskedadv.files.sources import is_pipe, refuse_pointer

DELIMITERS = ",;\t|"
_HEAD = 1 << 16
_LONGEST_HEADER = 256 * 2**20
BLOCK = 16 * 2**20  # bytes at a time; the header and every row must fit

OpenStream = Callable[[], Any]


@dataclass(frozen=True)
class CsvLayout:
    """How a CSV file is laid out.

    Attributes
    ----------
    names
        The columns; the first is '' where R wrote row names without a name for them.
    delimiter
    skip
        Lines before the header: blank ones, Excel's `sep=;`.
    header_lines
        Lines that the header takes.
    row_names
        Whether the header lacks the name of the first column.
    """

    names: tuple[str, ...]
    delimiter: str
    skip: int
    header_lines: int = 1
    row_names: bool = False


def stream_opener(path: Path) -> OpenStream:
    """A function that opens the file anew, unpacked; a pipe, which can be read once only, is kept."""
    if not is_pipe(path):
        return lambda: pa.input_stream(str(path), compression="detect")
    kept = pa.py_buffer(path.read_bytes())
    return lambda: pa.BufferReader(kept)


def csv_layout(open_stream: OpenStream, path: Path, known: Collection[str] = ()) -> CsvLayout:
    """Find delimiter and columns.

    Parameters
    ----------
    known
        Names to expect; the delimiter that finds most of them is taken, of several the one with most columns.

    Returns
    -------
    A layout without names where the file holds nothing but blank lines.

    Raises
    ------
    UnreadableFile
        A Git LFS pointer, UTF-16 or binary data, JSON, or rows with one cell more than the header that are
        not R's numbered ones.
    UnicodeDecodeError, csv.Error
    """
    limit = csv.field_size_limit(_LONGEST_HEADER)  # under a wrong delimiter a long header is one cell
    try:
        with open_stream() as stream:
            head, size = b"", _HEAD
            while True:
                more = stream.read(size)
                head += more
                layout = _layout(head, path, known, ended=len(more) < size)
                if layout is not None:
                    return layout
                if len(head) > _LONGEST_HEADER:
                    raise UnreadableFile(f"{path}: the header is longer than {_LONGEST_HEADER // 2**20} MiB.")
                size = len(head)
    finally:
        csv.field_size_limit(limit)


def _layout(head: bytes, path: Path, known: Collection[str], *, ended: bool) -> CsvLayout | None:
    """The layout, or None if more of the file is needed."""
    refuse_pointer(head, path)
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or b"\x00" in head[:200]:
        raise UnreadableFile(f"{path} looks like UTF-16 or a binary file; save it as UTF-8 CSV.")
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(head, ended)
    lines = list(io.StringIO(text, newline=""))
    skip = 0
    while skip < len(lines) and (not lines[skip].strip() or re.fullmatch(r"sep=.[\r\n]*", lines[skip])):
        skip += 1
    if skip == len(lines):
        return CsvLayout((), ",", skip) if ended else None
    if lines[skip].lstrip().startswith("{"):
        raise UnreadableFile(
            f"{path} holds JSON, not CSV; turn it into a response table with maskedadv import table."
        )
    best: tuple[tuple[int, int], CsvLayout] | None = None
    for delimiter in DELIMITERS:
        # One line more than the two records, unless the file ends, so that neither can be cut off.
        reader = csv.reader(iter(lines[skip:]), delimiter=delimiter)
        names = tuple(next(reader))
        header_lines = reader.line_num
        first, second = next(reader, None), next(reader, None)
        if not ended and skip + reader.line_num >= len(lines):
            return None
        score = (sum(name in known for name in names), len(names))
        if best is None or score > best[0]:
            rows = [row for row in (first, second) if row]
            best = (
                score,
                _with_row_names(
                    CsvLayout(names, delimiter, skip, header_lines),
                    rows,
                    path,
                    named=score[0] > 0 or not known,
                ),
            )
    assert best is not None
    return best[1]


def _with_row_names(layout: CsvLayout, rows: list[list[str]], path: Path, *, named: bool) -> CsvLayout:
    """The layout with a nameless first column where the rows have R's row names."""
    longer = [row for row in rows if len(row) == len(layout.names) + 1 and row[-1] != ""]
    if len(layout.names) < 2 or len(longer) < len(rows) or not rows or not named:
        return layout
    if [row[0] for row in rows] == ["1", "2"][: len(rows)]:
        return CsvLayout(("", *layout.names), layout.delimiter, layout.skip, layout.header_lines, True)
    raise UnreadableFile(
        f"{path}: the rows have {len(rows[0])} cells, the header has {len(layout.names)}; if these are R's "
        "row names, write the file with write.table(row.names = FALSE)."
    )


def read_csv(
    open_stream: OpenStream, path: Path, layout: CsvLayout, columns: Sequence[str], kinds: dict[str, Any]
) -> pa.Table:
    """The wanted columns as one table.

    Parameters
    ----------
    kinds
        Arrow types by column; a column that is not named is text.

    Raises
    ------
    UnreadableFile
        Quotation marks swallow rows.
    pyarrow.ArrowException
    """
    check_quotes(open_stream, path, layout.delimiter, len(layout.names))
    with open_stream() as stream:
        return pyarrow.csv.read_csv(stream, **_options(layout, columns, kinds))


def iterate_csv(
    open_stream: OpenStream, path: Path, layout: CsvLayout, columns: Sequence[str], block: int = BLOCK
) -> Iterator[pa.RecordBatch]:
    """The wanted columns piece by piece, all cells as text.

    Raises
    ------
    UnreadableFile, pyarrow.ArrowException
        As `read_csv`.
    """
    check_quotes(open_stream, path, layout.delimiter, len(layout.names))
    with open_stream() as stream:
        yield from pyarrow.csv.open_csv(stream, **_options(layout, columns, {}, block))


def _options(
    layout: CsvLayout, columns: Sequence[str], kinds: dict[str, Any], block: int = BLOCK
) -> dict[str, Any]:
    own = {"skip_rows": layout.skip + layout.header_lines, "column_names": list(layout.names)}
    names = own if layout.row_names else {"skip_rows": layout.skip}
    return {
        "read_options": pyarrow.csv.ReadOptions(block_size=block, **names),
        "parse_options": pyarrow.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
        "convert_options": pyarrow.csv.ConvertOptions(
            column_types={name: kinds.get(name, pa.string()) for name in columns},
            include_columns=list(columns),
            strings_can_be_null=False,
        ),
    }
