"""A table for what can take one locale at a time: in memory where it is small, else in its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from maskedadv.files.sources import first_bytes
from maskedadv.responses.read import read_responses
from maskedadv.responses.stored import StoredResponses, has_more_rows, open_stored
from maskedadv.responses.table import Responses

IN_MEMORY = 5_000_000
"""Rows up to which a table is read at once: that is quicker, and takes about 100 bytes a row."""


def open_responses(
    source: str | Path | pd.DataFrame | pa.Table | Responses | StoredResponses,
    tell: Callable[[str], None] = lambda _: None,
) -> Responses | StoredResponses:
    """Read a response table, or, where it is large and lies in Parquet, look at it and leave it there.

    Nothing depends on which: results are the same to the last digit.

    Parameters
    ----------
    source : as in `maskedadv.read_responses`
    tell : called with a line of text where this takes long

    Raises
    ------
    InputError
        As `maskedadv.read_responses` refuses a table.
    """
    if isinstance(source, StoredResponses):
        return source
    if (
        isinstance(source, str | Path)
        and str(source)
        and _is_parquet(Path(source))
        and has_more_rows(Path(source), IN_MEMORY)
    ):
        return open_stored(Path(source), tell)
    return read_responses(source)


def _is_parquet(path: Path) -> bool:
    try:
        if path.is_dir():
            return True
        return path.is_file() and first_bytes(path).startswith(b"PAR1")
    except OSError:
        return False
