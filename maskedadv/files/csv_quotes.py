"""Quotation marks in CSV that open a cell and swallow the rows after it, found before they do.

A cell such as `"Hamlet" by Shakespeare`, not quoted as a whole, makes a reader take everything up to the next
quotation mark for one cell, line ends and all. Parsers say nothing, since such text is a cell too.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from maskedadv.errors import UnreadableFile

_CHUNK = 2**20
_QUOTE, _NEWLINES = 34, (10, 13)
_PLAIN = {".csv", ".tsv", ".txt", ".tab", ""}


def check_quotes(open_stream: Callable[[], Any], path: Path, delimiter: str, columns: int) -> None:
    """Refuse a file whose quotation marks do not stand around whole cells, or hide whole rows.

    Parameters
    ----------
    columns
        Number of columns; a quoted cell with lines of as many cells hides rows.

    Raises
    ------
    UnreadableFile
        Names the line where the cell begins.
    """
    if _plainly_sound(open_stream, ord(delimiter)):
        return
    with _whole(open_stream, path) as data:
        _look_closely(data, path, delimiter.encode(), columns)


@contextmanager
def _whole(open_stream: Callable[[], Any], path: Path) -> Iterator[Any]:
    """All bytes of the file: mapped into memory where it lies unpacked on a disk, else read."""
    if path.suffix.lower() in _PLAIN and path.is_file() and path.stat().st_size:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data
        return
    with open_stream() as stream:
        yield stream.read()


def _look_closely(data: Any, path: Path, stop: bytes, columns: int) -> None:
    """Refuse the first quoted cell that does not end at a delimiter, or that hides rows."""
    cell = re.compile(
        rb'(?:\A(?:\xef\xbb\xbf)?|(?<=[%b\r\n]))"(?P<inside>[^"]*(?:""[^"]*)*)(?P<end>"(?=[%b\r\n]|\Z))?'
        % (re.escape(stop), re.escape(stop))
    )
    for match in cell.finditer(data):
        inside = match["inside"]
        hides = _hides_rows(inside, stop, columns)
        if match["end"] is None or hides:
            line = len(re.findall(rb"\r\n|\r|\n", data[: match.start()])) + 1
            shown = inside[:30].decode("utf-8", "replace").splitlines()[0] if inside else ""
            what = "hides whole rows" if hides else "does not go around the whole cell"
            raise UnreadableFile(
                f"{path}, line {line}: the quotation mark that opens the cell {shown!r} {what}; quote the "
                "whole cell and write quotation marks inside it twice."
            )


def _hides_rows(inside: bytes, delimiter: bytes, columns: int) -> bool:
    """Whether all lines of a cell but its first and last look like rows; of few columns, three or more."""
    middle = [line for line in inside.splitlines()[1:-1] if line.strip()]
    enough = len(middle) >= (1 if columns >= 4 else 3)
    return columns > 1 and enough and all(line.count(delimiter) == columns - 1 for line in middle)


def _plainly_sound(open_stream: Callable[[], Any], delimiter: int) -> bool:
    """Whether every quotation mark opens or closes a whole cell and none of them holds a line end.

    Marks are counted: odd ones open, after a delimiter or line end, even ones close, before one; two in a row
    inside a cell close and open it at once. False may be a sound file, which is then looked at closely.
    """
    around = np.zeros(256, dtype=bool)
    around[[delimiter, _QUOTE, *_NEWLINES]] = True
    inside, before, held = False, 10, b""
    with open_stream() as stream:
        while True:
            raw = stream.read(_CHUNK)
            data = held + raw
            if not raw and not held:
                return not inside
            # The last byte waits, since what follows it is not known yet; at the end a line end follows.
            held = data[-1:] if raw else b""
            now = data[:-1] if raw else data
            following = data[len(now) : len(now) + 1] or b"\n"
            if b'"' not in now and not inside:
                before = now[-1] if now else before
                continue
            codes = np.frombuffer(now, dtype=np.uint8)
            marks = codes == _QUOTE
            opens_before = (np.cumsum(marks) - marks + inside) % 2 == 1  # inside a cell before this byte
            previous = np.concatenate([[before], codes[:-1]]).astype(np.uint8)
            next_ = np.concatenate([codes[1:], np.frombuffer(following, dtype=np.uint8)])
            opening, closing = marks & ~opens_before, marks & opens_before
            if not around[previous[opening]].all() or not around[next_[closing]].all():
                return False
            if (opens_before & np.isin(codes, _NEWLINES)).any():
                return False
            inside = bool((marks.sum() + inside) % 2)
            before = int(codes[-1]) if len(codes) else before
