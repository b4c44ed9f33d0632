"""Tables inside one JSON document: records under a key, or keyed by number or id.

`at` is a dotted path to the records: "results", "data.answers", "." for the whole document. A step "*" stands
for every member of an object or list: "*.answers" in {"model-a": {"answers": [...]}, "model-b": ...}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from maskedadv.errors import BadMapping, BrokenLog, LogTooLarge
from maskedadv.scoring.importers.jsonstream import open_log

_LARGEST = 2**30  # bytes; larger ones are written as JSON lines


class Located(NamedTuple):
    """A record, the keys that led to it (from the outside in), and the document."""

    keys: tuple[str, ...]
    record: Mapping[str, Any]
    document: Any


def load_document(path: Path) -> Any:
    """A whole JSON file.

    Raises
    ------
    UnreadableFile, BrokenLog, LogTooLarge
    """
    if path.stat().st_size > _LARGEST:
        raise LogTooLarge(
            f"{path} is one JSON document of more than {_LARGEST // 2**30} GiB; write it as JSON lines."
        )
    with open_log(path) as file:
        raw = file.read()
    try:
        return json.loads(raw.decode("utf-8"))
    except RecursionError as error:
        raise BrokenLog(f"{path} is not one JSON document (nested too deeply).") from error
    except ValueError as error:
        raise BrokenLog(f"{path} is not one JSON document ({error}).") from error


def is_document(path: Path) -> bool:
    """Whether a file is one JSON object rather than JSON lines or an array.

    Its first line is no whole record then, or it has but one line, whose record holds records.

    Raises
    ------
    UnreadableFile, BrokenLog
    """
    with open_log(path) as file:
        first = b""
        while line := file.readline(2**26):
            if line.strip():
                first = line
                break
        if not first.lstrip().startswith(b"{"):
            return False
        rest = any(line.strip() for line in iter(lambda: file.readline(2**20), b""))
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return rest or not first.endswith(b"\n")
    return not rest and isinstance(record, dict) and holds_records(record)


def holds_records(value: Any) -> bool:
    """Whether an object's members are, or hold, records rather than cells."""
    if not isinstance(value, Mapping) or not value:
        return False
    members = list(value.values())
    return all(isinstance(m, Mapping | list) for m in members) or any(
        isinstance(m, list) and m and isinstance(m[0], Mapping) for m in members
    )


def records_at(document: Any, at: str, where: str) -> Iterator[Located]:
    """The records under a path.

    Records that are no objects, as in {"q1": 1, "q2": 0}, are taken as {"value": ...}.

    Raises
    ------
    BadMapping
        The path leads nowhere.
    """
    steps = [step for step in at.split(".") if step]
    yield from _descend(document, steps, (), document, where, at)


def _descend(
    value: Any, steps: list[str], keys: tuple[str, ...], document: Any, where: str, at: str
) -> Iterator[Located]:
    if not steps:
        for key, record in _members(value, where, at):
            yield Located(
                (*keys, key), record if isinstance(record, Mapping) else {"value": record}, document
            )
        return
    step, *rest = steps
    if step == "*":
        for key, member in _members(value, where, at):
            yield from _descend(member, rest, (*keys, key), document, where, at)
        return
    if not isinstance(value, Mapping) or step not in value:
        raise BadMapping(f"{where}: [records] at = {at!r} leads nowhere; the file is {describe(document)}.")
    yield from _descend(value[step], rest, keys, document, where, at)


def _members(value: Any, where: str, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(key), member) for key, member in value.items())
    elif isinstance(value, list):
        yield from ((str(n), member) for n, member in enumerate(value))
    else:
        raise BadMapping(f"{where}: [records] at = {at!r} leads to a {type(value).__name__}, not to records.")


def describe(document: Any) -> str:
    """What a document is, in words: "one JSON object with the keys metadata, results"."""
    if not isinstance(document, Mapping):
        return f"one JSON {type(document).__name__}"
    keys = [str(key) for key in document]
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return f"one JSON object with the keys {', '.join(keys[:8])}{more}"


def lookup(record: Any, name: str) -> Any:
    """A field of a record by its name, or by a dotted path into it; None where there is none."""
    if isinstance(record, Mapping) and name in record:
        return record[name]
    value = record
    for step in name.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def field_names(record: Mapping[str, Any], depth: int = 2) -> list[str]:
    """The fields of a record that hold cells, those of objects inside it as dotted paths."""
    names = []
    for name, value in record.items():
        if isinstance(value, Mapping) and depth:
            names += [f"{name}.{inner}" for inner in field_names(value, depth - 1)]
        else:
            names.append(str(name))
    return names
