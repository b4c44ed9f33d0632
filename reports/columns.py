"""Columns of a printed table: a heading, and how a row's numbers become a cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from maskedadv.reports.tables import Cell, Table
from maskedadv.words.numbers import p_value, signed

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a printed table."""

    heading: str
    cell: Callable[[Row], Cell]
    numeric: bool = True


def build(frame: pd.DataFrame, columns: Sequence[Column]) -> Table:
    """A table from the rows of a frame."""
    rows = [{str(k): v for k, v in row.items()} for row in frame.to_dict(orient="records")]
    return Table(
        columns=tuple(column.heading for column in columns),
        numeric=tuple(column.numeric for column in columns),
        rows=tuple(tuple(column.cell(row) for column in columns) for row in rows),
    )


def text(heading: str, key: str) -> Column:
    """Text as it is."""
    return Column(heading, lambda row: Cell(str(row[key])), numeric=False)


def number(heading: str, key: str, digits: int = 3) -> Column:
    """A number with fixed decimals."""
    return Column(heading, lambda row: Cell(signed(float(row[key]), digits), float(row[key])))


def whole(heading: str, key: str) -> Column:
    """A count, n/a where it is not known."""
    return Column(heading, lambda row: _optional(row[key], ".0f"))


def count(heading: str, key: str) -> Column:
    """A count that may be an expected one: 4, or 3.5."""
    return Column(heading, lambda row: _optional(row[key], ".3g"))


def p(heading: str, key: str) -> Column:
    """A p value."""
    return Column(heading, lambda row: Cell(p_value(float(row[key])).removeprefix("= "), float(row[key])))


def estimate(heading: str, key: str, lower: str, upper: str, digits: int = 3) -> Column:
    """A number with its interval, sorted by the number."""

    def cell(row: Row) -> Cell:
        value, limits = float(row[key]), _limits(row, lower, upper, digits)
        return Cell(signed(value, digits) + (f" {limits}" if limits else ""), value)

    return Column(heading, cell)


def interval(heading: str, lower: str, upper: str, digits: int = 3) -> Column:
    """An interval alone, sorted by its lower limit."""
    return Column(heading, lambda row: Cell(_limits(row, lower, upper, digits) or "n/a", float(row[lower])))


def _optional(value: Any, form: str) -> Cell:
    number = math.nan if value is None else float(value)
    return Cell("n/a" if math.isnan(number) else format(number, form), number)


def _limits(row: Row, lower: str, upper: str, digits: int) -> str:
    low, high = float(row[lower]), float(row[upper])
    return "" if math.isnan(low) else f"[{signed(low, digits)}, {signed(high, digits)}]"
