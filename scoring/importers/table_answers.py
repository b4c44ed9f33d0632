"""The [answers] of a mapping: keys and given answers, scored row by row once the files are surveyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.errors import BadMapping, MissingColumn
from maskedadv.files.alive import temporary_folder
from maskedadv.scoring.importers.outcomes import Outcome
from maskedadv.scoring.importers.table_files import Layout, columns_of, read_pieces
from maskedadv.scoring.importers.table_keys import (
    Convention,
    Survey,
    option_list,
    score,
    settle,
    survey_cells,
)
from maskedadv.scoring.importers.table_long import GIVEN
from maskedadv.scoring.importers.table_mapping import TableMapping
from maskedadv.scoring.importers.table_sources import find_tables


@dataclass(frozen=True)
class Answers:
    """How keys and given answers of a table are scored.

    Attributes
    ----------
    said
        The section of the mapping.
    keys
        The key by id, from another file; None where it is a column.
    convention
        How letters and numbers are meant.
    """

    said: dict[str, Any]
    keys: dict[str, str] | None
    missing: frozenset[str]
    convention: Convention

    def score(self, ids: pd.DataFrame, table: pd.DataFrame, where: str) -> pd.DataFrame:
        """Outcomes of a piece, with its index.

        Raises
        ------
        MissingColumn
        """
        key, given, options = _cells(table, self.said, self.keys, where)
        read = self.said.get("read", True)
        outcomes = [
            score(
                *(k, g, self.convention),
                options=texts,
                language=language,
                n_options=self.said.get("n_options", 0),
                read=read,
                missing=self.missing,
            )
            for k, g, texts, language in zip(key, given, options, ids["language"], strict=True)
        ]
        return pd.DataFrame(outcomes, index=table.index, columns=list(Outcome._fields))


def survey_answers(pieces: Iterable[tuple[pd.DataFrame, str]], mapping: TableMapping) -> Answers:
    """Look through all pieces for how letters and numbers are meant.

    Parameters
    ----------
    pieces
        (rows, file they are of), one row per answer.

    Raises
    ------
    MissingColumn, AmbiguousKey, BadMapping
    """
    said = mapping.answers
    keys = _read_keys(mapping)
    said_missing = said.get("missing", [])
    words = [said_missing] if isinstance(said_missing, str) else said_missing
    missing = frozenset(word.strip().casefold() for word in words) | {
        word for word, value in mapping.truth().items() if value == ""
    }
    survey, where = Survey(), ""
    for table, where in pieces:
        key, given, options = _cells(table, said, keys, where)
        survey_cells(survey, "key", key, options, missing)
        survey_cells(survey, "given", given, options, missing)
    return Answers(said, keys, missing, settle(survey, said, where))


def _cells(
    table: pd.DataFrame, said: dict[str, Any], keys: dict[str, str] | None, where: str
) -> tuple[list[str], list[str], list[list[str]]]:
    """Key, given answer and options of each row."""
    names = said.get("options", [])
    names = [names] if isinstance(names, str) else names
    own = [] if keys is not None else [said["key"]]
    wanted = [*own, *([said["given"]] if "given" in said else []), *names]
    if keys is not None:
        wanted.append(said["on"])
    if absent := [name for name in wanted if name not in table]:
        raise MissingColumn(
            f"{where} has no column {', '.join(map(repr, absent))}, which [answers] names (found: "
            f"{', '.join(str(name) for name in table.columns if not str(name).startswith(chr(0)))})."
        )
    key = table[said["key"]] if keys is None else table[said["on"]].map(lambda item: keys.get(item, ""))
    given = table[said.get("given", GIVEN)]
    options: Sequence[list[str]] = [[]] * len(table)
    if names:
        cells = table[names].itertuples(index=False, name=None)
        options = [option_list(row, where) if any(row) else [] for row in cells]
    return list(key), list(given), list(options)


def _read_keys(mapping: TableMapping) -> dict[str, str] | None:
    """The key of every id from the file that [answers] key_file names."""
    said = mapping.answers
    if "key_file" not in said:
        return None
    if "on" not in said:
        item = mapping.theirs("item")
        if "{" in item:
            raise BadMapping(f"{mapping.file}: [answers] key_file needs on, the column of ids in both files.")
        said["on"] = item
    path = (mapping.file.parent if mapping.file else Path()) / said["key_file"]
    on, key = said["on"], said["key"]
    keys: dict[str, str] = {}
    with temporary_folder() as scratch:
        for file in find_tables([path], scratch)[0]:
            layout = Layout(known=(on, key))
            for piece in read_pieces(file, [on, key], layout):
                if absent := [name for name in (on, key) if name not in piece]:
                    found = ", ".join(columns_of(file, layout))
                    raise MissingColumn(f"{file.shown} has no column {absent[0]!r} (found: {found}).")
                for item, value in zip(piece[on], piece[key], strict=True):
                    if keys.setdefault(item, value) != value:
                        raise BadMapping(
                            f"{file.shown}: {item!r} has two keys, {keys[item]!r} and {value!r}."
                        )
    return keys
