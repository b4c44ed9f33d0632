"""Plain text for terminals: tables that fit the width, numbers that line up."""

from __future__ import annotations

import json
import math
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # help and refusals of the command line come without them
    import pandas as pd

WIDTH = 80
_SHORT = 12  # columns; a code such as pt-BR or kk-Latn fits and is never cut


def display_width(text: str) -> int:
    """Columns a terminal needs: wide East Asian characters take two, combining marks none."""
    if text.isascii():  # tables of thousands of rows ask this of every cell
        return len(text)
    width = 0
    for c in text:
        if unicodedata.combining(c) or unicodedata.category(c) in {"Cf", "Mn", "Me"}:
            continue
        width += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return width


def shorten(text: str, width: int) -> str:
    """Cut the middle out of a text too long for its column; what tells names apart is often at the end."""
    if display_width(text) <= width:
        return text
    head, tail = "", ""
    left = width // 2
    for c in text:
        if display_width(head + c) > left:
            break
        head += c
    for c in reversed(text):
        if display_width(head) + 1 + display_width(c + tail) > width:
            break
        tail = c + tail
    return head + "…" + tail


def clean(text: str) -> str:
    """One line, no control or direction-changing characters: an id must not rewrite the terminal."""
    if text.isprintable():
        return text
    return "".join(
        "�" if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} and c not in "\u200c\u200d" else c
        for c in text
    )


def clean_lines(text: str) -> str:
    """A text of several lines, each of them clean; tabs stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\n".join("\t".join(map(clean, line.split("\t"))) for line in text.split("\n"))


def wrap(sentence: str, *, indent: str = "", width: int = WIDTH) -> str:
    """A sentence in lines that fit the width, with nothing in it that could rewrite the terminal."""
    hang = indent + ("  " if indent else "")
    return textwrap.fill(
        clean(sentence), width, initial_indent=indent, subsequent_indent=hang, break_on_hyphens=False
    )


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,), width: int = WIDTH
) -> str:
    """Columns padded to line up; text columns (`left`) are shortened until the table fits `width`.

    Columns of short texts, such as codes of languages, are never cut, and texts that differ stay different.
    """
    from maskedadv.words.distinct import shorten_distinct

    cells = [[clean(c) for c in row] for row in rows]
    sizes = [max(display_width(c) for c in column) for column in zip(header, *cells, strict=True)]
    excess = sum(sizes) + 2 * (len(sizes) - 1) - width
    while excess > 0:
        widest = max(left, key=lambda k: sizes[k])
        if sizes[widest] <= _SHORT:
            break
        sizes[widest] -= 1
        excess -= 1
    shown_as = {k: shorten_distinct([row[k] for row in cells], sizes[k]) for k in left}
    lines = []
    for row in [list(header), *cells]:
        parts = []
        for k, (text, size) in enumerate(zip(row, sizes, strict=True)):
            shown = shown_as[k].get(text, text) if k in left else shorten(text, size)
            pad = " " * (size - display_width(shown))
            parts.append(shown + pad if k in left else pad + shown)
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def to_json(value: Any) -> str:
    """JSON for any reader: NaN becomes null, infinities text; what could steer a terminal is escaped."""
    return dumps(_plain(value))


def dumps(value: Any) -> str:
    """JSON of plain values, in lines, with letters as they are and what could steer a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    for c in set(text) - {"\n"}:
        if clean(c) != c:
            text = text.replace(c, json.dumps(c)[1:-1])
    return text


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame as plain dictionaries."""
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict(orient="records")]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return _plain(value.item())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return value
