"""Texts of an item in two languages, side by side, and whether its key is the same in both.

A right option that stands elsewhere in one language is no statistic: it is seen in the item file, even where
the answers show nothing (a question may have been put in another's place that is as easy). Where most items
of a language differ in their key, options were shuffled on purpose, and no item stands out by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import pandas as pd

from maskedadv.errors import BadItem

SHUFFLED = 0.2
"""Share of items with another key from which keys tell nothing."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COLUMNS = (
    "locale",
    "item",
    "key_differs",
    "question_other",
    "answer_other",
    "question_local",
    "answer_local",
)


class ItemText(Protocol):
    """What is read of an item in one language; `maskedadv.scoring.items` has such."""

    @property
    def item(self) -> str:
        """Its id, the same in every language."""

    @property
    def language(self) -> str:
        """Its language."""

    @property
    def question(self) -> str:
        """The question."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options."""

    @property
    def answer(self) -> int | None:
        """Position of the right option, counted from 0."""


def pair_texts(
    items: Iterable[ItemText], locales: Sequence[str], pivot: str, known: Iterable[str]
) -> tuple[pd.DataFrame, list[str]]:
    """One row for each locale and item that has texts in its language and in the pivot.

    Parameters
    ----------
    items : texts
    known : ids of the items of the response table

    Returns
    -------
    DataFrame with the columns of `COLUMNS`, and notes

    Raises
    ------
    BadItem
        No item of the file is in the response table.
    """
    by_language: dict[str, dict[str, ItemText]] = {}
    for one in items:
        by_language.setdefault(one.language, {})[one.item] = one
    wanted = set(known)
    if not any(wanted & set(own) for own in by_language.values()):
        raise BadItem(
            "no item of the item file has an id of the response table; ids must be the same in both files."
        )
    rows: list[dict[str, object]] = []
    notes = []
    for locale in locales:
        own, other = by_language.get(locale, {}), by_language.get(pivot, {})
        both = sorted(wanted & set(own) & set(other))
        if not both:
            notes.append(f"the item file has no item of the table in both {locale} and {pivot}")
            continue
        differs = {k for k in both if _key_differs(own[k], other[k])}
        if len(differs) > SHUFFLED * len(both):
            notes.append(
                f"{locale}: the right option stands elsewhere than in {pivot} in {len(differs)} of "
                f"{len(both)} items; options seem to be shuffled, so keys are not compared"
            )
            differs = set()
        rows += [
            {
                "locale": locale,
                "item": k,
                "key_differs": k in differs,
                "question_other": other[k].question,
                "answer_other": _answer(other[k]),
                "question_local": own[k].question,
                "answer_local": _answer(own[k]),
            }
            for k in both
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS)), notes


def _key_differs(one: ItemText, other: ItemText) -> bool:
    return one.answer is not None and other.answer is not None and one.answer != other.answer


def _answer(item: ItemText) -> str:
    """`C. text` of the right option."""
    if item.answer is None or not 0 <= item.answer < len(item.options):
        return ""
    return f"{LETTERS[item.answer]}. {item.options[item.answer]}"
