"""The values of a plain table: right or wrong, probabilities, log-probabilities of the options."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import BadValue, MissingColumn
from maskedadv.scoring.importers.answers import COLUMNS
from maskedadv.scoring.importers.outcomes import Outcome, from_logprobs
from maskedadv.scoring.importers.runs import listed
from maskedadv.scoring.importers.table_answers import Answers
from maskedadv.scoring.importers.table_mapping import TableMapping
from maskedadv.words.lists import first_few

_TRUTH = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}


def with_values(
    ids: pd.DataFrame,
    table: pd.DataFrame,
    mapping: TableMapping,
    where: str,
    answers: Answers | None,
    found: list[str],
) -> pd.DataFrame:
    """Add correct, p_correct, crm_logit and n_options to the ids of answers.

    Keys and given answers, or log-probabilities of options, where mapped, give what no column gives.

    Parameters
    ----------
    ids, table
        Rows of the same index, which counts the table's rows from 1 below the header; cells are text.
    where
        The file, for messages.
    answers
        How keys and given answers are scored, where the mapping says so.
    found
        All columns of the file, for messages.

    Raises
    ------
    MissingColumn, BadValue
    """
    given = {name: table.get(mapping.theirs(name)) for name in ("correct", "p_correct", "n_options")}
    if answers is not None:
        outcomes = answers.score(ids, table, where)
    elif mapping.options:
        outcomes = _from_options(table, mapping, where)
    elif given["correct"] is None and given["p_correct"] is None:
        raise MissingColumn(
            f"{where} has a column neither for correct nor for p_correct (found: {listed(found, 12)}); say "
            "which under [columns] in a mapping (--map), or under [answers] where key and given answers are "
            "(--guess writes one to edit)."
        )
    else:
        outcomes = pd.DataFrame([Outcome()] * len(ids), index=ids.index, columns=list(Outcome._fields))
    out = ids.assign(**outcomes.drop(columns="tied"), task="", precision="")
    out["n_options"] = out["n_options"].replace(0, np.nan)
    if given["correct"] is not None and (answers is None or mapping.is_given("correct")):
        out["correct"] = _truth(given["correct"], mapping, where)
        out["reason"] = ""
    if given["p_correct"] is not None:
        out["p_correct"], out["crm_logit"] = _numbers(given["p_correct"], where, 0, 1), np.nan
    if given["n_options"] is not None:
        out["n_options"] = _numbers(given["n_options"], where, 2, 1000, whole=True)
    elif "n_options" in mapping.fixed:
        out["n_options"] = mapping.fixed["n_options"]
    kinds = {"correct": "Int8", "p_correct": "float64", "crm_logit": "float64", "n_options": "Int16"}
    return out.astype(kinds)[list(COLUMNS)]


def rows_of(values: pd.Series) -> str:
    """`row 3: 'x', row 9: 'y', ...`: the first three."""
    shown = [f"row {row}: {value!r}" for row, value in values.iloc[:3].items()]
    return first_few(shown, count=len(values))


def words_of(values: pd.Series, shown: int = 12) -> str:
    """Every different text once, in alphabetical order, with how often it is there."""
    counts = values.value_counts().sort_index()
    return listed([f"{str(text)[:40]!r} ({count})" for text, count in counts.items()], shown)


def _from_options(table: pd.DataFrame, mapping: TableMapping, where: str | Path) -> pd.DataFrame:
    options = mapping.options
    names = [options[key] for key in ("right", "wrong", "best") if key in options]
    if absent := [name for name in names if name not in table]:
        raise MissingColumn(f"{where} has no column {absent[0]!r}, which [options] names.")
    separator = options.get("separator", ";")
    outcomes: list[Outcome] = []
    for row, *cells in table[names].itertuples():
        right, wrong = (_list(cell, separator, f"{where}, row {row}") for cell in cells[:2])
        if len(cells) == 3:
            if not (cells[2].isascii() and cells[2].isdigit() and int(cells[2]) < len(right)):
                allowed = f"a place from 0 to {len(right) - 1}"
                raise BadValue(f"{where}, row {row}: {names[2]} is {cells[2]!r}, not {allowed}.")
            right = [right[int(cells[2])]]
        # Wrong ones first: of tied options the first counts as chosen, and their order is not known.
        places = range(len(wrong), len(wrong) + len(right))
        outcomes.append(from_logprobs([*wrong, *right], places) if right or wrong else Outcome())
    return pd.DataFrame(outcomes, index=table.index, columns=list(Outcome._fields))


def _list(cell: str, separator: str, where: str) -> list[float]:
    try:
        if cell.startswith("["):
            return [float(value) for value in json.loads(cell)]
        return [float(value) for value in cell.split(separator) if value.strip()]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadValue(f"{where}: {cell[:40]!r} is not numbers with {separator!r} between.") from error


def _truth(cells: pd.Series, mapping: TableMapping, where: str) -> pd.Series:
    words = mapping.truth()
    values = cells.str.strip().str.casefold()
    values = values.map(lambda word: words.get(word, word))
    bad = cells[(values != "") & ~values.isin(list(_TRUTH))]
    if len(bad):
        raise BadValue(
            f"{where}, column {cells.name!r}: {len(bad)} values are not 0, 1, true, false or empty "
            f'({rows_of(bad)}); say what each means under [values] in a mapping, 1, 0 or "": {words_of(bad)}.'
        )
    return values.map(_TRUTH)


def _numbers(cells: pd.Series, where: str, low: float, high: float, *, whole: bool = False) -> pd.Series:
    values = pd.to_numeric(cells.where(cells.str.strip() != ""), errors="coerce").astype("float64")
    good = values.between(low, high) & ((values % 1 == 0) if whole else True)
    bad = cells[(cells.str.strip() != "") & ~good]
    if len(bad):
        what = "whole numbers" if whole else "numbers"
        raise BadValue(
            f"{where}, column {cells.name!r}: {len(bad)} values are neither {what} from {low:g} to {high:g} "
            f"nor empty ({rows_of(bad)})."
        )
    return values
