"""Items as a page shows them: local and English side by side, with labels, marks, flags and decisions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import pandas as pd

from maskedadv.words.direction import direction

FIELDS = {
    "cultural_sensitivity_label": "label",
    "required_knowledge": "knowledge",
    "time_sensitive": "time-sensitive",
    "subject_category": "subject",
    "sound": "sound",
    "translation": "English",
}
"""What annotators say, and how the page calls it."""
_PLACES = ("culture", "region", "country")


@dataclass(frozen=True)
class Piece:
    """A piece of a text, and whether somebody marked it."""

    text: str
    marked: bool


@dataclass(frozen=True)
class Option:
    """One option: its letter, text, and whether it is the right one."""

    letter: str
    pieces: tuple[Piece, ...]
    right: bool


@dataclass(frozen=True)
class Side:
    """The item in one language; `way` is `rtl` or `ltr`."""

    language: str
    way: str
    question: tuple[Piece, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Voice:
    """What one annotator, a model or a person, said about the item."""

    who: str
    fields: tuple[tuple[str, str], ...]
    words: str


@dataclass(frozen=True)
class Entry:
    """One item in one language beside its English.

    Attributes
    ----------
    item, locale, subset, subject
        What it is found by; `locale` is the language of the local side.
    local, english
        The two sides; one of them may be missing.
    voices
        What annotators said.
    flags
        What a program found odd about the translation: kinds, and in words.
    state
        `kept`, `out` or '' (not reviewed), and why.
    """

    item: str
    locale: str
    subset: str
    subject: str
    local: Side | None
    english: Side | None
    voices: tuple[Voice, ...]
    flags: tuple[str, ...]
    why: str
    state: str
    reason: str

    @property
    def flagged(self) -> bool:
        """Whether a person should look."""
        return bool(self.flags)


def entries_of(
    items: pd.DataFrame,
    annotations: Sequence[pd.DataFrame],
    translations: pd.DataFrame | None,
    decisions: pd.DataFrame | None,
    pivot: str = "en",
) -> list[Entry]:
    """An entry for every item in a local language, and for those that are in the pivot alone.

    Ordered by language, then as the items are.
    """
    said: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for frame in annotations:
        for row in _rows(frame):
            said[row["item"], row["language"]].append(row)
    translated = {(r["item"], r["language"]): r for r in _rows(translations)}
    decided = {(r["item"], r["language"]): r for r in _rows(decisions)}
    versions = _rows(items)
    english = {r["item"]: r for r in versions if r["language"] == pivot}
    ways = _ways(versions)
    locals_ = [r for r in versions if r["language"] != pivot]
    alone = {r["item"] for r in locals_}
    found = []
    for row in [*locals_, *(r for r in english.values() if r["item"] not in alone)]:
        key = (row["item"], row["language"])
        other = english.get(row["item"]) if row["language"] != pivot else None
        made, decision = translated.get(key, {}), decided.get(key, {})
        spans = [s for voice in (decision, *said[key]) for s in _listed(voice.get("trigger_spans"))]
        side = _side(row, ways, spans)
        keep = decision.get("keep")
        found.append(
            Entry(
                item=row["item"],
                locale=row["language"],
                subset=_text(row.get("subset")),
                subject=_text(row.get("subject")) or _text(row.get("subject_category")),
                local=side if row["language"] != pivot else None,
                english=side if row["language"] == pivot else _english(other, made, ways, pivot),
                voices=tuple(_voice(v) for v in said[key]),
                flags=tuple(_text(x).replace("_", " ") for x in _listed(made.get("flags"))),
                why=_text(made.get("why")),
                state="" if keep is None or pd.isna(keep) else "kept" if keep else "out",
                reason=_text(decision.get("reason")),
            )
        )
    return sorted(found, key=lambda x: (x.local is None, x.locale))


def _english(
    other: Mapping[str, Any] | None, made: Mapping[str, Any], ways: Mapping[str, str], pivot: str
) -> Side | None:
    if other is not None:
        return _side(other, ways, ())
    if not _text(made.get("translated_question")):
        return None
    texts = {
        "language": pivot,
        "question": made["translated_question"],
        "options": made["translated_options"],
    }
    return _side({**texts, "answer": made.get("answer")}, ways, ())


def _side(row: Mapping[str, Any], ways: Mapping[str, str], spans: Iterable[Mapping[str, Any]]) -> Side:
    by_part: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for span in spans:
        by_part[span["part"]].append((int(span["start"]), int(span["end"]), span["text"]))
    right = _text(row.get("answer")).strip().upper()
    return Side(
        row["language"],
        ways.get(row["language"], "ltr"),
        pieces(_text(row["question"]), by_part["question"]),
        tuple(
            Option(letter, pieces(_text(text), by_part[letter]), letter == right)
            for letter, text in zip(ascii_uppercase, _listed(row["options"]), strict=False)
        ),
    )


def pieces(text: str, spans: Iterable[tuple[int, int, str]]) -> tuple[Piece, ...]:
    """The text cut where marks begin and end; marks that are of another text are left out."""
    marked = bytearray(len(text))
    for start, end, words in spans:
        if 0 <= start < end <= len(text) and text[start:end] == words:
            marked[start:end] = b"\1" * (end - start)
    found: list[Piece] = []
    start = 0
    for k in range(1, len(text) + 1):
        if k == len(text) or marked[k] != marked[start]:
            found.append(Piece(text[start:k], bool(marked[start])))
            start = k
    return tuple(found)


def _voice(row: Mapping[str, Any]) -> Voice:
    who, missing = _text(row.get("annotator")), _text(row.get("reason"))
    if missing:
        return Voice(who, (), f"no labels: {missing.replace('_', ' ')} {_text(row.get('detail'))}".strip())
    fields = [(title, _text(row.get(name))) for name, title in FIELDS.items()]
    places = ", ".join(filter(None, (_text(row.get(name)) for name in _PLACES)))
    words = ". ".join(filter(None, (_text(row.get("explanation")).rstrip("."), _text(row.get("note")))))
    return Voice(who, tuple((n, v) for n, v in [*fields, ("place", places)] if v), words)


def _ways(versions: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Which way each language runs: as most of its letters do, so that an item of digits does, too."""
    texts: dict[str, list[str]] = defaultdict(list)
    for row in versions:
        texts[row["language"]] += [_text(row["question"]), *map(_text, _listed(row["options"]))]
    return {language: direction(found) for language, found in texts.items()}


def _rows(frame: pd.DataFrame | None) -> list[dict[str, Any]]:
    return [] if frame is None else [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


def _listed(value: Any) -> list[Any]:
    """A list cell, of Parquet an array; nothing where the cell is empty."""
    if value is None or isinstance(value, str | float):
        return []
    return list(value)


def _text(value: Any) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)
