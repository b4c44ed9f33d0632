"""How tasks map to languages, subsets and items: rules of a TOML file, ours or the user's.

    [[task]]
    pattern  = 'my_quiz_(?P<code>[a-z]{2})'      # a regular expression for the whole task name
    language = "{code}"                          # fixed, or a template
    subset   = "{doc.label}"
    item     = "{doc.source}/{doc.number}"
    answer   = "1"                               # optional: text, letter, 0 or 1

A template's fields are named groups of the pattern, dotted paths into the record, or parts of the log's path:
`{path.1}`, `{path.-2}`, `{folder}`, `{file}`, `{stem}`, and named groups of a pattern under `path`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import Any

from maskedadv.errors import BadMapping, UnknownSubset
from maskedadv.files.toml import read_toml
from maskedadv.scoring.importers.paths import compile_pattern, missing_part

READINGS = ("text", "letter", "0", "1")
_UNLABELLED = {"", "-", "none", "null", "nan"}


@dataclass(frozen=True)
class Template:
    """Literal text and fields in turn: "{doc.link}#{doc.number}"."""

    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def fill(self, names: Mapping[str, str], record: Mapping[str, Any], where: str) -> str:
        """Put the named groups and the record's fields in; a missing or null field gives ''.

        Raises
        ------
        BadMapping
            A field holds a list or an object.
        """
        return "".join(text + _field(path, names, record, where) for text, path in self.parts)


@dataclass(frozen=True)
class TaskRule:
    """What one `[[task]]` says; `file` is where it says it."""

    pattern: re.Pattern[str]
    language: Template
    item: Template
    subset: Template | None
    model: Template | None = None
    path: re.Pattern[str] | None = None
    models: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    subsets: dict[str, str] = field(default_factory=dict)
    answer: str | None = None
    correct: str | None = None
    filter: str | None = None
    n_options: int | None = None
    file: str = ""


_TEXTS = {"pattern", "language", "item", "subset", "model", "path", "answer", "correct", "filter"}
_KEYS = _TEXTS | {"languages", "subsets", "models", "n_options"}


def read_mapping(path: Path) -> list[TaskRule]:
    """Read the rules of a mapping file, in its order.

    Raises
    ------
    BadMapping
        Not TOML, no `[[task]]`, an unknown or missing key, a pattern or template that is none.
    """
    data = read_toml(path, BadMapping)
    tasks = data.get("task")
    if not isinstance(tasks, list) or not tasks or set(data) != {"task"}:
        raise BadMapping(f"{path}: a mapping consists of [[task]] tables with pattern, language and item.")
    return [_rule(task, f"{path}, task {n}") for n, task in enumerate(tasks, 1)]


def find_rule(task: str, rules: Sequence[TaskRule]) -> tuple[TaskRule, dict[str, str]] | None:
    """The first rule whose pattern matches the whole task name, and its named groups."""
    for rule in rules:
        match = rule.pattern.fullmatch(task)
        if match:
            return rule, {name: value or "" for name, value in match.groupdict().items()}
    return None


def language_of(rule: TaskRule, names: Mapping[str, str], record: Mapping[str, Any], where: str) -> str:
    """The BCP-47 code a record's answer belongs to.

    Raises
    ------
    BadMapping
        The rule gives none.
    """
    raw = rule.language.fill(names, record, where)
    code = rule.languages.get(raw, raw)
    if code.split() != [code]:
        what = f"{code!r}, which is no language code" if code.strip() else "no language"
        raise BadMapping(f"{where}: the mapping ({rule.file}) gives {what}; see its key `language`.")
    return code


def item_of(rule: TaskRule, names: Mapping[str, str], record: Mapping[str, Any], where: str) -> str:
    """The item id of a record.

    Raises
    ------
    BadMapping
        The rule gives none.
    """
    item = rule.item.fill(names, record, where).strip()
    if not item:
        raise BadMapping(f"{where}: the mapping ({rule.file}) gives no item id; see its key `item`.")
    return item


def subset_of(rule: TaskRule, names: Mapping[str, str], record: Mapping[str, Any], where: str) -> str | None:
    """CA or CS, '' for a record that is marked as not annotated, None where there is no label at all.

    Raises
    ------
    UnknownSubset
        A label that is neither.
    """
    if rule.subset is None:
        return None
    raw = rule.subset.fill(names, record, where).strip()
    if not raw:
        return None
    return subset_label(rule.subsets.get(raw, raw), where, rule.file)


def subset_label(raw: str, where: str, file: str) -> str:
    """CA, CS or '' (not annotated) from a label in any case.

    Raises
    ------
    UnknownSubset
    """
    if raw.upper() in {"CA", "CS"}:
        return raw.upper()
    if raw.lower() in _UNLABELLED:
        return ""
    raise UnknownSubset(
        f"{where}: the label {raw!r} is neither CA nor CS; say what it means under `subsets` in {file}."
    )


def _rule(task: Any, where: str) -> TaskRule:
    if not isinstance(task, dict):
        raise BadMapping(f"{where} is not a table.")
    if unknown := sorted(set(task) - _KEYS):
        raise BadMapping(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}.")
    for key in sorted(_TEXTS & set(task)):
        if not isinstance(task[key], str) or not task[key]:
            raise BadMapping(f"{where}: {key} must be a text, not {task[key]!r}.")
    if missing := sorted({"pattern", "language", "item"} - set(task)):
        raise BadMapping(f"{where}: {missing[0]} is missing.")
    if task.get("answer", READINGS[0]) not in READINGS:
        raise BadMapping(f"{where}: answer must be one of {', '.join(READINGS)}, not {task['answer']!r}.")
    n_options = task.get("n_options")
    if n_options is not None and (type(n_options) is not int or not 2 <= n_options <= 26):
        raise BadMapping(f"{where}: n_options must be a whole number from 2 to 26, not {n_options!r}.")
    return TaskRule(
        pattern=compile_pattern(task["pattern"], where),
        language=template(task["language"], where),
        item=template(task["item"], where),
        subset=template(task["subset"], where) if "subset" in task else None,
        model=template(task["model"], where) if "model" in task else None,
        path=compile_pattern(task["path"], where) if "path" in task else None,
        models=_texts(task, "models", where),
        languages=_texts(task, "languages", where),
        subsets=_texts(task, "subsets", where),
        answer=task.get("answer"),
        correct=task.get("correct"),
        filter=task.get("filter"),
        n_options=n_options,
        file=where,
    )


def _texts(task: Mapping[str, Any], key: str, where: str) -> dict[str, str]:
    table = task.get(key, {})
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise BadMapping(f"{where}: {key} must be a table of texts.")
    return table


def template(text: str, where: str = "") -> Template:
    """Parse a template such as "{doc.link}#{doc.number}".

    Raises
    ------
    BadMapping
    """
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise BadMapping(f"{where}: {text!r} is not a template ({error}).") from error
    if any(name == "" or spec or conversion for _, name, spec, conversion in parsed):
        raise BadMapping(f"{where}: {text!r} is not a template; fields look like {{doc.id}}.")
    return Template(
        tuple((literal, tuple(name.split(".")) if name else ()) for literal, name, _, _ in parsed)
    )


def _field(path: tuple[str, ...], names: Mapping[str, str], record: Mapping[str, Any], where: str) -> str:
    if not path:
        return ""
    name = ".".join(path)
    if name in names:
        return names[name]
    if path[0] == "path":
        raise missing_part(name, names, where)
    value: Any = record
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    if isinstance(value, list | Mapping):
        raise BadMapping(f"{where}: the field {'.'.join(path)} holds a {type(value).__name__}, not an id.")
    return str(value)
