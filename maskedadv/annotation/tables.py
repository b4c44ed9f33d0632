"""Annotation tables: who gave which label to which item."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import BadValue, MissingColumn
from maskedadv.files.text_tables import check_ids, check_unique, offenders, read_text_table

LABELS: dict[str, tuple[str, ...]] = {
    "required_knowledge": ("cultural", "dialect", "none", "regional"),
    "time_sensitive": ("no", "yes"),
    "cultural_sensitivity_label": ("CA", "CS"),
    "subject_category": ("STEM", "humanities", "social sciences", "medical", "business", "other"),
}
"""Labels of the fields with a fixed set; other fields have the labels that occur."""

POOLED = "all"
"""Stands for all languages together in every result."""


def read_annotations(source: str | Path | pd.DataFrame, what: str, *, by_annotator: bool) -> pd.DataFrame:
    """Read annotations: item, annotator (if `by_annotator`), optionally language, and fields; all text.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, BadValue, DuplicateRows
    """
    keys = ["item", "annotator"] if by_annotator else ["item"]
    frame = read_text_table(source, what, keys)
    if "language" not in frame.columns:
        frame["language"] = POOLED
    elif (frame["language"] == POOLED).any():
        raise BadValue(
            f"{what}: the language {POOLED!r} means all together in the results; use another code."
        )
    check_ids(frame, ["language", *keys], what)
    check_unique(frame, ["language", *keys], what)
    return frame


def choose_fields(frame: pd.DataFrame, fields: tuple[str, ...], what: str) -> tuple[str, ...]:
    """The fields asked for, or else the known ones that the table has.

    Raises
    ------
    MissingColumn
    """
    columns = [name for name in frame.columns if name not in ("item", "annotator", "language")]
    absent = [field for field in fields if field not in columns]
    found = tuple(field for field in LABELS if field in columns)
    if absent or not (fields or found):
        wanted = f"field {absent[0]!r}" if absent else f"field of {', '.join(LABELS)}"
        raise MissingColumn(
            f"there is no {wanted} in {what} (found: {', '.join(map(repr, columns)) or 'none'})."
        )
    return tuple(dict.fromkeys(fields)) or found


def labels_of(field: str, frames: tuple[tuple[str, pd.DataFrame], ...]) -> tuple[str, ...]:
    """Labels of a field: the fixed set, checked against the tables, or those that occur.

    Raises
    ------
    BadValue
        A label outside the fixed set.
    """
    if field not in LABELS:
        return tuple(sorted({label for _, frame in frames for label in frame[field] if label != ""}))
    for what, frame in frames:
        text = frame[field]
        bad = np.flatnonzero(~text.isin(["", *LABELS[field]]).to_numpy())
        if len(bad):
            where = offenders(frame.index[bad], [repr(text.iloc[row]) for row in bad[:3]], len(bad))
            raise BadValue(
                f"{what}, column {field!r}: {len(bad)} labels are not one of {', '.join(LABELS[field])} "
                f"({where}); leave a cell empty where there is no label."
            )
    return LABELS[field]


def count_votes(frame: pd.DataFrame, field: str, labels: tuple[str, ...]) -> pd.DataFrame:
    """Labels per item: rows (language, item), one column per label; items without any label too."""
    votes = pd.crosstab([frame["language"], frame["item"]], frame[field])
    return votes.reindex(columns=list(labels), fill_value=0)
