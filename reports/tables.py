"""Tables for people: on a page, in LaTeX; and as CSV with every digit."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.vocabulary import gap_titles
from maskedadv.words.numbers import DIGITS, MINUS, PAGE, interval_text, p_value, percent, signed

GAP_NAMES = gap_titles()
_P_VALUES = {"p", "p_robust", "q", "infit_p", "outfit_p", "spearman_p", "p_f", "p_value"}
_SHARES = ("share_", "accuracy")
_FOUR_DIGITS = ("pearson", "spearman", "bce", "brier", "auc", "difference")
_HIDDEN = {"note"}


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, and the number it is sorted by (None: by its text)."""

    text: str
    sort: float | None = None


@dataclass(frozen=True)
class Table:
    """Headings and rows ready to be printed; `numeric` says which columns are numbers."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]


def display(frame: pd.DataFrame, digits: int = DIGITS) -> Table:
    """A tidy table in the form people read.

    Rows that differ in `gap` only become one, each gap a column of estimate and interval; differences keep a
    row for each gap, with the means that they were made from. Whole numbers stay
    whole, others get `digits`, p values and shares their own form; NaN is n/a.
    """
    if {"gap", "estimate", "lower", "upper"} <= set(frame.columns):
        return _differences(frame) if _sides(frame) else _by_gap(frame)
    columns = [str(c) for c in frame.columns if c not in _HIDDEN]
    numeric = tuple(pd.api.types.is_numeric_dtype(frame[c]) and frame[c].dtype != bool for c in columns)
    rows = tuple(
        tuple(
            _cell(column, value, is_number, digits)
            for column, value, is_number in zip(columns, row, numeric, strict=True)
        )
        for row in frame[columns].itertuples(index=False)
    )
    return Table(tuple(_title(c) for c in columns), numeric, rows)


def count_rows(frame: pd.DataFrame) -> int:
    """How many rows `display` makes of a table."""
    if {"gap", "estimate", "lower", "upper"} <= set(frame.columns) and not _sides(frame):
        return int(merged_rows(frame).max(initial=-1)) + 1
    return len(frame)


def merged_rows(frame: pd.DataFrame) -> NDArray[np.intp]:
    """Which row of `display` every row of a tidy table of gaps became."""
    at = list(frame.columns).index("gap")
    ids = [c for c in frame.columns[:at] if not str(c).startswith("n_")]
    if not ids:
        return np.zeros(len(frame), np.intp)
    numbers = frame.groupby(ids, sort=False, observed=True, dropna=False).ngroup()
    return np.asarray(numbers, dtype=np.intp)


def _by_gap(frame: pd.DataFrame) -> Table:
    at = frame.columns.get_loc("gap")
    assert isinstance(at, int)
    keys = [str(c) for c in frame.columns[:at]]
    ids = [c for c in keys if not c.startswith("n_")]
    gaps = [g for g in GAP_NAMES if g in set(frame["gap"])]
    counts = [
        str(c) for c in frame.columns[at:] if str(c).startswith("n_items")
    ]  # of both subsets, in any row
    numeric = [pd.api.types.is_numeric_dtype(frame[c]) for c in keys] + [True] * (len(gaps) + len(counts))
    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in frame.to_dict(orient="records"):
        key = tuple(_hashable(record[c]) for c in ids)
        rows.setdefault(key, []).append({str(k): v for k, v in record.items()})
    body = []
    for records in rows.values():
        cells = {str(r["gap"]): Cell(interval_text(r), float(r["estimate"])) for r in records}
        body.append(
            (
                *(_key_cell(c, [r[c] for r in records], n) for c, n in zip(keys, numeric, strict=False)),
                *(cells.get(g, Cell(PAGE.missing, math.nan)) for g in gaps),
                *(_key_cell(c, [r[c] for r in records], True) for c in counts),
            )
        )
    titles = (*(_title(c) for c in keys), *(GAP_NAMES[g] for g in gaps), *(_title(c) for c in counts))
    return Table(titles, tuple(numeric), tuple(body))


def _key_cell(column: str, values: list[Any], numeric: bool) -> Cell:
    """What the gaps of a row have in common; a count that differs between them as `2 to 4`."""
    if column.startswith("n_") and min(values) < max(values):
        return Cell(f"{min(values)} to {max(values)}", float(max(values)))
    return _cell(column, _hashable(values[0]), numeric)


def _sides(frame: pd.DataFrame) -> list[str]:
    """The two means that a difference was made from: what stands between the gap and the estimate."""
    names = [str(c) for c in frame.columns]
    return names[names.index("gap") + 1 : names.index("estimate")]


def _differences(frame: pd.DataFrame) -> Table:
    """A row for each gap: both means, then their difference with its interval."""
    sides = _sides(frame)
    keys = [str(c) for c in frame.columns[: list(frame.columns).index("gap")]]
    numeric = [pd.api.types.is_numeric_dtype(frame[c]) for c in keys]
    rows = []
    for record in frame.to_dict(orient="records"):
        row = {str(k): v for k, v in record.items()}
        rows.append(
            (
                *(_cell(c, row[c], n) for c, n in zip(keys, numeric, strict=True)),
                Cell(GAP_NAMES[row["gap"]]),
                *(Cell(signed(row[c]), float(row[c])) for c in sides),
                Cell(interval_text(row), float(row["estimate"])),
            )
        )
    titles = (*(_title(c) for c in keys), "gap", *sides, f" {MINUS} ".join(sides))
    return Table(titles, (*numeric, False, *(True for _ in sides), True), tuple(rows))


def _hashable(value: Any) -> Any:
    return PAGE.missing if isinstance(value, float) and math.isnan(value) else value


def _title(column: str) -> str:
    return column.replace("n_", "number of ", 1).replace("_", " ") if column.startswith("n_") else (
        column.replace("_", " ")
    )  # fmt: skip


def _cell(column: str, value: Any, numeric: bool, digits: int = DIGITS) -> Cell:
    if not numeric or isinstance(value, str):
        if isinstance(value, bool | np.bool_):
            return Cell("yes" if value else "no")
        return Cell("" if value is None else str(value))
    number = float(value)
    if math.isnan(number):
        return Cell(PAGE.missing, number)
    if column in _P_VALUES:
        return Cell(p_value(number).removeprefix("= "), number)
    if column.startswith(_SHARES):
        return Cell(percent(number), number)
    if column.endswith("parameters"):
        from maskedadv.reports.figures.scale import size_labels

        return Cell(size_labels([number])[0], number)
    if number.is_integer() and (
        isinstance(value, int | np.integer) or abs(number) >= 100 or "level" in column
    ):
        return Cell(signed(number, 0), number)
    return Cell(signed(number, 4 if column.startswith(_FOUR_DIGITS) else digits), number)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """All columns, all digits, UTF-8."""
    frame.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def to_latex(table: Table, caption: str = "", label: str = "") -> str:
    """A `booktabs` table; ids are escaped. Scripts beyond Latin need XeLaTeX or LuaLaTeX."""
    form = "".join("r" if n else "l" for n in table.numeric)
    lines = [
        r"\begin{table}",
        r"\centering",
        *([rf"\caption{{{latex(caption)}}}"] if caption else []),
        *([rf"\label{{{label}}}"] if label else []),
        rf"\begin{{tabular}}{{{form}}}",
        r"\toprule",
        " & ".join(latex(c) for c in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(latex(cell.text) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", MINUS: "$-$", "Δ": r"$\Delta$",
    "θ": r"$\theta$", "·": r"$\cdot$", "∞": r"$\infty$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def latex(text: str) -> str:
    """Text with everything that LaTeX takes for a command escaped; control characters become spaces."""
    clean = (" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in text)
    return "".join(_LATEX.get(c, c) for c in clean)


def write_latex(frame: pd.DataFrame | Table, path: Path, caption: str = "", label: str = "") -> None:
    """`to_latex` to a file."""
    table = frame if isinstance(frame, Table) else display(frame)
    path.write_text(to_latex(table, caption, label), "utf-8")
