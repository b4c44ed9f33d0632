"""What people said about items: a row per item, language and person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv.errors import BadValue, DuplicateRows
from maskedadv.scoring.item_sets.review.form import CHOICES
from maskedadv.scoring.item_sets.review.sheet import Piece, read_sheet
from maskedadv.scoring.item_sets.tables import ANNOTATIONS, read_table, table_of
from maskedadv.words.lists import first_few

PEOPLE = pa.schema(
    [
        *ANNOTATIONS,
        *(pa.field(x.name, pa.string()) for x in CHOICES if x.name not in ANNOTATIONS.names),
        pa.field("mended_question", pa.string()),
        pa.field("mended_options", pa.list_(pa.string())),
        pa.field("note", pa.string()),
    ]
)
"""`tables.ANNOTATIONS`, and what only people are asked."""

_WORDS = ("culture", "region", "country", "explanation", "note")


def row_of(
    item: str,
    language: str,
    annotator: str,
    choices: Mapping[str, str],
    words: Mapping[str, str],
    spans: Sequence[Piece],
    english: tuple[str, Sequence[str]] | None,
) -> dict[str, Any]:
    """One person's answers on one item as a row of `PEOPLE`.

    Parameters
    ----------
    choices, words
        Answers by field; what is not there was not answered.
    english
        The counterpart that the person saw, to tell whether it was mended.
    """
    row: dict[str, Any] = {"item": item, "language": language, "annotator": annotator}
    row |= {x.name: choices.get(x.name, "") for x in CHOICES}
    row |= {name: " ".join(words.get(name, "").split()) for name in _WORDS}
    row["trigger_spans"] = [vars(piece) for piece in spans]
    row |= {"reason": "", "detail": "", "mended_question": "", "mended_options": None}
    if english is not None and row["translation"] == "bad" and words.get("mended", "").strip():
        mended = read_sheet(words["mended"], len(english[1]))
        if mended is None:
            row["detail"] = "the mended English lacks an option or its letter"
        elif mended != (english[0].strip(), tuple(text.strip() for text in english[1])):
            row["mended_question"], row["mended_options"] = mended[0], list(mended[1])
    return row


def people_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows in the order of item, language and annotator."""
    key = ("item", "language", "annotator")
    return table_of(sorted(rows, key=lambda row: tuple(row[name] for name in key)), PEOPLE)


def read_people(paths: Sequence[Path]) -> pa.Table:
    """Read and join tables of people's answers.

    Raises
    ------
    UnreadableFile, MissingColumn, MissingId, DuplicateRows
    BadValue
        A label that is no answer of the form.
    """
    table = pa.concat_tables(
        read_table(path, PEOPLE, "the people's answers").select(PEOPLE.names) for path in paths
    )
    seen: set[tuple[str, str, str]] = set()
    for row in table.select(["item", "language", "annotator"]).to_pylist():
        key = (row["item"], row["language"], row["annotator"])
        if key in seen:
            raise DuplicateRows(f"{'/'.join(key)} is in two of the tables of people's answers; keep one.")
        seen.add(key)
    for field in CHOICES:
        values = table[field.name].to_pylist()
        bad = [f"row {n}: {v!r}" for n, v in enumerate(values, 1) if v and v not in field.answers]
        if bad:
            raise BadValue(
                f"the people's answers, column {field.name!r}: {len(bad)} labels are none of "
                f"{', '.join(field.answers)} ({first_few(bad, count=len(bad))})."
            )
    return table
