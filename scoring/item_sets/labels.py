"""What the annotators of an item say together, and how far they agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from maskedadv.annotation import evaluate
from maskedadv.annotation.agreement import majority
from maskedadv.annotation.tables import LABELS as KINDS
from maskedadv.scoring.item_sets.annotation_fields import LABEL
from maskedadv.scoring.item_sets.tables import LABELS, table_of

NO_LABEL, TIE, ONE_LABEL, DIFFER = "no_label", "tie", "one_label", "languages_differ"


def merge_labels(annotations: pa.Table) -> pa.Table:
    """One row per item and language: of every field the label of more than half of those who gave one.

    Where one annotator was asked, its label is the item's; where several were, at least two must have given
    one. Ties have none.

    Parameters
    ----------
    annotations
        Columns as `ANNOTATIONS`.

    Returns
    -------
    Table with the columns `LABELS`.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in annotations.to_pylist():
        groups[row["language"], row["item"]].append(row)
    rows = []
    for (language, item), some in sorted(groups.items()):
        merged: dict[str, Any] = {"item": item, "language": language}
        for field in KINDS:
            merged[field], why = _together([row[field] for row in some], field)
            if field == LABEL:
                merged["reason"] = why
        merged["n_labels"] = sum(bool(row[LABEL]) for row in some)
        rows.append(merged)
    _refuse_differences(rows)
    return table_of(rows, LABELS)


def _together(given: Sequence[str | None], field: str) -> tuple[str, str]:
    """The label of several annotators, or '' and why there is none."""
    votes = Counter(label for label in given if label)
    if not votes:
        return "", NO_LABEL
    if len(given) == 1:
        return next(iter(votes)), ""
    if votes.total() == 1:
        return "", ONE_LABEL
    kinds = KINDS[field]
    best = int(majority(np.array([[votes[kind] for kind in kinds]], dtype=np.intp))[0])
    return (kinds[best], "") if best >= 0 else ("", TIE)


def _refuse_differences(rows: Sequence[dict[str, Any]]) -> None:
    """An item is CA or CS in all languages; one that is not has no label in any."""
    labels: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        labels[row["item"]].add(row[LABEL])
    for row in rows:
        if {"CA", "CS"} <= labels[row["item"]] and row[LABEL]:
            row |= {LABEL: "", "reason": DIFFER}


def agreement_of(annotations: pa.Table, *, n_resamples: int = 1000, seed: int = 1) -> pd.DataFrame:
    """Agreement of the annotators on every field that any of them gave, by language and over all ('all').

    Returns
    -------
    Table `agreement` of `maskedadv.annotation.AnnotationResult`; no row where there is one annotator.
    """
    columns = ["item", "language", "annotator", *KINDS]
    frame = annotations.select(columns).to_pandas().fillna("")
    wanted = tuple(field for field in KINDS if (frame[field] != "").any())
    if frame["annotator"].nunique() < 2 or not wanted:
        return pd.DataFrame()
    return evaluate(frame, wanted=wanted, n_resamples=n_resamples, seed=seed).agreement
