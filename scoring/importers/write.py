"""A response table to a file: whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from maskedadv.errors import BadSetting, OutputExists, UnreadableFile


def check_output(path: Path, *, overwrite: bool) -> None:
    """Refuse an output before hours of reading rather than after.

    Raises
    ------
    BadSetting
        Neither .parquet nor .csv.
    OutputExists
        The file is there and may not be replaced.
    UnreadableFile
        The folder does not exist.
    """
    if path.suffix.lower() not in {".parquet", ".csv"}:
        raise BadSetting(f"{path}: the output ends in .parquet or .csv.")
    if path.is_dir() or (path.exists() and not overwrite):
        raise OutputExists(f"{path} exists; choose another name or give --overwrite.")
    if not path.parent.is_dir():
        raise UnreadableFile(f"the folder {path.parent} does not exist; make it first.")


def write_answers(answers: pd.DataFrame, path: Path) -> None:
    """Write under a temporary name, then rename; ids stay text, empty cells stay empty."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        if path.suffix.lower() == ".csv":
            answers.to_csv(partial, index=False)
        else:
            answers.to_parquet(partial, index=False)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
