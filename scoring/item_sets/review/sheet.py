"""An item as one text that people read and mark: the question, then its options, a line each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

_GAP = "\n\n"
# Each option is isolated, so that brackets and numbers in it stand where its own script wants them, whatever
# the direction of the page (Unicode Standard Annex #9).
_OPEN, _CLOSE = "\u2068", "\u2069"


@dataclass(frozen=True)
class Piece:
    """A piece of an item: `part` is `question` or an option's letter, `part[start:end] == text`."""

    text: str
    part: str
    start: int
    end: int


def sheet_of(question: str, options: Sequence[str]) -> str:
    """The question, an empty line, and the options as `A. ...`, `B. ...`."""
    lines = [f"{x}. {_OPEN}{option}{_CLOSE}" for x, option in zip(ascii_uppercase, options, strict=False)]
    return question + _GAP + "\n".join(lines)


def pieces_of(question: str, options: Sequence[str], start: int, end: int) -> list[Piece]:
    """What of the item lies in `sheet_of(question, options)[start:end]`, by part.

    Blanks at the ends are cut; letters and blanks between the parts belong to none.
    """
    found, at = [], 0
    for part, text in (("question", question), *zip(ascii_uppercase, options, strict=False)):
        at += 0 if part == "question" else len(f"{part}. {_OPEN}")
        low, high = max(start - at, 0), min(end - at, len(text))
        if low < high and (inside := text[low:high].strip()):
            low += len(text[low:high]) - len(text[low:high].lstrip())
            found.append(Piece(inside, part, low, low + len(inside)))
        at += len(text) + len(_GAP if part == "question" else f"{_CLOSE}\n")
    return found


def place_of(question: str, options: Sequence[str], part: str, start: int, end: int) -> tuple[int, int]:
    """Where a piece of a part stands in the sheet; the way back of `pieces_of`."""
    if part == "question":
        return start, end
    number = ascii_uppercase.index(part)
    before = sheet_of(question, [*options[:number], ""]).removesuffix(_CLOSE)
    return len(before) + start, len(before) + end


def read_sheet(text: str, n_options: int) -> tuple[str, tuple[str, ...]] | None:
    """Question and options of a sheet that a person edited; None where the options are not all there.

    An option goes on over lines that do not begin with the next letter.
    """
    rest, options = re.sub(f"[{_OPEN}{_CLOSE}]", "", text.replace("\r\n", "\n")), []
    for letter in reversed(ascii_uppercase[:n_options]):
        found = [*re.finditer(rf"^[ \t]*{letter}[.)][ \t]*", rest, flags=re.MULTILINE)]
        if not found:
            return None
        options.append(rest[found[-1].end() :].strip())
        rest = rest[: found[-1].start()]
    question = rest.strip()
    if not question or not all(options):
        return None
    return question, tuple(reversed(options))


def to_utf16(text: str, place: int) -> int:
    """A place counted in code points, as browsers count: a character beyond U+FFFF is two."""
    return place + sum(c > "\uffff" for c in text[:place])


def from_utf16(text: str, place: int) -> int:
    """A place that a browser counted, in code points; past the end it is the end."""
    seen = 0
    for k, c in enumerate(text):
        if seen >= place:
            return k
        seen += 2 if c > "\uffff" else 1
    return len(text)
