"""Sheets of a workbook (.xlsx, .xlsb, .xls, .ods), row by row."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from maskedadv.errors import BadMapping, BrokenLog, PackageMissing
from maskedadv.files.sources import first_bytes
from maskedadv.scoring.importers.archives import refuse_bomb


def sheet_rows(path: Path, shown: str, sheet: str = "") -> Iterator[list[Any]]:
    """The header, as texts, and then the rows of a sheet; empty rows are left out.

    Numbers come as they are stored, not as the sheet shows them: a cell that shows 001 but holds the number 1
    is 1.

    Parameters
    ----------
    sheet
        Its name; the first one that holds something if empty.

    Raises
    ------
    PackageMissing, BrokenLog, LogTooLarge
    BadMapping
        There is no such sheet.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise PackageMissing(
            f"{shown} is a workbook, which needs one more package: pip install python-calamine"
        ) from error
    first_bytes(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                refuse_bomb(info.compress_size, info.file_size, f"{shown}/{info.filename}")
    try:
        with CalamineWorkbook.from_path(path) as book:
            if sheet and sheet not in book.sheet_names:
                raise BadMapping(
                    f"{shown} has no sheet {sheet!r}; its sheets are {', '.join(book.sheet_names)}."
                )
            for name in [sheet] if sheet else book.sheet_names:
                rows = (row for row in book.get_sheet_by_name(name).iter_rows() if any(c != "" for c in row))
                header = next(rows, None)
                if header is not None:
                    yield [_name(cell) for cell in header]
                    yield from ([_cell(cell) for cell in row] for row in rows)
                    return
    except (CalamineError, OSError, ValueError) as error:
        raise BrokenLog(f"{shown} is no workbook that can be read ({error}).") from error


def _name(cell: Any) -> str:
    cell = _cell(cell)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _cell(cell: Any) -> Any:
    return cell if isinstance(cell, str | bool | int | float) else str(cell)
