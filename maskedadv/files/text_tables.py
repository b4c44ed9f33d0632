"""Small tables whose every cell is read as text: ids stay ids, empty stays empty, refusals say where.

Used for score tables, model tables and annotations. Rows are counted from 1 below the header.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from maskedadv.errors import (
    BadId,
    BadValue,
    DuplicateRows,
    EmptyTable,
    MissingColumn,
    MissingId,
    UnreadableFile,
)
from maskedadv.files.csv_text import csv_layout, read_csv, stream_opener
from maskedadv.files.sources import existing, first_bytes, reason_of
from maskedadv.words.lists import first_few


def read_text_table(source: str | Path | pd.DataFrame, what: str, required: Sequence[str]) -> pd.DataFrame:
    """Read a CSV or Parquet file, or take a DataFrame, with every cell as text ('' where empty).

    Parameters
    ----------
    source
        Path of a CSV file (comma, semicolon, tab or bar; UTF-8 with or without a byte-order mark; may
        be gzipped) or of a Parquet file, or a DataFrame.
    what
        What the table is, for messages: "the score table".
    required
        Columns that must be there. Others are kept.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable
    """
    frame = source.copy() if isinstance(source, pd.DataFrame) else _read_file(Path(source), what, required)
    frame = frame.reset_index(drop=True)
    names = [str(name) for name in frame.columns]
    frame.columns = pd.Index(names, dtype=object)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise MissingColumn(f"{what} names the column {twice[0]!r} twice; keep one of them.")
    absent = [name for name in required if name not in names]
    if absent:
        found = ", ".join(repr(name) for name in names) or "none"
        raise MissingColumn(
            f"{what} has no column {absent[0]!r} (needed: {', '.join(required)}; found: {found})."
        )
    if frame.empty:
        raise EmptyTable(f"{what} has a header but no rows.")
    return pd.DataFrame({name: _as_text(frame[name]) for name in names})


def _read_file(path: Path, what: str, required: Sequence[str]) -> pd.DataFrame:
    try:
        if existing(path, "give a CSV or Parquet file").is_dir():
            raise UnreadableFile(f"{path} is not a file; give a CSV or Parquet file.")
        first_bytes(path)
        if path.suffix.lower() in {".parquet", ".pq"}:
            return pd.read_parquet(path)
        return _read_csv(path, what, required)
    except UnreadableFile as error:
        raise UnreadableFile(f"{what}: {error}") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(
            f"{what}: {path} cannot be read ({reason_of(error)}); it should be UTF-8 CSV with a header line."
        ) from error


def _read_csv(path: Path, what: str, required: Sequence[str]) -> pd.DataFrame:
    open_stream = stream_opener(path)
    layout = csv_layout(open_stream, path, required)
    if not layout.names:
        raise EmptyTable(f"{what}: {path} is empty, or does not begin with a header line.")
    return read_csv(open_stream, path, layout, [name for name in layout.names if name], {}).to_pandas()


def _as_text(column: pd.Series) -> pd.Series:
    if column.dtype == "str":
        return column.fillna("")
    if pd.api.types.is_integer_dtype(column.dtype) and not column.hasnans:
        return column.astype("str")
    return pd.Series([_text(value) for value in column.tolist()], dtype="str")


def _text(value: Any) -> str:
    """A cell as text; whole floats lose the '.0' that pandas gives to integer columns with gaps."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else str(number)
    if isinstance(value, bool | np.bool_):
        return "1" if value else "0"
    return str(value)


def offenders(rows: Iterable[int], shown: Sequence[str], count: int) -> str:
    """`row 3: 'x', row 9: 'y', ...`: the first three of `count`; `rows` count from 0, as the index does."""
    return first_few([f"row {row + 1}: {text}" for row, text in zip(rows, shown, strict=False)], count=count)


def check_ids(frame: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Refuse empty ids and ids with blanks at an end, which would not match in another table.

    Raises
    ------
    MissingId, BadId
    """
    for name in columns:
        text = frame[name]
        empty = np.flatnonzero((text == "").to_numpy())
        if len(empty):
            where = offenders(frame.index[empty], ["empty"] * 3, len(empty))
            raise MissingId(
                f"{what}, column {name!r}: {len(empty)} ids are empty ({where}); every row needs one."
            )
        blank = np.flatnonzero((text != text.str.strip()).to_numpy())
        if len(blank):
            where = offenders(frame.index[blank], [repr(text.iloc[row]) for row in blank[:3]], len(blank))
            raise BadId(
                f"{what}, column {name!r}: {len(blank)} ids have blanks at an end ({where}); remove them."
            )


def check_unique(frame: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Refuse rows that repeat an earlier row's ids, equal ones too.

    Raises
    ------
    DuplicateRows
    """
    repeated = np.flatnonzero(frame.duplicated(list(columns)).to_numpy())
    if len(repeated):
        shown = [" / ".join(frame[name].iloc[row] for name in columns) for row in repeated[:3]]
        raise DuplicateRows(
            f"{what}: {len(repeated)} rows repeat an earlier ({', '.join(columns)}) "
            f"({offenders(frame.index[repeated], shown, len(repeated))}); keep one row each."
        )


def numbers(
    frame: pd.DataFrame, column: str, what: str, allowed: str, low: float = -np.inf, high: float = np.inf
) -> NDArray[np.float64]:
    """One column as finite numbers from `low` to `high`, NaN where empty.

    Parameters
    ----------
    allowed
        The range in words, for the message: "a share from 0 to 1, or empty".

    Raises
    ------
    BadValue
    """
    text = frame[column]
    values = pd.to_numeric(text.where(text != ""), errors="coerce").to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        good = np.isfinite(values) & (values >= low) & (values <= high)
    bad = np.flatnonzero((text != "").to_numpy() & ~good)
    if len(bad):
        where = offenders(frame.index[bad], [repr(text.iloc[row]) for row in bad[:3]], len(bad))
        raise BadValue(f"{what}, column {column!r}: {len(bad)} values are not {allowed} ({where}).")
    return values


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries for JSON, with every digit; None where a number is NaN or infinite."""
    rows = frame.astype(object).to_dict(orient="records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
