"""Items of public sets and of the project's own schema; `sources.toml` says where each keeps what."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import (
    BadItem,
    BadSetting,
    DuplicateRows,
    EmptyTable,
    ItemInBothSubsets,
    MissingColumn,
    MissingId,
)
from maskedadv.files.atomic import write_whole
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.mapping import subset_label
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.keys import KEYS, read_keys
from maskedadv.scoring.items.tables import find_files, read_rows

_HALF = re.compile("[\ud800-\udfff]")
NOT_LABELLED = "not labelled CA or CS"


@dataclass(frozen=True)
class ItemSet:
    """The items that were read, and how many rows were left out, by reason."""

    items: tuple[Item, ...]
    dropped: Mapping[str, int]


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
        Other names of item, language, subset, question, options, answer, country.

    Raises
    ------
    UnreadableFile, BrokenLog, MissingColumn, MissingId, EmptyTable, UnknownSubset
    BadItem, AmbiguousKey
        An answer that names no option, or several, or may name one of two.
    DuplicateRows, ItemInBothSubsets
    """
    spec = _spec(source, columns or {})
    if key is not None and key not in KEYS:
        raise BadSetting(f"{key!r} is no kind of key; give one of {', '.join(KEYS)}.")
    own, rows = [], []
    for path in find_files(list(paths)):
        for n, (where, row) in enumerate(read_rows(path)):
            own.append(row)
            rows.append((where, {**row, "row": str(n), "file": path.stem, "folder": path.parent.name}))
    if not rows:
        raise EmptyTable("the item files hold no rows.")
    places = [where for where, _ in rows]
    options = [_options(row, spec, where) for where, row in rows]
    answers = [_column(row, spec["answer"], where) for where, row in rows]
    kind = key if key is not None and spec["key"] == "auto" else spec["key"]
    names = [tuple(layout) for layout in spec["options"]]
    keys = read_keys(answers, [texts for texts, _ in options], kind, [names[k] for _, k in options], places)
    dropped: Counter[str] = Counter()
    items = []
    for (where, row), (texts, layout), answer, given in zip(rows, options, keys, own, strict=True):
        name = _filled(spec["item"], row, where, "item")
        label = choose_subset(_label(row, spec, where), name, labels, subset or spec.get("default_subset"))
        if not label:
            dropped[NOT_LABELLED] += 1
            continue
        items.append(
            Item(
                name,
                label,
                language or _language(row, spec, where),
                "\n".join(t for c in spec["question"] if (t := _asked(row.get(c), where))),
                texts,
                answer,
                country if country is not None else _country(row, spec),
                _extra(given, row, spec, layout),
                where,
            )
        )
    refuse_repeats(items)
    return ItemSet(tuple(items), dict(dropped))


def write_items(path: Path, items: Iterable[Item]) -> None:
    """Write items as JSON lines in the project's schema: whole, or not at all."""
    lines = []
    for x in items:
        record: dict[str, Any] = {"item": x.item, "subset": x.subset, "language": x.language}
        record |= {"question": x.question, "options": list(x.options)}
        record["answer"] = None if x.answer is None else ascii_uppercase[x.answer]
        record |= {"country": x.country} if x.country else {}
        lines.append(json.dumps({**x.extra, **record}, ensure_ascii=False) + "\n")
    write_whole(path, lambda partial: partial.write_text("".join(lines), "utf-8"))


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
        shown = "; ".join(f"{b.where}: {b.item!r} in {b.language!r}, as {a.where}" for a, b in repeated[:3])
        raise DuplicateRows(
            f"{len(repeated)} rows repeat an item in the same language ({shown}"
            f"{'; ...' if len(repeated) > 3 else ''}); keep one of each."
        )
    both = [x for x in items if subsets.setdefault(x.item, x).subset != x.subset]
    if both:
        shown = "; ".join(f"{x.where}: {x.item!r}" for x in both[:3]) + ("; ..." if len(both) > 3 else "")
        raise ItemInBothSubsets(
            f"{len(both)} rows have an item under CA that is under CS elsewhere ({shown})."
        )


def _options(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], int]:
    """The options' texts, and which of the source's layouts they came in."""
    for k, layout in enumerate(spec["options"]):
        present = [name for name in layout if name in row]
        if not present or (len(layout) > 2 and len(present) < 2):
            continue
        value = row[present[0]]
        if len(layout) == 1:
            return _listed(value, where), k
        texts = [_asked(row[name], where) for name in present]
        while spec.get("fewer_options") and texts and not texts[-1]:
            texts.pop()
        return tuple(texts), k
    expected = " or ".join(", ".join(layout[:4]) for layout in spec["options"])
    raise MissingColumn(f"{where}: no options; expected the columns {expected}. There are {_columns(row)}.")


def _listed(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list):
        raise BadItem(f'{where}: the options are no list; write them as ["one", "two", ...].')
    return tuple(_asked(option, where) for option in value)


def _asked(value: Any, where: str) -> str:
    """A text that will be part of a prompt."""
    if isinstance(value, dict | list):
        raise BadItem(f"{where}: a question or an option is a text, not {_text(value)[:60]}.")
    text = _text(value)
    if _HALF.search(text):
        raise BadItem(f"{where}: a question or an option holds half of a character (a lone surrogate).")
    return text


def _label(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> str | None:
    for name in spec.get("subset", []):
        if name in row:
            raw = _text(row[name]).strip()
            return subset_label(spec.get("subsets", {}).get(raw.lower(), raw), where, "the item file")
    return None


def _language(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> str:
    raw = _filled(spec["language"], row, where, "language")
    if "languages_like" not in spec:
        return raw
    known = _language_codes(spec["languages_like"])
    code = known.get(raw, known.get(raw.lower(), ""))
    if not code:
        raise BadItem(f"{where}: {raw!r} is no language of this set; give its code with --language.")
    return code


def _country(row: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    return next((text for template in spec.get("country", []) if (text := _fill(template, row))), "")


def _extra(
    given: Mapping[str, Any], row: Mapping[str, Any], spec: Mapping[str, Any], layout: int
) -> dict[str, str]:
    """Further columns, as the file gives them: all that were not read as a part of the item."""
    wanted = spec.get("extra", [])
    if wanted == ["*"]:
        taken = {spec["answer"], *spec["question"], *spec["options"][layout]}
        taken |= {next((name for name in spec.get("subset", []) if name in row), "")}
        for key in ("item", "language", "country"):
            used = next((t for t in spec.get(key, []) if _fill(t, row)), "")
            taken |= {*_names([used]), *_names(spec.get(key, [])[:1])}
        wanted = [name for name in given if name not in taken]
    return {name: _text(given.get(name)) for name in wanted if name in given}


def _filled(templates: Sequence[str], row: Mapping[str, Any], where: str, what: str) -> str:
    for template in templates:
        if filled := _fill(template, row):
            return filled
    if not any(name in row for name in _names(templates)):
        raise MissingColumn(
            f"{where}: no {what}; expected the column {' or '.join(_names(templates))}. "
            f"There are {_columns(row)}."
        )
    raise MissingId(f"{where}: the {what} is empty; every row needs one.")


def _fill(template: str, row: Mapping[str, Any]) -> str:
    """The template with its columns' values; '' where one of them is missing or empty."""
    values = {name: _text(row.get(name)) for name in _names([template])}
    return template.format(**values) if all(values.values()) else ""


def _names(templates: Sequence[str]) -> list[str]:
    return [part.split("}")[0] for template in templates for part in template.split("{")[1:]]


def _column(row: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in row:
        raise MissingColumn(f"{where}: no column {name!r} with the right option. There are {_columns(row)}.")
    return row[name]


def _columns(row: Mapping[str, Any]) -> str:
    return ", ".join(repr(k) for k in row if k not in {"row", "file", "folder"}) or "none"


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _spec(source: str, columns: Mapping[str, str]) -> dict[str, Any]:
    known = _sources()
    if source not in known:
        raise BadSetting(f"there is no source {source!r}; known: {', '.join(known)}.")
    spec = dict(known[source])
    for key, name in columns.items():
        if key in {"item", "language", "country"}:
            spec[key] = ["{" + name + "}"]
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
    return spec


@cache
def _sources() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))


@cache
def _language_codes(task: str) -> dict[str, str]:
    """Names of languages as a set writes them, from the table that the log importer uses as well."""
    text = (Path(__file__).parents[1] / "importers" / "lm_eval_tasks.toml").read_text(encoding="utf-8")
    found = [t["languages"] for t in tomllib.loads(text)["task"] if t["pattern"].startswith(f"{task}_")]
    return {**found[0], **{code: code for code in found[0].values()}}
