"""How many items of a set there are: by language, subset and subject; what was left out; who agrees."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from maskedadv.annotation import evaluate
from maskedadv.annotation.tables import LABELS, POOLED
from maskedadv.reports.item_entries import Entry

_MORE = ("sound", "translation")  # asked of people only


def by_language(entries: Sequence[Entry]) -> pd.DataFrame:
    """A row per language: items by subset, without English, flagged, kept and left out by people."""
    rows = []
    for language in dict.fromkeys(x.locale for x in entries):
        some = [x for x in entries if x.locale == language]
        rows.append(
            {
                "language": language,
                "items": len(some),
                "CA": sum(x.subset == "CA" for x in some),
                "CS": sum(x.subset == "CS" for x in some),
                "without English": sum(x.english is None for x in some),
                "flagged": sum(x.flagged for x in some),
                "reviewed": sum(x.state != "" for x in some),
                "fail review": sum(x.state == "out" for x in some),
            }
        )
    return pd.DataFrame(rows)


def by_subject(entries: Sequence[Entry]) -> pd.DataFrame:
    """A row per subject, a column per language; empty where no item names its subject."""
    if not any(x.subject for x in entries):
        return pd.DataFrame()
    frame = pd.DataFrame(
        {"subject": [x.subject or "not named" for x in entries], "l": [x.locale for x in entries]}
    )
    table = pd.crosstab(frame["subject"], frame["l"])
    table = table[list(dict.fromkeys(x.locale for x in entries))]
    table.insert(0, "all", table.sum(axis=1))
    return table.sort_values("all", ascending=False, kind="stable").rename_axis(columns=None).reset_index()


def left_out(frame: pd.DataFrame | None) -> pd.DataFrame:
    """A row per step and reason, of `left_out.parquet`; a review's reason is its kind, up to the colon."""
    if frame is None or frame.empty:
        return pd.DataFrame()
    by_people = (frame["step"] == "review") & (frame["detail"].fillna("") != "")
    reasons = frame["reason"].fillna("").str.replace("_", " ")
    reasons = reasons.mask(by_people, frame["detail"].fillna("").str.split(":").str[0])
    counts = frame.assign(reason=reasons).groupby(["step", "reason"], sort=False).size()
    return counts.rename("items").reset_index()


def pooled(found: pd.DataFrame) -> pd.DataFrame:
    """Of `agreement`, the rows over all languages."""
    return found[found["language"] == POOLED].drop(columns="language") if len(found) else found


def agreement(annotations: pd.DataFrame | None) -> pd.DataFrame:
    """Agreement of several annotators by field and language; empty where no item has two.

    Columns: field, language, items, all agree (share), alpha with its 95% interval from resampled items.
    """
    if annotations is None or annotations["annotator"].nunique() < 2:
        return pd.DataFrame()
    asked = [name for name in (*LABELS, *_MORE) if name in annotations and annotations[name].fillna("").any()]
    if not asked:
        return pd.DataFrame()
    kept = annotations[["item", "language", "annotator", *asked]].copy()
    for name in asked:
        kept[name] = kept[name].fillna("")
    found = evaluate(kept, wanted=tuple(asked), n_resamples=1000).agreement
    found = found[found["n_items"] > 0]
    if found.empty:
        return pd.DataFrame()
    return pd.DataFrame(
        {
            "field": found["field"].str.replace("_", " "),
            "language": found["language"],
            "items": found["n_items"],
            "share_unanimous": found["unanimous"],
            "alpha": found["alpha"],
            "lower": found["alpha_lower"],
            "upper": found["alpha_upper"],
        }
    )
