"""Items of public sets and of the project's own schema; `sources.toml` says where each keeps what."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import BadItem, BadSetting, DuplicateRows, EmptyTable, ItemInBothSubsets
from maskedadv.files.atomic import write_whole
from maskedadv.files.disk import cannot_write
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.items.items import MIXED_KEYS, UNREADABLE, Item, Problem
from maskedadv.scoring.items.keys import KEYS, kind_of_key, read_keys
from maskedadv.scoring.items.rows import (
    asked_text,
    column_of,
    country_of,
    extra_of,
    filled,
    id_of,
    label_of,
    language_of,
    options_of,
)
from maskedadv.scoring.items.tables import find_files, read_rows
from maskedadv.words.lists import first_few

NOT_LABELLED = "not labelled CA or CS"


@dataclass(frozen=True)
class ItemSet:
    """The items that were read, how many rows were left out by reason, and what is odd about rows."""

    items: tuple[Item, ...]
    dropped: Mapping[str, int]
    problems: tuple[Problem, ...] = ()


def source_names() -> dict[str, str]:
    """Names of the known sets, and where each comes from."""
    return {name: spec["about"] for name, spec in _sources().items()}


def read_items(
    paths: Iterable[Path],
    source: str = "items",
    *,
    language: str | None = None,
    subset: str | None = None,
    labels: Mapping[str, str] | None = None,
    country: str | None = None,
    key: str | None = None,
    columns: Mapping[str, str] | None = None,
    meanings: Mapping[str, str] | None = None,
    drop_bad: bool = False,
    unlabelled: bool = False,
) -> ItemSet:
    """Read items from JSON lines, CSV, Parquet or Arrow files, or folders of them.

    Parameters
    ----------
    source
        Name of the set, one of `source_names`.
    language, subset, country
        What holds for all items, instead of what the files say; `subset` only where they say nothing.
    labels
        CA or CS by item id, for sets that carry no labels.
    key
        How answers are keyed: letter, from-0, from-1, text, or auto, which decides over all rows. Only
        where the source does not say.
    columns
        Other names of item, language, subset, question, options, answer, country. The first two and the last
        may be made of several: "{file}/{id}"; besides the columns there are {row}, {file} and {folder}.
    meanings
        CA, CS or '' by what the subset's column holds.
    drop_bad
        Whether rows that cannot be read are left out, counted and told, rather than refused.
    unlabelled
        Whether items without a label are kept, with '' for their subset, rather than left out.

    Raises
    ------
    UnreadableFile, BrokenLog, MissingColumn, MissingId, EmptyTable, UnknownSubset
    BadItem, AmbiguousKey
        An answer that names no option, or several, or may name one of two.
    DuplicateRows, ItemInBothSubsets
    """
    spec = _spec(source, columns or {}, meanings or {})
    if key is not None and key not in KEYS:
        raise BadSetting(f"{key!r} is no kind of key; give one of {', '.join(KEYS)}.")
    read, bad = [], []
    for path in find_files(list(paths)):
        for n, (where, own) in enumerate(read_rows(path)):
            row = {**own, "row": str(n), "file": path.stem, "folder": path.parent.name}
            try:
                texts, layout = options_of(row, spec, where)
                question = "\n".join(t for c in spec["question"] if (t := asked_text(row.get(c), where)))
            except BadItem as error:
                if not drop_bad:
                    raise
                bad.append(_unreadable(row, spec, str(error), where))
                continue
            answer = column_of(row, spec["answer"], where)
            read.append(_Read(where, own, row, question, texts, layout, answer))
    if not read and not bad:
        raise EmptyTable("the item files hold no rows.")
    kind = key if key is not None and spec["key"] == "auto" else spec["key"]
    wrong: dict[int, str] = {}
    keys = read_keys(
        [r.answer for r in read],
        [r.options for r in read],
        kind,
        [tuple(spec["options"][r.layout]) for r in read],
        [r.where for r in read],
        wrong if drop_bad else None,
    )
    bad += [_unreadable(read[k].row, spec, reason, read[k].where) for k, reason in wrong.items()]
    dropped: Counter[str] = Counter({UNREADABLE: len(bad)} if bad else {})
    items = []
    for k, (r, right) in enumerate(zip(read, keys, strict=True)):
        if k in wrong:
            continue
        name = filled(spec["item"], r.row, r.where, "item")
        label = choose_subset(
            label_of(r.row, spec, r.where), name, labels, subset or spec.get("default_subset")
        )
        if not label and not unlabelled:
            dropped[NOT_LABELLED] += 1
            continue
        items.append(
            Item(
                name,
                label,
                language or language_of(r.row, spec, r.where),
                r.question,
                r.options,
                right,
                country if country is not None else country_of(r.row, spec),
                extra_of(r.own, r.row, spec, r.layout),
                r.where,
            )
        )
    refuse_repeats(items)
    odd = _mixed_keys(read, spec) if kind == "auto" else []
    return ItemSet(tuple(items), dict(dropped), (*bad, *odd))


@dataclass(frozen=True)
class _Read:
    """A row whose texts were read: as the file gives it, and with its place among the files."""

    where: str
    own: Mapping[str, Any]
    row: Mapping[str, Any]
    question: str
    options: tuple[str, ...]
    layout: int
    answer: Any


def _unreadable(row: Mapping[str, Any], spec: Mapping[str, Any], reason: str, where: str) -> Problem:
    return Problem(UNREADABLE, id_of(row, spec), "", reason.removeprefix(f"{where}: ").rstrip("."), where)


def _mixed_keys(read: Sequence[_Read], spec: Mapping[str, Any]) -> list[Problem]:
    """Rows whose answer is keyed in another way than most: two sets in one file, or a slip."""
    kinds = [kind_of_key(r.answer) for r in read]
    common = Counter(kind for kind in kinds if kind).most_common(1)
    return [
        Problem(MIXED_KEYS, id_of(r.row, spec), "", f"{r.answer!r}; most are a {common[0][0]}", r.where)
        for r, kind in zip(read, kinds, strict=True)
        if kind and kind != common[0][0]
    ]


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as JSON lines in the project's schema: whole, or not at all.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    lines = [json.dumps(record_of(x), ensure_ascii=False) + "\n" for x in items]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda partial: partial.write_text("".join(lines), "utf-8"))
    except OSError as error:
        raise cannot_write(path, error) from error


def record_of(x: Item) -> dict[str, Any]:
    """An item as a row of the project's schema."""
    record: dict[str, Any] = {"item": x.item, "subset": x.subset, "language": x.language}
    record |= {"question": x.question, "options": list(x.options)}
    record["answer"] = None if x.answer is None else ascii_uppercase[x.answer]
    record |= {"country": x.country} if x.country else {}
    return {**x.extra, **record}


def refuse_repeats(items: Sequence[Item]) -> None:
    """Refuse an item that is there twice in one language, or under CA and under CS.

    Raises
    ------
    DuplicateRows, ItemInBothSubsets
    """
    seen: dict[tuple[str, str], Item] = {}
    subsets: dict[str, Item] = {}
    repeated = []
    for x in items:
        if (first := seen.get((x.language, x.item))) is not None:
            repeated.append((first, x))
        seen.setdefault((x.language, x.item), x)
    if repeated:
        shown = first_few(
            [f"{b.where}: {b.item!r} in {b.language!r}, as {a.where}" for a, b in repeated], between="; "
        )
        raise DuplicateRows(
            f"{len(repeated)} rows repeat an item in the same language ({shown}); keep one of each."
        )
    both = [x for x in items if subsets.setdefault(x.item, x).subset != x.subset]
    if both:
        shown = first_few([f"{x.where}: {x.item!r}" for x in both], between="; ")
        raise ItemInBothSubsets(
            f"{len(both)} rows have an item under CA that is under CS elsewhere ({shown})."
        )


def _spec(source: str, columns: Mapping[str, str], meanings: Mapping[str, str]) -> dict[str, Any]:
    known = _sources()
    if source not in known:
        raise BadSetting(f"there is no source {source!r}; known: {', '.join(known)}.")
    spec = dict(known[source])
    for key, name in columns.items():
        if key in {"item", "language", "country"}:
            spec[key] = [name if "{" in name else "{" + name + "}"]
        elif key in {"subset", "question"}:
            spec[key] = [name]
        elif key == "options":
            spec[key] = [name.split(",")]
        elif key == "answer":
            spec[key] = name
        else:
            raise BadSetting(
                f"{key!r} is no part of an item: item, language, subset, question, options, answer, country."
            )
    if odd := [text for text, label in meanings.items() if label not in {"CA", "CS", ""}]:
        raise BadSetting(f"the label {odd[0]!r} means CA or CS (or nothing: ''), not {meanings[odd[0]]!r}.")
    spec["subsets"] = {**spec.get("subsets", {}), **{text.lower(): label for text, label in meanings.items()}}
    return spec


@cache
def _sources() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))
