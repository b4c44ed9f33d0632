"""What the columns of a plain table mean: a TOML file. docs/importing.md explains every section.

[columns]                  # ours = theirs: a column, or a template of columns and parts of the path
model = "{folder}"
item = "{set}/{id}"

[path]                     # what the path says, for one file per model, language or set
pattern = '(?P<model>[^/]+)/(?P<set>.+)\\.csv'

[answers]                  # key and given answer instead of right or wrong
key = "answer"
given = "pred"
missing = ["FAILED"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskedadv.errors import BadMapping
from maskedadv.files.toml import read_toml
from maskedadv.scoring.importers.answers import IDS
from maskedadv.scoring.importers.mapping import READINGS, Template, template
from maskedadv.scoring.importers.paths import compile_pattern

VALUES = ("correct", "p_correct", "n_options")
_TEXTS = {*IDS, *VALUES}
# Section -> its keys (None: any), and for each the types of value; a text where none is named.
_SECTIONS: dict[str, set[str] | None] = {
    "columns": _TEXTS,
    "fixed": {"model", "subset", "language", "n_options"},
    "path": {"pattern", *IDS},
    "records": {"at", "sheet", *IDS},
    "values": None,
    "models": None,
    "subsets": None,
    "languages": None,
    "wide": {"columns", "value", "only"},
    "patterns": {"column", "right", "wrong"},
    "options": {"right", "wrong", "separator", "best"},
    "answers": {
        *("key", "given", "missing", "options", "n_options", "first"),
        *("key_is", "given_is", "key_file", "on", "read"),
    },
}
_LISTS = {("wide", "only"), ("answers", "missing"), ("answers", "options")}
_NUMBERS = {("answers", "n_options"), ("answers", "first"), ("fixed", "n_options")}
_ANY = {"correct", "p_correct", "given"}


@dataclass(frozen=True)
class TableMapping:
    """The sections of a mapping file; empty where it has none. `file` is where it lies."""

    columns: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    path: dict[str, str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    subsets: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    wide: dict[str, Any] = field(default_factory=dict)
    patterns: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    file: Path | None = None

    def theirs(self, ours: str) -> str:
        """The table's name of one of our columns, or the template for it."""
        for section in (self.columns, self.path, self.records):
            if ours in section:
                return section[ours]
        return ours

    def is_given(self, ours: str) -> bool:
        """Whether the mapping says where one of our columns comes from."""
        return any(ours in section for section in (self.columns, self.fixed, self.path, self.records))

    def template(self, ours: str) -> Template | None:
        """The template for one of our columns, where it is one: text with fields in braces."""
        text = self.fixed.get(ours) if ours in self.fixed else self.theirs(ours)
        return template(text, f"{self.file}, {ours}") if isinstance(text, str) and "{" in text else None

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """The pattern for the path."""
        text = self.path.get("pattern")
        return compile_pattern(text, f"{self.file}, [path]") if text else None

    def truth(self) -> dict[str, str]:
        """What the words for right, wrong and missing mean: '1', '0' or ''; keys in lower case."""
        return {word.strip().casefold(): _truth(value) or "" for word, value in self.values.items()}

    def fields(self) -> Iterator[str]:
        """Every column that the mapping names outside of [wide]."""
        for ours in (*IDS, *VALUES):
            if (filled := self.template(ours)) is not None:
                yield from (".".join(path) for _, path in filled.parts if path)
            elif ours not in self.fixed:
                yield self.theirs(ours)
        yield from (self.options[key] for key in ("right", "wrong", "best") if key in self.options)
        yield from (self.answers[k] for k in ("key", "given", "on") if k in self.answers)
        options = self.answers.get("options", [])
        yield from [options] if isinstance(options, str) else options
        if self.patterns:
            yield self.patterns["column"]


def read_table_mapping(path: Path) -> TableMapping:
    """Read a mapping file.

    Raises
    ------
    BadMapping
        Not TOML, an unknown section or key, a value of the wrong type, or sections that contradict.
    """
    data = read_toml(path, BadMapping)
    for name, section in data.items():
        if name not in _SECTIONS or not isinstance(section, Mapping):
            raise BadMapping(f"{path}: unknown section {name!r}; known: {', '.join(_SECTIONS)}.")
        allowed = _SECTIONS[name]
        for key, value in section.items():
            if allowed is not None and key not in allowed:
                raise BadMapping(f"{path}: [{name}] has no key {key!r}; known: {', '.join(sorted(allowed))}.")
            _check_type(name, key, value, path)
    mapping = TableMapping(**data, file=path)
    _check(mapping, path)
    return mapping


def _truth(value: Any) -> str | None:
    """'1', '0' or '' for what [values] may say of a word; None for anything else."""
    text = str(int(value)) if isinstance(value, bool) else str(value).strip()
    return text if text in {"1", "0", ""} else None


def _check_type(section: str, key: str, value: Any, path: Path) -> None:
    where = f"{path}: [{section}] {key}"
    if section == "values":
        if _truth(value) is None:
            raise BadMapping(f'{where} must be 1 (right), 0 (wrong) or "" (not observed), not {value!r}.')
    elif (section, key) == ("answers", "read"):
        if not isinstance(value, bool):
            raise BadMapping(f"{where} must be true or false, not {value!r}.")
    elif (section, key) in _NUMBERS:
        if type(value) is not int or not 0 <= value <= 1000:
            raise BadMapping(f"{where} must be a whole number, not {value!r}.")
    elif (section, key) in _LISTS and not isinstance(value, str):
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            what = "column names" if key != "missing" else "words"
            raise BadMapping(f"{where} must be a list of {what}.")
    elif not isinstance(value, str) or (section, key) == ("wide", "only"):
        what = "a list of column names" if key == "only" else "a text"
        raise BadMapping(f"{where} must be {what}, not {value!r}.")


def _check(mapping: TableMapping, path: Path) -> None:
    if twice := sorted(set(mapping.columns) & set(mapping.fixed)):
        raise BadMapping(f"{path}: {twice[0]} is both in [columns] and in [fixed].")
    for ours in (*IDS, *VALUES):
        mapping.template(ours)
    _ = mapping.pattern
    wide, options, answers = mapping.wide, mapping.options, mapping.answers
    if wide:
        if wide.get("columns") not in {"model", "language", "item"}:
            raise BadMapping(f"{path}: [wide] columns must be model, language or item.")
        if wide.get("value", "correct") not in _ANY:
            raise BadMapping(f"{path}: [wide] value must be correct, p_correct or given.")
    if sum(map(bool, (wide.get("value") != "given" and wide, options, mapping.patterns))) > 1:
        raise BadMapping(f"{path}: [wide], [patterns] and [options] exclude each other.")
    if options and not {"right", "wrong"} <= set(options):
        raise BadMapping(f"{path}: [options] needs both right and wrong.")
    if mapping.patterns and "column" not in mapping.patterns:
        raise BadMapping(f"{path}: [patterns] needs column, the one that holds texts such as 0110.")
    if answers:
        spread = wide.get("value") == "given" or bool(mapping.patterns)
        if "key" not in answers or ("given" in answers) == spread:
            what = "key alone, since the given answers are spread out" if spread else "both key and given"
            raise BadMapping(f"{path}: [answers] needs {what}.")
        for name in ("key_is", "given_is"):
            if answers.get(name, READINGS[0]) not in READINGS:
                raise BadMapping(f"{path}: [answers] {name} must be one of {', '.join(READINGS)}.")
        if answers.get("first", 0) not in (0, 1):
            raise BadMapping(f"{path}: [answers] first must be 0 or 1: the number of the first option.")
    elif wide.get("value") == "given":
        raise BadMapping(f'{path}: [wide] value = "given" needs the key under [answers].')
