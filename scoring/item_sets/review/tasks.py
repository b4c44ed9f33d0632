"""What people are given: every local item with its English, and what a program found odd about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from maskedadv.errors import EmptyTable
from maskedadv.scoring.item_sets.review.sheet import sheet_of
from maskedadv.scoring.items.items import Item
from maskedadv.words.direction import direction

PIVOT = "en"
_MOST = 300  # characters of a remark


@dataclass(frozen=True)
class Task:
    """One local item for people to look at.

    Attributes
    ----------
    item, language
        The local item.
    question, options
        Its texts.
    english
        Question and options of the counterpart; None where there is none.
    about
        A line of plain text: id, right option, remarks.
    """

    item: str
    language: str
    question: str
    options: tuple[str, ...]
    english: tuple[str, tuple[str, ...]] | None
    about: str

    @property
    def sheet(self) -> str:
        """The item as one text."""
        return sheet_of(self.question, self.options)

    @property
    def english_sheet(self) -> str:
        """The counterpart as one text; '' where there is none."""
        return "" if self.english is None else sheet_of(*self.english)


def make_tasks(items: Sequence[Item], translations: pa.Table | None = None) -> list[Task]:
    """A task for every local item, in the order of the items.

    Parameters
    ----------
    items
        Local items, and their counterparts in English where there are any.
    translations
        `tables.TRANSLATIONS`: counterparts of items that have none among `items`, and remarks on all.

    Raises
    ------
    EmptyTable
        No item is in another language than English.
    """
    english = {x.item: (x.question, x.options) for x in items if x.language == PIVOT}
    rows = {} if translations is None else {(r["item"], r["language"]): r for r in translations.to_pylist()}
    tasks = []
    for x in items:
        if x.language == PIVOT:
            continue
        row = rows.get((x.item, x.language), {})
        tasks.append(
            Task(
                x.item,
                x.language,
                x.question,
                x.options,
                english.get(x.item) or _translated(row),
                _about(x, row),
            )
        )
    if not tasks:
        raise EmptyTable("there is no item in another language than English, so nothing to review.")
    return tasks


def by_language(tasks: Iterable[Task]) -> dict[tuple[str, bool], list[Task]]:
    """Tasks by language and whether they have a counterpart, which decides what is asked."""
    groups: dict[tuple[str, bool], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.language, task.english is not None), []).append(task)
    return dict(sorted(groups.items()))


def direction_of(tasks: Iterable[Task]) -> str:
    """The way most of their letters run: `rtl` or `ltr`."""
    return direction(text for task in tasks for text in (task.question, *task.options))


def fingerprint(tasks: Iterable[Task]) -> str:
    """Of everything that people see."""
    digest = hashlib.sha256()
    for x in tasks:
        digest.update(repr((x.item, x.language, x.question, x.options, x.english, x.about)).encode())
    return digest.hexdigest()


def _translated(row: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    question, options = row.get("translated_question"), row.get("translated_options")
    return None if not question or not options else (question, tuple(options))


def _about(x: Item, row: Mapping[str, Any]) -> str:
    parts = [f"Item {x.item}", f"right option {'-' if x.answer is None else ascii_uppercase[x.answer]}"]
    parts += [x.extra["subject"]] if x.extra.get("subject") else []
    parts += [f"look at: {row['why']}"] if row.get("why") else []
    text = " · ".join(" ".join(part.split()) for part in parts)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
