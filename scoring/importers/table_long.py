"""One row per answer of tables that have a column per model or item, or patterns such as 0110."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd

from maskedadv.errors import BadValue, MissingColumn
from maskedadv.scoring.importers.answers import IDS
from maskedadv.scoring.importers.table_mapping import VALUES, TableMapping

_ACROSS, _VALUE = "\0across", "\0value"  # no column is called that
GIVEN = "\0given"  # the answers of a table whose given answers are spread out
PLACE = "n"  # the field of a pattern's place, from 1
_NOT_OBSERVED = ".-_?*xXnN9 "  # signs of patterns for an answer that is missing


def spread_out(
    piece: pd.DataFrame, mapping: TableMapping, names: Mapping[str, str], where: str
) -> pd.DataFrame:
    """The piece with one row per answer; its index counts the table's rows from 1 below the header.

    Raises
    ------
    MissingColumn, BadValue
    """
    if mapping.patterns:
        return _from_patterns(piece, mapping, where)
    if mapping.wide:
        return _from_wide(piece, mapping, names, where)
    return piece


def _from_wide(
    piece: pd.DataFrame, mapping: TableMapping, names: Mapping[str, str], where: str
) -> pd.DataFrame:
    across, value = mapping.wide["columns"], mapping.wide.get("value", "correct")
    wanted = {field for field in mapping.fields() if field not in names}
    ours = {theirs for o in (*IDS, *VALUES) if o not in {across, value} and (theirs := mapping.theirs(o))}
    kept = [name for name in piece.columns if name in wanted or name in ours]
    spread = mapping.wide.get("only") or [name for name in piece.columns if name not in kept]
    if absent := [name for name in spread if name not in piece]:
        raise MissingColumn(f"{where} has no column {absent[0]!r}, which [wide] only names.")
    kept = [name for name in kept if name not in spread]
    long = piece[[*kept, *spread]].melt(
        id_vars=kept, value_vars=spread, var_name=_ACROSS, value_name=_VALUE, ignore_index=False
    )
    theirs = GIVEN if value == "given" else mapping.theirs(value)
    return long.rename(columns={_ACROSS: mapping.theirs(across), _VALUE: theirs})


def _from_patterns(piece: pd.DataFrame, mapping: TableMapping, where: str) -> pd.DataFrame:
    """Each sign of a pattern, or each element of a list, is an answer; `{n}` is its place, from 1."""
    column = mapping.patterns["column"]
    if column not in piece:
        raise MissingColumn(f"{where} has no column {column!r}, which [patterns] names.")
    words = {mapping.patterns.get("right", "1"): "1", mapping.patterns.get("wrong", "0"): "0"}
    if not mapping.answers:
        words = dict.fromkeys(_NOT_OBSERVED, "") | words
    rows = piece[column].map(_signs)
    lengths = rows.map(len)
    if len(set(lengths)) > 1 and not mapping.is_given("item"):
        short = lengths[lengths != lengths.mode().iloc[0]]
        raise BadValue(
            f"{where}, column {column!r}: {len(short)} patterns are not as long as the others "
            f"(row {short.index[0]}: {short.iloc[0]} signs, the others {lengths.mode().iloc[0]}); places "
            "would not stand for the same items."
        )
    long = piece.drop(columns=column).loc[piece.index.repeat(lengths)]
    signs = [sign for row in rows for sign in row]
    long[PLACE] = [str(n) for row in rows for n in range(1, len(row) + 1)]
    theirs = GIVEN if mapping.answers else mapping.theirs("correct")
    long[theirs] = pd.Series([words.get(s, s) for s in signs], index=long.index, dtype="str")
    if mapping.theirs("item") == "item" and "item" not in long:
        long["item"] = long[PLACE]
    return long


def _signs(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("["):
        try:
            elements = json.loads(text)
        except (ValueError, RecursionError):
            elements = list(text)
        return ["" if e is None else str(int(e)) if isinstance(e, bool | float) else str(e) for e in elements]
    return [piece.strip() for piece in text.split(",")] if "," in text else list(text)
