"""One row of an item file: what its columns mean, by the description of its source in `sources.toml`."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from maskedadv.errors import BadItem, MissingColumn, MissingId, UnknownSubset
from maskedadv.scoring.importers.mapping import subset_label

_HALF = re.compile("[\ud800-\udfff]")


def options_of(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], int]:
    """The options' texts, and which of the source's layouts they came in."""
    for k, layout in enumerate(spec["options"]):
        present = [name for name in layout if name in row]
        if not present or (len(layout) > 2 and len(present) < 2):
            continue
        value = row[present[0]]
        if len(layout) == 1:
            return _listed(value, where), k
        texts = [asked_text(row[name], where) for name in present]
        while spec.get("fewer_options") and texts and not texts[-1]:
            texts.pop()
        return tuple(texts), k
    expected = " or ".join(", ".join(layout[:4]) for layout in spec["options"])
    raise MissingColumn(
        f"{where}: no options; expected the columns {expected}. There are {_columns(row)}; name them with "
        "maskedadv items convert --column options=NAME, or the set with --source."
    )


def _listed(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list):
        raise BadItem(
            f'{where}: the options are no list; write them as ["one", "two", ...], or leave the row out with '
            "--drop-bad."
        )
    return tuple(asked_text(option, where) for option in value)


def asked_text(value: Any, where: str) -> str:
    """A text that will be part of a prompt."""
    if isinstance(value, dict | list):
        raise BadItem(f"{where}: a question or an option is a text, not {_text(value)[:60]}.")
    text = _text(value)
    if _HALF.search(text):
        raise BadItem(f"{where}: a question or an option holds half of a character (a lone surrogate).")
    return text


def label_of(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> str | None:
    for name in spec.get("subset", []):
        if name in row:
            raw = _text(row[name]).strip()
            try:
                return subset_label(spec.get("subsets", {}).get(raw.lower(), raw), where, "")
            except UnknownSubset as error:
                raise UnknownSubset(
                    f"{where}: the label {raw!r} is neither CA nor CS; say what it means with maskedadv "
                    f"items convert --label {raw!r}=CS (or =CA, or = for neither)."
                ) from error
    return None


def language_of(row: Mapping[str, Any], spec: Mapping[str, Any], where: str) -> str:
    raw = filled(spec["language"], row, where, "language")
    if "languages_like" not in spec:
        return raw
    known = _language_codes(spec["languages_like"])
    code = known.get(raw, known.get(raw.lower(), ""))
    if not code:
        raise BadItem(f"{where}: {raw!r} is no language of this set; give its code with --language.")
    return code


def country_of(row: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    return next((text for template in spec.get("country", []) if (text := _fill(template, row))), "")


def extra_of(
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


def filled(templates: Sequence[str], row: Mapping[str, Any], where: str, what: str) -> str:
    for template in templates:
        if filled := _fill(template, row):
            return filled
    if not any(name in row for name in _names(templates)):
        raise MissingColumn(
            f"{where}: no {what}; expected the column {' or '.join(_names(templates))}. "
            f"There are {_columns(row)}."
        )
    raise MissingId(f"{where}: the {what} is empty; every row needs one.")


def id_of(row: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """The item's id, '' where the row has none."""
    return next((text for template in spec["item"] if (text := _fill(template, row))), "")


def _fill(template: str, row: Mapping[str, Any]) -> str:
    """The template with its columns' values; '' where one of them is missing or empty."""
    values = {name: _text(row.get(name)) for name in _names([template])}
    return template.format(**values) if all(values.values()) else ""


def _names(templates: Sequence[str]) -> list[str]:
    return [part.split("}")[0] for template in templates for part in template.split("{")[1:]]


def column_of(row: Mapping[str, Any], name: str, where: str) -> Any:
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


@cache
def _language_codes(task: str) -> dict[str, str]:
    """Names of languages as a set writes them, from the table that the log importer uses as well."""
    text = (Path(__file__).parents[1] / "importers" / "lm_eval_tasks.toml").read_text(encoding="utf-8")
    found = [t["languages"] for t in tomllib.loads(text)["task"] if t["pattern"].startswith(f"{task}_")]
    return {**found[0], **{code: code for code in found[0].values()}}
