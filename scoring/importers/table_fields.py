"""From columns and path to the ids of answers: what a mapping's columns and templates give for each row."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from maskedadv.errors import MissingColumn
from maskedadv.scoring.importers.mapping import Template
from maskedadv.scoring.importers.paths import match_path, missing_part, path_fields
from maskedadv.scoring.importers.table_mapping import TableMapping
from maskedadv.scoring.importers.table_sources import TableFile


def file_fields(file: TableFile, mapping: TableMapping) -> dict[str, str]:
    """What the path of a file gives: its parts, and the groups of the mapping's pattern.

    Raises
    ------
    BadMapping
        The pattern does not fit.
    """
    names = path_fields(file.parts)
    if mapping.pattern is not None:
        names |= match_path(mapping.pattern, file.parts, in_folder=file.in_folder, where=file.shown)
    return names


def column_of(
    ours: str, table: pd.DataFrame, mapping: TableMapping, names: Mapping[str, str], where: str
) -> pd.Series | None:
    """One of our columns for each row of a piece; None where neither table nor path nor mapping has it.

    The order: what the mapping fixes; its template; the column that it names, or that bears our name; a group
    of the path's pattern, or a folder such as `language=eu`, of our name.

    Raises
    ------
    BadMapping, MissingColumn
        A template names what is not there.
    """
    filled = mapping.template(ours)
    if filled is not None:
        return fill(filled, table, names, where)
    if ours in mapping.fixed:
        return _constant(str(mapping.fixed[ours]), table)
    theirs = mapping.theirs(ours)
    if theirs in table:
        return table[theirs].astype("str")
    if theirs in names:
        return _constant(names[theirs], table)
    return None


def fill(filled: Template, table: pd.DataFrame, names: Mapping[str, str], where: str) -> pd.Series:
    """A template for each row.

    Raises
    ------
    BadMapping
        The path has no such part.
    MissingColumn
    """
    out = _constant("", table)
    for text, path in filled.parts:
        name = ".".join(path)
        if text:
            out = out + text
        if not path:
            continue
        if name in table:
            out = out + table[name].astype("str")
        elif name in names:
            out = out + names[name]
        elif name == "row":
            out = out + table.index.astype("str")
        elif name.startswith("path."):
            raise missing_part(name, names, where)
        else:
            raise MissingColumn(
                f"{where}: {{{name}}} in the mapping is neither a column nor a part of the path (columns: "
                f"{', '.join(map(str, table.columns))})."
            )
    return out


def _constant(text: str, table: pd.DataFrame) -> pd.Series:
    return pd.Series(text, index=table.index, dtype="str")
