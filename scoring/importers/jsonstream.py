"""JSON logs of any size, one record at a time: lines, one long array, or the members of one object."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from maskedadv.errors import BrokenLog, LogTooLarge, UnreadableFile, WrongFormat
from maskedadv.files.sources import refuse_pointer

MAX_RECORD = 256 * 2**20  # bytes; the longest real records, of agents' transcripts, are a tenth of this
CUT: Any = object()  # stands for the record that the end of the file cuts off
_CHUNK = 2**20
_BLANKS = re.compile(r"[ \t\r\n]*")
_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "gzipped (unpack it first)",
    b"\x28\xb5\x2f\xfd": "packed with zstd (unpack it first)",
    b"\xff\xfe": "UTF-16 text (write it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (write it as UTF-8)",
}


def read_records(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (position, record) of a file of JSON lines, or of one JSON array, which may be indented.

    Positions are line numbers, or places in the array, counted from 1. For a record that the end of the
    file cuts off, `CUT` comes in its place, so that it can be counted; every other record is a dict.

    Raises
    ------
    UnreadableFile
        There is no such file.
    BrokenLog
        Not UTF-8, not JSON before the end of the file, or a record that is no JSON object.
    LogTooLarge
        One record is longer than `MAX_RECORD`.
    """
    with open_log(path) as file:
        records = _array(_Text(file, path)) if _first_sign(file) == b"[" else _lines(file, path)
        for position, record in records:
            if record is not CUT and not isinstance(record, dict):
                kind = type(record).__name__
                raise BrokenLog(
                    f"{path}: record {position} is a JSON {kind}, not an object with named fields."
                )
            yield position, record


def read_members(path: Path, streamed: str) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the members of one JSON object; the array `streamed` comes element by element.

    Where the end of the file cuts the object off, `CUT` is the last value.

    Raises
    ------
    UnreadableFile, BrokenLog, LogTooLarge
        As `read_records`.
    WrongFormat
        The file does not begin with an object.
    """
    with open_log(path) as file:
        text = _Text(file, path)
        if text.peek() != "{":
            raise WrongFormat(f"{path} does not hold one JSON object.")
        text.take()
        while (sign := text.peek()) != "}":
            if sign == ",":
                text.take()
                continue
            name = text.value()
            if name is not CUT and (not isinstance(name, str) or text.peek() not in {":", ""}):
                raise BrokenLog(f"{path} is not JSON near {text.around()!r}.")
            if name is CUT or text.peek() == "":
                yield "", CUT
                return
            text.take()
            if name == streamed and text.peek() == "[":
                values: Iterator[Any] = (element for _, element in _array(text))
            else:
                values = iter([text.value()])
            for value in values:
                yield name, value
                if value is CUT:
                    return


def open_log(path: Path) -> BinaryIO:
    """Open a text log at its first byte after a byte-order mark; refuse what is plainly something else.

    Raises
    ------
    UnreadableFile, BrokenLog
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be opened ({error.strerror}).") from error
    head = file.read(64)
    try:
        refuse_pointer(head, path)
    except UnreadableFile:
        file.close()
        raise
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            file.close()
            raise BrokenLog(f"{path} is {what}, not a JSON log.")
    file.seek(3 if head.startswith(codecs.BOM_UTF8) else 0)
    return file


def _first_sign(file: BinaryIO) -> bytes:
    """The first byte that is no blank; the file is left where it was."""
    start = file.tell()
    while (sign := file.read(1)) and sign.isspace():
        pass
    file.seek(start)
    return sign


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    while line := file.readline(MAX_RECORD + 1):
        number += 1
        if len(line) > MAX_RECORD:
            raise LogTooLarge(f"{path}: line {number} is longer than {MAX_RECORD // 2**20} MiB.")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            if not line.endswith(b"\n") and error.reason == "unexpected end of data":
                yield number, CUT
                return
            raise BrokenLog(
                f"{path}: line {number} is not UTF-8 (byte {error.start + 1} of the line); "
                "write the log as UTF-8, for instance with iconv."
            ) from error
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):  # cut off where the file ends: a killed or full-disk run
                yield number, CUT
                return
            raise BrokenLog(f"{path}: line {number} is not a JSON record ({_reason(error)}).") from error


def _array(text: _Text) -> Iterator[tuple[int, Any]]:
    """The elements of an array; `CUT` last if the file ends before the array does."""
    text.peek()
    text.take()
    position = 0
    while (sign := text.peek()) != "]":
        if sign == ",":
            text.take()
            continue
        position += 1
        element = text.value()
        yield position, element
        if element is CUT:
            return
    text.take()


class _Text:
    """A file decoded bit by bit; keeps only what is not yet parsed."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.json = json.JSONDecoder()
        self.text, self.at, self.ended = "", 0, False

    def grow(self, size: int) -> bool:
        """Read on; False at the end of the file."""
        if self.ended:
            return False
        raw = self.file.read(size)
        self.ended = len(raw) < size
        try:
            more = self.decoder.decode(raw)
        except UnicodeDecodeError as error:
            place = self.file.tell() - len(raw) + error.start
            raise BrokenLog(
                f"{self.path} is not UTF-8 near byte {place}; write it as UTF-8, for instance with iconv."
            ) from error
        self.text, self.at = self.text[self.at :] + more, 0
        return True

    def peek(self) -> str:
        """The next character that is no blank, '' at the end."""
        while True:
            self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.grow(_CHUNK):
                return ""

    def take(self) -> None:
        """Step over the character that `peek` showed."""
        self.at += 1

    def value(self) -> Any:
        """The next JSON value, or `CUT` where the file ends inside it."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self.json.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if not self.unfinished(error):
                    raise BrokenLog(
                        f"{self.path} is not JSON near {self.around(error)!r} ({_reason(error)})."
                    ) from error
                if len(self.text) - self.at > MAX_RECORD:
                    raise LogTooLarge(
                        f"{self.path}: the record that begins {self.around()!r} is longer than "
                        f"{MAX_RECORD // 2**20} MiB."
                    ) from error
                if not self.grow(size):
                    return CUT
                size *= 2  # so that a long record is tried a few times only
                continue
            if end == len(self.text) and self.grow(_CHUNK):
                continue  # a number may go on
            self.at = end
            return value

    def unfinished(self, error: Exception) -> bool:
        """Whether JSON broke where the text read so far ends, so that more text may mend it."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or len(self.text) - error.pos < 12

    def around(self, error: Exception | None = None) -> str:
        at = error.pos if isinstance(error, json.JSONDecodeError) else self.at
        return self.text[at : at + 40]


def _reason(error: Exception) -> str:
    return (
        "nested too deeply"
        if isinstance(error, RecursionError)
        else str(error).split(":")[0].removesuffix(" at")
    )
