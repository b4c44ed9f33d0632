"""What people decided: majorities of their answers, and which items stay."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from maskedadv.annotation.agreement import majority
from maskedadv.annotation.tables import count_votes
from maskedadv.errors import BadSetting, EmptyTable
from maskedadv.scoring.item_sets.review.form import CHOICES
from maskedadv.scoring.item_sets.tables import DECISIONS, SPAN, table_of

_FIELDS = {x.name: tuple(x.answers) for x in CHOICES}
_WORDS = ("culture", "region", "country")
REVIEWED = pa.schema(
    [
        *DECISIONS,
        *(pa.field(name, pa.string()) for name in _FIELDS if name not in DECISIONS.names),
        *(pa.field(name, pa.string()) for name in _WORDS),
        pa.field("trigger_spans", pa.list_(SPAN)),
        pa.field("ties", pa.list_(pa.string())),
        pa.field("notes", pa.list_(pa.string())),
    ]
)
"""`tables.DECISIONS`, with the majority in every field, the fields without one (`ties`), and all notes."""


@dataclass(frozen=True)
class Vote:
    """How an item's people answered one question.

    Attributes
    ----------
    label
        Answer of more than half of those who answered; '' for none.
    counts
        How often each answer was given, most frequent first: `2 to 1`.
    n
        How many answered.
    """

    label: str
    counts: str
    n: int


def decide(people: pa.Table, *, least: int = 2) -> pa.Table:
    """One row of `REVIEWED` per item and language that anybody looked at.

    An item stays out, with the reason, where fewer than `least` people answered; where the majority says that
    it is not sound or its English is bad, and those who mended that did not write the same; where there is
    no majority on these or on CA or CS; or where one language's people say CA and another's CS. Majorities
    are `annotation.agreement.majority`: more than half of those who answered.

    Parameters
    ----------
    people
        `people.PEOPLE`.
    least
        How many people have to agree to be asked, 1 or more; with 1, an answer by one person alone counts.

    Raises
    ------
    BadSetting, EmptyTable
    """
    if least < 1:
        raise BadSetting(f"at least one person decides, not {least}.")
    by_item: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in people.to_pylist():
        if not row["reason"]:
            by_item[row["item"], row["language"]].append(row)
    if not by_item:
        raise EmptyTable("nobody has answered yet, so there is nothing to decide.")
    frame = pd.DataFrame(
        [
            {name: row[name] or "" for name in ("item", "language", *_FIELDS)}
            for rows in by_item.values()
            for row in rows
        ]
    )
    votes = {field: _votes(frame, field) for field in _FIELDS}
    rows = [
        _decision(item, language, said, {f: votes[f][language, item] for f in votes}, least)
        for (item, language), said in sorted(by_item.items())
    ]
    _languages_differ(rows)
    return table_of(rows, REVIEWED)


def _votes(frame: pd.DataFrame, field: str) -> dict[tuple[str, str], Vote]:
    """By language and item; a single answer is its own majority (how many are needed is asked elsewhere)."""
    labels = _FIELDS[field]
    counts = count_votes(frame, field, labels)
    table = counts.to_numpy()
    found = majority(table)
    found = np.where(table.sum(axis=1) == 1, table.argmax(axis=1), found)
    return {
        key: Vote(
            labels[chosen] if chosen >= 0 else "",
            " to ".join(str(n) for n in sorted(row, reverse=True) if n),
            int(row.sum()),
        )
        for key, chosen, row in zip(counts.index, found, table, strict=True)
    }


def _decision(
    item: str, language: str, people: Sequence[Mapping[str, Any]], votes: Mapping[str, Vote], least: int
) -> dict[str, Any]:
    mended = {(p["mended_question"], tuple(p["mended_options"])) for p in people if p["mended_question"]}
    said = [f"{p['annotator']}: {p['note']}" for p in people if p["note"]]
    reason = _reason(votes, least, len(mended), said)
    english = votes["translation"]
    replaced = next(iter(mended)) if not reason and english.label == "bad" else (None, None)
    return {
        "item": item,
        "language": language,
        "keep": not reason,
        "reason": reason,
        "n_people": len(people),
        "translated_question": replaced[0],
        "translated_options": replaced[1],
        **{field: vote.label for field, vote in votes.items()},
        **{field: _most([p[field] for p in people]) for field in _WORDS},
        "trigger_spans": _common_spans(people),
        "ties": [field for field, vote in votes.items() if vote.n and not vote.label],
        "notes": said,
    }


def _reason(votes: Mapping[str, Vote], least: int, n_mended: int, said: Sequence[str]) -> str:
    """Why an item stays out, in words; '' where it stays in. The kind stands before the colon."""
    sound, label, english = (votes[f] for f in ("sound", "cultural_sensitivity_label", "translation"))
    because = f" ({'; '.join(said)})" if said else ""
    fewest = min(sound.n, label.n, *((english.n,) if english.n else ()))
    if fewest < least:
        return f"too few people: {fewest} of {least} answered"
    if sound.label != "yes":
        kind = "not sound" if sound.label else "no majority on whether it is sound"
        return f"{kind}: {sound.counts}{because}"
    if not label.label:
        return f"no majority on CA or CS: {label.counts}"
    if english.n and not english.label:
        return f"no majority on the English: {english.counts}{because}"
    if english.label == "bad" and n_mended != 1:
        ways = f"mended in {n_mended} ways" if n_mended else "not mended"
        return f"the English is bad: {english.counts}, {ways}{because}"
    return ""


def _languages_differ(rows: Sequence[dict[str, Any]]) -> None:
    """An item is CA or CS in every language, so one on which languages differ stays out of all of them."""
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row["keep"]:
            labels[row["item"]][row["language"]] = row["cultural_sensitivity_label"]
    for row in rows:
        found = labels[row["item"]]
        if row["keep"] and len(set(found.values())) > 1:
            shown = ", ".join(f"{label} in {language}" for language, label in sorted(found.items()))
            row |= {"keep": False, "reason": f"languages differ: {shown}"}
            row |= {"translated_question": None, "translated_options": None}


def _most(texts: Sequence[str]) -> str:
    """What more than half of the people wrote, whatever its case; '' for nothing."""
    written = [text.strip() for text in texts if text and text.strip()]
    counts = Counter(text.casefold() for text in written)
    for text in written:
        if 2 * counts[text.casefold()] > len(texts):
            return text
    return ""


def _common_spans(people: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The characters that more than half of the people marked, as spans."""
    texts: dict[tuple[str, int], str] = {}
    marks: Counter[tuple[str, int]] = Counter()
    for person in people:
        own = set()
        for span in person["trigger_spans"] or ():
            for k, character in enumerate(span["text"]):
                texts[span["part"], span["start"] + k] = character
                own.add((span["part"], span["start"] + k))
        marks.update(own)
    places = sorted(
        (place for place, n in marks.items() if 2 * n > len(people)),
        key=lambda x: (x[0] != "question", *x),
    )
    spans: list[dict[str, Any]] = []
    for part, k in places:
        if spans and spans[-1]["part"] == part and spans[-1]["end"] == k:
            spans[-1]["text"] += texts[part, k]
            spans[-1]["end"] += 1
        else:
            spans.append({"text": texts[part, k], "part": part, "start": k, "end": k + 1})
    return spans
