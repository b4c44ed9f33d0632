"""The tables that the steps of an item set hand to each other: columns, types, reading, writing.

`docs/reference/item_sets.md` says what each column means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from maskedadv.errors import DuplicateRows, MissingColumn, MissingId, UnreadableFile
from maskedadv.files.disk import cannot_write
from maskedadv.files.sources import reason_of
from maskedadv.scoring.launch.store import write_answers, write_table
from maskedadv.words.lists import first_few

_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
SPAN = pa.struct([("text", _TEXT), ("part", _TEXT), ("start", pa.int32()), ("end", pa.int32())])

_ASKED = {
    "reason": _TEXT,
    "detail": _TEXT,
    "said": _TEXTS,
    "asked_with": _TEXT,
}

ANNOTATIONS = pa.schema(
    {
        "item": _TEXT,
        "language": _TEXT,
        "annotator": _TEXT,
        "required_knowledge": _TEXT,
        "time_sensitive": _TEXT,
        "trigger_spans": pa.list_(SPAN),
        "culture": _TEXT,
        "region": _TEXT,
        "country": _TEXT,
        "cultural_sensitivity_label": _TEXT,
        "subject_category": _TEXT,
        "explanation": _TEXT,
        **_ASKED,
    }
)
"""Who (a model, or a person) gave which fields to which item."""

LABELS = pa.schema(
    {
        "item": _TEXT,
        "language": _TEXT,
        "required_knowledge": _TEXT,
        "time_sensitive": _TEXT,
        "cultural_sensitivity_label": _TEXT,
        "subject_category": _TEXT,
        "n_labels": pa.int16(),
        "reason": _TEXT,
    }
)
"""What the annotators of an item say together."""

TRANSLATIONS = pa.schema(
    {
        "item": _TEXT,
        "language": _TEXT,
        "target": _TEXT,
        "translator": _TEXT,
        "question": _TEXT,
        "options": _TEXTS,
        "answer": _TEXT,
        "translated_question": _TEXT,
        "translated_options": _TEXTS,
        "flagged": pa.bool_(),
        "flags": _TEXTS,
        "why": _TEXT,
        "back_question": _TEXT,
        "back_options": _TEXTS,
        "similarity": pa.float64(),
        **_ASKED,
    }
)
"""Items and their counterparts in the pivot language."""

DECISIONS = pa.schema(
    {
        "item": _TEXT,
        "language": _TEXT,
        "keep": pa.bool_(),
        "reason": _TEXT,
        "n_people": pa.int16(),
        "cultural_sensitivity_label": _TEXT,
        "translated_question": _TEXT,
        "translated_options": _TEXTS,
    }
)
"""What people decided in a review."""

LEFT_OUT = pa.schema(
    {"item": _TEXT, "language": _TEXT, "source": _TEXT, "step": _TEXT, "reason": _TEXT, "detail": _TEXT}
)
"""Items that are not in the set, at which step they fell out, and why."""


def table_of(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as a table of these columns, in this order; what a row does not name is null."""
    listed = list(rows)
    return pa.table({f.name: pa.array([row.get(f.name) for row in listed], f.type) for f in schema})


def read_table(path: Path, schema: pa.Schema, what: str) -> pa.Table:
    """Read a table of a step; further columns are kept, after those of the schema.

    Parameters
    ----------
    what
        What the table is, for messages: "the translations".

    Raises
    ------
    UnreadableFile, MissingColumn, MissingId
    DuplicateRows
        The same item, language and (where there is one) annotator twice.
    """
    try:
        table = pyarrow.parquet.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFile(f"{what}: {path} cannot be read ({reason_of(error)}).") from error
    names = table.column_names
    if absent := [name for name in schema.names if name not in names]:
        raise MissingColumn(f"{what}: {path} has no column {absent[0]!r} (found: {', '.join(names)}).")
    for field in schema:
        try:
            place = table.column_names.index(field.name)
            table = table.set_column(place, field.name, table[field.name].cast(field.type))
        except pa.ArrowException as error:
            raise UnreadableFile(
                f"{what}: {path}, column {field.name!r} is {table[field.name].type}, not {field.type}."
            ) from error
    keys = [name for name in ("item", "language", "annotator") if name in schema.names]
    rows = [*zip(*(table[name].to_pylist() for name in keys), strict=True)]
    if empty := [n for n, row in enumerate(rows, 1) if not all(row)]:
        shown = first_few([f"row {n}" for n in empty], count=len(empty))
        raise MissingId(f"{what}: {path} has {len(empty)} rows without {' or '.join(keys)} ({shown}).")
    repeated = [row for row, count in Counter(rows).items() if count > 1 for _ in range(count - 1)]
    if repeated:
        shown = first_few(["/".join(row) for row in repeated], count=len(repeated))
        raise DuplicateRows(f"{what}: {path} repeats {len(repeated)} rows ({shown}); keep one of each.")
    return table.select([*schema.names, *(name for name in names if name not in schema.names)])


def write_step(path: Path, table: pa.Table, fingerprint: Mapping[str, Any] | None = None) -> None:
    """Write a table whole or not at all, with the fingerprint of all that it was made of.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    try:
        if fingerprint is None:
            write_table(path, table)
        else:
            write_answers(path, table, fingerprint)
    except OSError as error:
        raise cannot_write(path, error) from error
