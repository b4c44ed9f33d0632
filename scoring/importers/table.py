"""Plain tables, long or wide, as a response table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from maskedadv.errors import BadId, DuplicateRows, MissingColumn, MissingId
from maskedadv.scoring.importers.answers import COLUMNS, COMPACT, IDS, NOT_ANNOTATED, Part
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.mapping import subset_label
from maskedadv.scoring.importers.runs import listed
from maskedadv.scoring.importers.table_files import read_pieces
from maskedadv.scoring.importers.table_mapping import VALUES, TableMapping
from maskedadv.scoring.importers.table_values import rows_of, with_values

_ACROSS, _VALUE = "\0across", "\0value"  # no column is called that


def read_table(
    paths: Sequence[Path],
    *,
    mapping: TableMapping | None = None,
    labels: Mapping[str, str] | None = None,
    subset: str | None = None,
) -> Imported:
    """Import plain tables.

    Parameters
    ----------
    paths
        CSV, Parquet or JSON-lines files, all of one layout.
    mapping
        What the columns mean; without one they bear the names of the response table.
    labels
        CA or CS per item id, where the table has no subset.
    subset
        CA or CS for all items, where the table has none.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses, naming column, count and the first three rows that are wrong.
    """
    mapping = mapping or TableMapping()
    return combine([_read(path, mapping, labels, subset) for path in paths])


def _read(path: Path, mapping: TableMapping, labels: Mapping[str, str] | None, subset: str | None) -> Part:
    pieces, row = [], 1
    for piece in read_pieces(path, _wanted(mapping)):
        piece.index = pd.RangeIndex(row, row + len(piece))
        row += len(piece)
        pieces.append(_answers(piece, mapping, labels, subset, path))
    answers = pd.concat(pieces or [_empty()])
    again = answers.duplicated(list(IDS))
    if again.any():
        where = rows_of(answers.loc[again, "item"])
        raise DuplicateRows(
            f"{path}: {int(again.sum())} answers repeat an earlier one's model, subset, language and item "
            f"({where}); keep one of each."
        )
    unlabelled = answers["subset"] == ""
    dropped = Counter({NOT_ANNOTATED: int(unlabelled.sum())})
    answers = answers[~unlabelled].reset_index(drop=True)
    models = answers["model"].unique()
    return Part(
        source=str(path),
        model=models[0] if len(models) == 1 else f"{len(models)} models",
        task=path.name,
        answers=answers.astype(dict.fromkeys(COMPACT, "category")),
        dropped=dict(+dropped),
    )


def _wanted(mapping: TableMapping) -> list[str] | None:
    """The table's columns that are needed; None for all, which a wide table may need."""
    if mapping.wide and not mapping.wide.get("only"):
        return None
    names = {mapping.theirs(ours) for ours in (*IDS, *VALUES)} - set(mapping.fixed)
    names |= {mapping.options[key] for key in ("right", "wrong", "best") if key in mapping.options}
    return sorted(names | set(mapping.wide.get("only", [])))


def _answers(
    piece: pd.DataFrame,
    mapping: TableMapping,
    labels: Mapping[str, str] | None,
    subset: str | None,
    path: Path,
) -> pd.DataFrame:
    """One piece as answers; its index counts the table's rows from 1 below the header."""
    table = _long(piece, mapping, path) if mapping.wide else piece
    out = pd.DataFrame(index=table.index)
    for ours in IDS:
        if ours in mapping.fixed:
            out[ours] = pd.Series(mapping.fixed[ours], index=table.index, dtype="str")
        elif (theirs := mapping.theirs(ours)) in table:
            out[ours] = table[theirs].astype("str")
        elif ours == "subset":
            out[ours] = pd.Series("", index=table.index, dtype="str")
        else:
            raise MissingColumn(
                f"{path} has no column {theirs!r} for {ours} (found: {listed(list(table.columns), 8)}); "
                "say which under [columns] or [fixed] in a mapping (--map)."
                + (" For accuracies without items, see maskedadv from-accuracy." if ours == "item" else "")
            )
    _check_ids(out, path)
    out["model"] = out["model"].replace(mapping.models)
    out["language"] = out["language"].replace(mapping.languages)
    out["subset"] = _subsets(out, mapping, labels, subset, path, given=_has_subset(table, mapping))
    return with_values(out, table, mapping, path)


def _long(piece: pd.DataFrame, mapping: TableMapping, path: Path) -> pd.DataFrame:
    """One row per answer of a table with one column per model, language or item."""
    across, value = mapping.wide["columns"], mapping.wide.get("value", "correct")
    kept = [theirs for ours in IDS if ours != across and (theirs := mapping.theirs(ours)) in piece]
    spread = mapping.wide.get("only") or [name for name in piece.columns if name not in kept]
    if absent := [name for name in spread if name not in piece]:
        raise MissingColumn(f"{path} has no column {absent[0]!r}, which [wide] only names.")
    long = piece[[*kept, *spread]].melt(
        id_vars=kept, value_vars=spread, var_name=_ACROSS, value_name=_VALUE, ignore_index=False
    )
    return long.rename(columns={_ACROSS: mapping.theirs(across), _VALUE: mapping.theirs(value)})


def _has_subset(table: pd.DataFrame, mapping: TableMapping) -> bool:
    return "subset" in mapping.fixed or mapping.theirs("subset") in table


def _subsets(
    out: pd.DataFrame,
    mapping: TableMapping,
    labels: Mapping[str, str] | None,
    subset: str | None,
    path: Path,
    *,
    given: bool,
) -> pd.Series:
    """CA, CS or '' for each row."""
    if not given and not labels and subset is None:
        raise MissingColumn(
            f"{path} has no subset; say where it is under [columns] in a mapping, label all items with "
            "--subset CA or CS, or each with --subset-from FILE."
        )
    own = {
        raw: subset_label(mapping.subsets.get(raw, raw), str(path), "the mapping")
        for raw in set(out["subset"])
    }
    chosen = [
        choose_subset(own[raw] if given else None, item, labels, subset)
        for raw, item in zip(out["subset"], out["item"], strict=True)
    ]
    return pd.Series(chosen, index=out.index, dtype="str")


def _check_ids(out: pd.DataFrame, path: Path) -> None:
    for name in ("model", "language", "item"):
        if len(empty := out.loc[out[name] == "", name]):
            raise MissingId(f"{path}: {len(empty)} rows have no {name} ({rows_of(empty)}).")
        if len(blank := out.loc[out[name] != out[name].str.strip(), name]):
            raise BadId(
                f"{path}: {len(blank)} ids of column {name} have blanks at an end ({rows_of(blank)})."
            )


def _empty() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in COLUMNS})
