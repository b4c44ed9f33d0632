"""Plain tables, long or wide, as a response table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from maskedadv.errors import BadId, DuplicateRows, MissingColumn, MissingId, UnknownSubset
from maskedadv.files.alive import temporary_folder
from maskedadv.scoring.importers.answers import (
    COLUMNS,
    COMPACT,
    IDS,
    LOGGED_AGAIN,
    NOT_ANNOTATED,
    Part,
    make_notes,
)
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.mapping import subset_label
from maskedadv.scoring.importers.runs import listed
from maskedadv.scoring.importers.table_answers import Answers, survey_answers
from maskedadv.scoring.importers.table_fields import column_of, file_fields
from maskedadv.scoring.importers.table_files import Layout, columns_of, read_pieces
from maskedadv.scoring.importers.table_long import spread_out
from maskedadv.scoring.importers.table_mapping import TableMapping
from maskedadv.scoring.importers.table_sources import TableFile, find_tables
from maskedadv.scoring.importers.table_values import rows_of, with_values, words_of

_CHECKED = ("correct", "p_correct")


def read_table(
    paths: Sequence[Path],
    *,
    mapping: TableMapping | None = None,
    labels: Mapping[str, str] | None = None,
    subset: str | None = None,
    model: str | None = None,
    language: str | None = None,
) -> Imported:
    """Import plain tables.

    Parameters
    ----------
    paths
        CSV, Parquet, JSON or Excel files, zip archives or folders of them, all of one layout.
    mapping
        What the columns mean; without one they bear the names of the response table.
    labels
        CA or CS per item id, where the table has no subset.
    subset, model, language
        The same for all rows, where table, path and mapping say nothing of it.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses, naming column, count and the first three rows that are wrong.
    """
    mapping = mapping or TableMapping()
    given = {name: value for name, value in (("model", model), ("language", language)) if value is not None}
    with temporary_folder() as scratch:
        files, others = find_tables(paths, scratch)
        tables = [_Table(file, mapping, given) for file in files]
        answers = None
        if mapping.answers:
            pieces = ((piece, table.file.shown) for table in tables for piece in table.pieces())
            answers = survey_answers(pieces, mapping)
        parts = [_read(table, labels, subset, answers) for table in tables]
    notes = [f"no tables, left out: {listed(others)}"] if others else []
    return combine(parts, notes, tables=True)


@dataclass
class Streamed:
    """Plain tables piece by piece, as `read_table` would read them; what was left out, once they are read.

    Attributes
    ----------
    unlabelled : rows whose item is neither CA nor CS
    notes : what the user should know
    """

    paths: Sequence[Path]
    mapping: TableMapping | None = None
    labels: Mapping[str, str] | None = None
    subset: str | None = None
    model: str | None = None
    language: str | None = None
    unlabelled: int = 0
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        """Answers: the columns of a response table."""
        mapping = self.mapping or TableMapping()
        given = {n: v for n, v in (("model", self.model), ("language", self.language)) if v is not None}
        with temporary_folder() as scratch:
            files, others = find_tables(self.paths, scratch)
            self.notes += [f"no tables, left out: {listed(others)}"] if others else []
            tables = [_Table(file, mapping, given) for file in files]
            answers = None
            if mapping.answers:
                pieces = ((piece, table.file.shown) for table in tables for piece in table.pieces())
                answers = survey_answers(pieces, mapping)
            for table in tables:
                for piece in table.pieces():
                    rows = _answers(piece, table, self.labels, self.subset, answers)
                    labelled = rows["subset"] != ""
                    self.unlabelled += int((~labelled).sum())
                    yield rows[labelled].reset_index(drop=True)


@dataclass(frozen=True)
class _Table:
    """A file, how it is read, and what its path says."""

    file: TableFile
    mapping: TableMapping
    given: Mapping[str, str]

    @cached_property
    def layout(self) -> Layout:
        at, sheet = self.mapping.records.get("at", ""), self.mapping.records.get("sheet", "")
        return Layout(at, sheet, frozenset(self.mapping.fields()))

    @cached_property
    def names(self) -> dict[str, str]:
        return file_fields(self.file, self.mapping)

    @cached_property
    def found(self) -> list[str]:
        return columns_of(self.file, self.layout)

    def pieces(self) -> Iterator[pd.DataFrame]:
        """One row per answer; the index counts the table's rows from 1 below the header."""
        row = 1
        for piece in read_pieces(self.file, self._wanted(), self.layout):
            piece.index = pd.RangeIndex(row, row + len(piece))
            row += len(piece)
            yield spread_out(piece, self.mapping, self.names, self.file.shown)

    def _wanted(self) -> list[str] | None:
        """The columns that are needed, in the file's order; None for all, which a wide table may need."""
        if self.mapping.wide and not self.mapping.wide.get("only"):
            return None
        wanted = dict.fromkeys([*self.mapping.fields(), *self.mapping.wide.get("only", [])])
        return [*wanted, *(["key"] if self.mapping.records.get("at") and "key" not in wanted else [])]


def _read(
    table: _Table, labels: Mapping[str, str] | None, subset: str | None, answers: Answers | None
) -> Part:
    where = table.file.shown
    frames = [_answers(piece, table, labels, subset, answers) for piece in table.pieces()]
    rows = pd.concat(frames or [_empty()])
    dropped: Counter[str] = Counter()
    again = rows.duplicated(list(IDS))
    if again.any():
        differs = again & ~rows.duplicated([*IDS, *_CHECKED])
        if differs.any():
            raise DuplicateRows(_two_that_differ(rows, differs, where))
        dropped[LOGGED_AGAIN] = int(again.sum())
        rows = rows[~again]
    unlabelled = rows["subset"] == ""
    dropped[NOT_ANNOTATED] = int(unlabelled.sum())
    rows = rows[~unlabelled].reset_index(drop=True)
    models = rows["model"].unique()
    return Part(
        source=where,
        model=models[0] if len(models) == 1 else f"{len(models)} models",
        task=table.file.name,
        answers=rows.astype(dict.fromkeys(COMPACT, "category")),
        dropped=dict(+dropped),
        notes=make_notes([]),
    )


def _two_that_differ(rows: pd.DataFrame, differs: pd.Series, where: str) -> str:
    """Which answers repeat an earlier one and say something else."""
    place = int(differs.to_numpy().argmax())
    later = rows.iloc[place]
    same = (rows[list(IDS)] == later[list(IDS)]).all(axis=1).to_numpy()
    earlier = int(same.argmax())
    values = [_shown(rows.iloc[at]) for at in (earlier, place)]
    return (
        f"{where}: {int(differs.sum())} answers repeat an earlier one's model, subset, language and item and "
        f"differ from it, such as row {rows.index[earlier]} ({values[0]}) and row {rows.index[place]} "
        f"({values[1]}) of item {later['item']!r}; keep one of each, or map `item` so that ids are unique."
    )


def _shown(row: pd.Series) -> str:
    value = row["correct"] if not pd.isna(row["correct"]) else row["p_correct"]
    return "empty" if pd.isna(value) else f"{value:g}"


def _answers(
    piece: pd.DataFrame,
    table: _Table,
    labels: Mapping[str, str] | None,
    subset: str | None,
    answers: Answers | None,
) -> pd.DataFrame:
    """One piece as answers, with its index."""
    mapping, where = table.mapping, table.file.shown
    out = pd.DataFrame(index=piece.index)
    has_subset = True
    for ours in IDS:
        column = column_of(ours, piece, mapping, table.names, where)
        if column is None and ours in table.given:
            column = pd.Series(table.given[ours], index=piece.index, dtype="str")
        if column is None and ours == "item" and mapping.records.get("at") and "key" in piece:
            column = piece["key"].astype("str")
        if column is None and ours == "subset":
            column, has_subset = pd.Series("", index=piece.index, dtype="str"), False
        if column is None:
            raise MissingColumn(
                f"{where} has no column {mapping.theirs(ours)!r} for {ours} "
                f"(found: {listed(table.found, 12)}); "
                "say which under [columns] or [fixed] in a mapping (--map; --guess writes one to edit)."
                + (" For accuracies without items, see maskedadv from-accuracy." if ours == "item" else "")
            )
        out[ours] = column
    _check_ids(out, where)
    out["model"] = out["model"].replace(mapping.models)
    out["language"] = out["language"].replace(mapping.languages)
    out["subset"] = _subsets(out, mapping, labels, subset, where, given=has_subset)
    return with_values(out, piece, mapping, where, answers, table.found)


def _subsets(
    out: pd.DataFrame,
    mapping: TableMapping,
    labels: Mapping[str, str] | None,
    subset: str | None,
    where: str,
    *,
    given: bool,
) -> pd.Series:
    """CA, CS or '' for each row."""
    if not given and not labels and subset is None:
        raise MissingColumn(
            f"{where} has no subset; say where it is under [columns] in a mapping, label all items with "
            "--subset CA or CS, or each with --subset-from FILE."
        )
    own: dict[str, str] = {}
    unknown = []
    for raw in sorted(set(out["subset"])):
        try:
            own[raw] = subset_label(mapping.subsets.get(raw, raw), where, "the mapping")
        except UnknownSubset:
            unknown.append(raw)
    if unknown:
        labels_found = words_of(out.loc[out["subset"].isin(unknown), "subset"])
        raise UnknownSubset(
            f"{where}: {len(unknown)} labels are neither CA nor CS: {labels_found}; say what they mean under "
            "[subsets] in a mapping."
        )
    chosen = [
        choose_subset(own[raw] if given else None, item, labels, subset)
        for raw, item in zip(out["subset"], out["item"], strict=True)
    ]
    return pd.Series(chosen, index=out.index, dtype="str")


def _check_ids(out: pd.DataFrame, where: str) -> None:
    for name in ("model", "language", "item"):
        if len(empty := out.loc[out[name] == "", name]):
            raise MissingId(f"{where}: {len(empty)} rows have no {name} ({rows_of(empty)}).")
        if len(blank := out.loc[out[name] != out[name].str.strip(), name]):
            raise BadId(
                f"{where}: {len(blank)} ids of column {name} have blanks at an end ({rows_of(blank)})."
            )
        if len(lines := out.loc[out[name].str.contains("[\r\n\0]", regex=True), name]):
            raise BadId(
                f"{where}: {len(lines)} ids of column {name} hold a line end or null byte ({rows_of(lines)})."
            )


def _empty() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in COLUMNS})
