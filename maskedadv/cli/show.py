"""Gap tables for the terminal, shared by `fit`, `gaps` and `demo`."""

from __future__ import annotations

import pandas as pd

from maskedadv.cli.text import format_table, number, probability, records

HEADER = ("locale", "model", "gap", "estimate", "sd", "lower", "upper", "P(>0)")


def gap_table(frame: pd.DataFrame) -> str:
    """The gaps as text in 80 columns, notes below it."""
    rows, notes = [], []
    for r in records(frame):
        mark = ""
        if r["note"] and pd.isna(r["estimate"]):
            if r["note"] not in notes:
                notes.append(r["note"])
            mark = f" [{notes.index(r['note']) + 1}]"
        rows.append(
            [
                r["locale"],
                r["model"],
                r["gap"].removesuffix("_gap") + mark,
                number(r["estimate"]),
                number(r["sd"]),
                number(r["lower"]),
                number(r["upper"]),
                probability(r["p_positive"]),
            ]
        )
    text = format_table(HEADER, rows, left=(0, 1, 2))
    return "\n".join([text, *(f"[{k}] {note}" for k, note in enumerate(notes, 1))])


def with_means(gaps: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Every locale's models followed by its mean rows."""
    parts = []
    for locale in dict.fromkeys([*gaps["locale"], *means["locale"]]):
        parts += [gaps[gaps["locale"] == locale], means[means["locale"] == locale]]
    return pd.concat([p for p in parts if len(p)], ignore_index=True) if parts else gaps
