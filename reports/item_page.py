"""One page of an item set, to look at it: counts, agreement, and every item beside its English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from maskedadv.errors import EmptyTable
from maskedadv.files.atomic import write_text
from maskedadv.reports import item_counts
from maskedadv.reports.item_entries import Entry, entries_of
from maskedadv.reports.page import render
from maskedadv.reports.tables import display


@dataclass(frozen=True)
class Choice:
    """A filter of the page: what it looks at, and the values to choose from, with how many items each has."""

    name: str
    title: str
    values: tuple[tuple[str, int], ...]


def item_page(
    items: pd.DataFrame,
    *,
    annotations: pd.DataFrame | None = None,
    people: pd.DataFrame | None = None,
    translations: pd.DataFrame | None = None,
    decisions: pd.DataFrame | None = None,
    left_out: pd.DataFrame | None = None,
    title: str = "Item set",
    pivot: str = "en",
) -> str:
    """The page as HTML; it loads nothing, and everything of the items is escaped.

    Parameters
    ----------
    items
        In the schema of items, one row per item and language: item, subset, language, question, options
        (lists), answer (letter), optionally subject.
    annotations, people, translations, decisions, left_out
        Tables of docs/reference/item_sets.md, where there are any: of models, of people (`items review
        export`), of `items translate`, of `items review import`, and of the build.
    pivot
        Language that stands at the right.

    Raises
    ------
    EmptyTable
        There is no item.
    """
    voices = [frame for frame in (annotations, people) if frame is not None]
    entries = entries_of(items, voices, translations, decisions, pivot)
    if not entries:
        raise EmptyTable("there is no item to show.")
    languages = list(dict.fromkeys(x.locale for x in entries))
    models, humans = item_counts.agreement(annotations), item_counts.agreement(people)
    counts = [
        ("Items by language", item_counts.by_language(entries), ""),
        ("Items by subject", item_counts.by_subject(entries), ""),
        ("Agreement of models", item_counts.pooled(models), _ALPHA),
        ("Agreement of people", item_counts.pooled(humans), _ALPHA),
        (
            "Left out before",
            item_counts.left_out(left_out),
            "Not in the set, by the step that left them out.",
        ),
    ]
    more = [("Agreement of models by language", models), ("Agreement of people by language", humans)]
    return render(
        "items.html.j2",
        title=title,
        lead=_lead(entries, languages),
        tables=[(name, display(frame), note) for name, frame, note in counts if len(frame)],
        more=[
            (name, display(frame)) for name, frame in more if len(frame) and len(set(frame["language"])) > 1
        ],
        choices=[c for c in _choices(entries, languages) if len(c.values) > 1],
        entries=entries,
        pivot=pivot,
    )


def write_item_page(
    items: pd.DataFrame, output: str | Path, *, overwrite: bool = False, **more: object
) -> None:
    """Write `item_page(items, ...)` to a file, whole or not at all.

    Raises
    ------
    EmptyTable, OutputExists
    """
    write_text(item_page(items, **more), Path(output), overwrite=overwrite)  # type: ignore[arg-type]


_ALPHA = (
    "How often all annotators of an item agree, and Krippendorff's alpha (nominal; 1 is perfect, 0 is "
    "chance) with its 95% interval from resampled items."
)


def _lead(entries: Sequence[Entry], languages: Sequence[str]) -> str:
    n = len({x.item for x in entries})
    parts = [
        f"{n:,} item{'s' if n != 1 else ''} in {len(languages)} language{'s' if len(languages) != 1 else ''}"
    ]
    flagged, out = sum(x.flagged for x in entries), sum(x.state == "out" for x in entries)
    without = sum(x.english is None for x in entries)
    parts += [f"{flagged:,} flagged"] if flagged else []
    parts += [f"{out:,} failed review"] if out else []
    parts += [f"{without:,} without English"] if without else []
    return "; ".join(parts) + "."


def _choices(entries: Sequence[Entry], languages: Sequence[str]) -> list[Choice]:
    def counted(name: str, title: str, values: Sequence[str]) -> Choice:
        have = [(v, sum(getattr(x, name) == v for x in entries)) for v in values]
        return Choice(name, title, tuple((v, n) for v, n in have if v and n))

    subjects = sorted({x.subject for x in entries})
    flags = sorted({flag for x in entries for flag in x.flags})
    any_flag = (("any", sum(x.flagged for x in entries)),) if flags else ()
    by_flag = tuple((flag, sum(flag in x.flags for x in entries)) for flag in flags)
    no_flag = (("none", sum(not x.flagged for x in entries)),) if flags else ()
    return [
        counted("locale", "Language", languages),
        counted("subset", "Subset", sorted({x.subset for x in entries})),
        counted("subject", "Subject", subjects),
        Choice("flags", "Flags", (*any_flag, *by_flag, *no_flag)),
        counted("state", "Review", ["kept", "out"]),
    ]
