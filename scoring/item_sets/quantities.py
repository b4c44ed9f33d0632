"""Numbers and units of a text and of its translation, compared; `quantities.toml` has the words."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_NUMBER = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,٫٬'’]\d+)*")
_HAN = re.compile("[〇零一二两兩三四五六七八九十百千]+")
_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_ARABIC_MARKS = re.compile("[\u0640\u064b-\u0652\u0670]")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # words without blanks between them
_MONTH = re.compile("\\s?[月월]")
_MOST_DIGITS = 40


class Number(NamedTuple):
    """A number in a text: as it stands there, and what it may mean."""

    text: str
    values: frozenset[Decimal]


def compare_numbers(source: str, target: str) -> str:
    """What is wrong with the numbers of a translation into English, in words; '' for nothing.

    Digits of all scripts, whatever separates thousands and decimals. A number in digits on one side may be
    one in words (English), or in Han characters, on the other.
    """
    (own, own_words), (other, other_words) = _numbers(source), _numbers(target)
    missing = _unmatched(own, [*other, *other_words])
    new = _unmatched(other, [*own, *own_words])
    parts = [f"{n.text} is missing" for n in missing] + [f"{n.text} is new" for n in new]
    return ", ".join(parts)


def compare_units(source: str, target: str) -> str:
    """What is wrong with the units of a translation, in words; '' for nothing that can be told."""
    own, other = units_in(source), units_in(target)
    new = other - own if own else set()  # what the source's language calls a unit may not be known
    return ", ".join([f"{u} is missing" for u in sorted(own - other)] + [f"{u} is new" for u in sorted(new)])


def units_in(text: str) -> set[str]:
    """Kinds of units in a text, such as kilometre."""
    return {
        _unit_of(found["word"] or found["before"] or found["after"])
        for found in _unit_pattern().finditer(_folded(text))
    }


def _unmatched(numbers: Sequence[Number], others: Sequence[Number]) -> list[Number]:
    left = list(others)
    lacking = []
    for number in numbers:
        match = next((k for k, other in enumerate(left) if number.values & other.values), None)
        if match is None:
            lacking.append(number)
        else:
            left.pop(match)
    return lacking


def _numbers(text: str) -> tuple[list[Number], list[Number]]:
    """Numbers in digits, and those in words."""
    text = _in_digits(unicodedata.normalize("NFKC", text))
    words = _words()
    digits: list[Number] = []
    spoken: list[Number] = []
    for token, end in _tokens(text):
        values = _values(token)
        after = text[end:].lstrip().casefold()
        for word, factor in words["multiples"].items():
            if after.startswith(word):
                values = {v * factor for v in values}
        for word, factor in words["english_multiples"].items():
            if re.match(rf"{word}s?\b", after):
                values |= {v * factor for v in values}
        # A month has a name in other languages, and one thing is "a" thing.
        may_be_words = _MONTH.match(text, end) or (token == "1" and _DENSE.match(text, end))  # noqa: S105
        (spoken if may_be_words else digits).append(Number(token, frozenset(values)))
    spoken += [
        Number(w, frozenset({Decimal(words["english_numbers"][w])}))
        for w in re.findall("[a-z]+", text.casefold())
        if w in words["english_numbers"]
    ]
    spoken += [Number(m[0], frozenset({_han(m[0])})) for m in _HAN.finditer(text)]
    return digits, spoken


def _in_digits(text: str) -> str:
    """The text with numbers of digits and Han units, such as 1万5000 and 5千, in digits alone."""
    text = re.sub(r"(\d+)千", lambda m: str(int(m[1]) * 1000), text)
    return re.sub(r"(\d{1,4})[万萬만]\s?(\d{1,4})(?!\d)", lambda m: str(int(m[1]) * 10000 + int(m[2])), text)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Numbers in digits, and where each ends; a date such as 12.10.1492 is three."""
    for found in _NUMBER.finditer(text):
        pieces = re.split(r"\D", found[0])
        if len(pieces) > 2 and len(pieces[-1]) != 3:
            yield from ((piece, found.end()) for piece in pieces)
        else:
            yield found[0], found.end()


def _values(token: str) -> set[Decimal]:
    """What digits with separators may mean: 1.234 is one and a bit, or a thousand and more."""
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in token)[:_MOST_DIGITS]
    whole = re.sub(r"\D", "", plain)
    signs = re.findall(r"\D", plain)
    found = set()
    last = plain.rpartition(signs[-1])[2] if signs else ""
    if not signs or len(last) == 3:
        found.add(whole)
    if signs and (signs.count(signs[-1]) == 1 and signs[-1] in ".,٫"):
        head = re.sub(r"\D", "", plain.rpartition(signs[-1])[0])
        found.add(f"{head}.{last}")
    try:
        return {Decimal(x) for x in found or {whole}}
    except InvalidOperation:
        return set()


def _han(text: str) -> Decimal:
    """A number in Han characters below 10,000; digits one after the other (一九四九) count as such."""
    if not set(text) & _HAN_UNITS.keys():
        return Decimal("".join(str(_HAN_DIGITS[c]) for c in text))
    total, digit = 0, 0
    for c in text:
        if c in _HAN_UNITS:
            total, digit = total + (digit or 1) * _HAN_UNITS[c], 0
        else:
            digit = _HAN_DIGITS[c]
    return Decimal(total + digit)


def _folded(text: str) -> str:
    return _ARABIC_MARKS.sub("", unicodedata.normalize("NFKC", text)).casefold()


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("quantities.toml").read_text("utf-8"))


@cache
def _forms() -> dict[str, str]:
    units = _words()["units"]
    return {_folded(f): kind for kind, table in units.items() for f in (*table["words"], *table["signs"])}


def _unit_of(form: str) -> str:
    return _forms()[form]


@cache
def _unit_pattern() -> re.Pattern[str]:
    """Longer forms first, so that a metre is not found in a kilometre; Latin words end where they end."""

    def joined(key: str) -> str:
        forms = {_folded(f) for table in _words()["units"].values() for f in table[key]}
        return "|".join(map(_bounded, sorted(forms, key=lambda f: (-len(f), f))))

    signs = joined("signs")
    before = "|".join(_bounded(_folded(f)) for f in ("us$", "$", "€", "₹", "rs", "¥", "৳", "%", "٪"))
    return re.compile(
        rf"(?P<word>{joined('words')})|(?<=\d)\s?(?P<before>{signs})|(?P<after>{before})(?=\s?\d)"
    )


def _bounded(form: str) -> str:
    """A form as a pattern: not within a word, where words have ends; other scripts may add endings to it."""
    pattern = re.escape(form)
    if not _DENSE.match(form) and form[0].isalpha():
        pattern = rf"(?<![^\W\d_])(?<![\u0900-\u0dff]){pattern}"  # Indic vowel signs are no letters to re
    if form[-1].isalpha() and ord(form[-1]) < 0x530:  # Latin, Greek, Cyrillic
        pattern += r"(?![\w'’])"
    return pattern
