"""How the columns of a plain table map to those of a response table: a TOML file.

[columns]                  # ours = theirs
model = "system"
item = "question_id"
correct = "score"

[fixed]                    # the same in every row
language = "eu"

[subsets]                  # theirs = ours; [languages] and [models] likewise
local = "CS"
global = "CA"

[wide]                     # one column per model (or language, or item) instead of one row per answer
columns = "model"
value = "correct"          # or "p_correct"

[options]                  # log-probabilities of the options, in one cell or two
right = "lprob_true"
wrong = "lprob_false"
separator = ";"
best = "best"              # column: which of the right ones counts as right, from 0; all if absent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskedadv.errors import BadMapping
from maskedadv.scoring.importers.answers import IDS
from maskedadv.scoring.importers.mapping import load_toml

VALUES = ("correct", "p_correct", "n_options")
_SECTIONS = {
    "columns": {*IDS, *VALUES},
    "fixed": {"model", "subset", "language"},
    "models": None,
    "subsets": None,
    "languages": None,
    "wide": {"columns", "value", "only"},
    "options": {"right", "wrong", "separator", "best"},
}


@dataclass(frozen=True)
class TableMapping:
    """The sections of a mapping file; empty where it has none."""

    columns: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    subsets: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    wide: dict[str, Any] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)

    def theirs(self, ours: str) -> str:
        """The table's name of one of our columns."""
        return self.columns.get(ours, ours)


def read_table_mapping(path: Path) -> TableMapping:
    """Read a mapping file.

    Raises
    ------
    BadMapping
        Not TOML, an unknown section or key, a value of the wrong type, or sections that contradict.
    """
    data = load_toml(path)
    for name, section in data.items():
        if name not in _SECTIONS or not isinstance(section, Mapping):
            raise BadMapping(f"{path}: unknown section {name!r}; known: {', '.join(_SECTIONS)}.")
        allowed = _SECTIONS[name]
        for key, value in section.items():
            if allowed is not None and key not in allowed:
                raise BadMapping(f"{path}: [{name}] has no key {key!r}; known: {', '.join(sorted(allowed))}.")
            if not isinstance(value, str) and (name, key) != ("wide", "only"):
                raise BadMapping(f"{path}: [{name}] {key} must be a text, not {value!r}.")
    mapping = TableMapping(**data)
    _check(mapping, path)
    return mapping


def _check(mapping: TableMapping, path: Path) -> None:
    if twice := sorted(set(mapping.columns) & set(mapping.fixed)):
        raise BadMapping(f"{path}: {twice[0]} is both in [columns] and in [fixed].")
    wide, options = mapping.wide, mapping.options
    if wide:
        if wide.get("columns") not in {"model", "language", "item"}:
            raise BadMapping(f"{path}: [wide] columns must be model, language or item.")
        if wide.get("value", "correct") not in {"correct", "p_correct"}:
            raise BadMapping(f"{path}: [wide] value must be correct or p_correct.")
        only = wide.get("only", [])
        if not isinstance(only, list) or not all(isinstance(name, str) for name in only):
            raise BadMapping(f"{path}: [wide] only must be a list of column names.")
        if options:
            raise BadMapping(f"{path}: [wide] and [options] exclude each other.")
    if options and not {"right", "wrong"} <= set(options):
        raise BadMapping(f"{path}: [options] needs both right and wrong.")
