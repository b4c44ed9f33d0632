"""The items of a build's sources, before and after they are labelled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from maskedadv.errors import EmptyTable
from maskedadv.scoring.item_sets.annotation_fields import LABEL
from maskedadv.scoring.item_sets.build_file import ANNOTATE, BuildPlan
from maskedadv.scoring.item_sets.merge import FIELDS, Gone
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.sources import read_items, refuse_repeats


@dataclass(frozen=True)
class SourceRead:
    """What was read of a source: rows by language, and rows that could not be."""

    name: str
    files: tuple[str, ...]
    licence: str
    label: str
    rows: Mapping[str, int]
    dropped: Mapping[str, int]


def read_sources(plan: BuildPlan) -> tuple[list[Item], list[SourceRead]]:
    """All items of a build, and what was read. Their columns: source, licence, subject, made, translator.

    Items that models are to label have no label, whatever their file says.

    Raises
    ------
    InputError
        Some subclass of it.
    """
    items: list[Item] = []
    read = []
    for source in plan.sources:
        found = read_items(
            source.files, source.kind, language=source.language or None, drop_bad=True, unlabelled=True
        )
        rows: dict[str, int] = defaultdict(int)
        for x in found.items:
            rows[x.language] += 1
            extra = {**x.extra, "source": source.name, "licence": source.licence}
            extra |= {"subject": x.extra.get(source.subject, ""), "made": "source", "translator": ""}
            subset = "" if source.label == ANNOTATE else x.subset
            items.append(replace(x, subset=subset, extra=extra))
        names = tuple(path.name for path in source.files)
        read.append(
            SourceRead(
                source.name,
                names,
                source.licence,
                source.label,
                dict(sorted(rows.items())),
                dict(found.dropped),
            )
        )
    refuse_repeats([x for x in items if x.subset])
    refuse_repeats([replace(x, subset="") for x in items])
    if not any(x.language != plan.pivot for x in items):
        raise EmptyTable(f"no item is in another language than {plan.pivot}, so that there is no locale.")
    return items, read


def items_to_annotate(plan: BuildPlan, items: Sequence[Item]) -> list[Item]:
    """Local items of the sources that models label; those in the pivot language follow them."""
    names = {s.name for s in plan.sources if s.label == ANNOTATE}
    return [x for x in items if x.extra["source"] in names and x.language != plan.pivot]


def apply_labels(
    plan: BuildPlan, items: Sequence[Item], labels: pa.Table, annotations: pa.Table
) -> tuple[list[Item], list[Gone]]:
    """Items with their labels, and those that have none; rows in the pivot language follow the local ones."""
    found = {(row["item"], row["language"]): row for row in labels.to_pylist()}
    why: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in annotations.select(["item", "language", "annotator", LABEL, "reason"]).to_pylist():
        said = row[LABEL] or row["reason"]
        why[row["item"], row["language"]].append(f"{row['annotator']}: {said}")
    labelled: list[Item] = []
    gone: list[Gone] = []
    subsets: dict[str, str] = {}
    for x in items:
        if x.language == plan.pivot:
            continue
        row = found.get((x.item, x.language))
        if row is not None:
            extra = {**x.extra, **{name: row[name] or "" for name in FIELDS}}
            x = replace(x, subset=row[LABEL] or "", extra=extra)
        if x.subset:
            labelled.append(x)
            subsets.setdefault(x.item, x.subset)
        else:
            reason = row["reason"] if row is not None else "not_labelled"
            gone.append(Gone(x, "annotate", reason, "; ".join(why[x.item, x.language])))
    local = {x.item for x in items if x.language != plan.pivot}
    for x in items:
        if x.language == plan.pivot and (x.item in subsets or x.item not in local):
            labelled.append(replace(x, subset=subsets.get(x.item, x.subset)))
    return labelled, gone
