"""A table to a file: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd

from maskedadv.errors import BadSetting, OutputExists, UnreadableFile


def check_table_output(path: Path, *, overwrite: bool) -> None:
    """Refuse an output file before hours of work rather than after.

    Raises
    ------
    BadSetting
        Neither .parquet nor .csv.
    OutputExists
        It is there and may not be replaced.
    UnreadableFile
        Its folder does not exist.
    """
    if path.suffix.lower() not in {".parquet", ".csv"}:
        raise BadSetting(f"{path}: the output ends in .parquet or .csv.")
    if path.is_dir() or (path.exists() and not overwrite):
        raise OutputExists(f"{path} exists; choose another name or give --overwrite.")
    if not path.parent.is_dir():
        raise UnreadableFile(f"the folder {path.parent} does not exist; make it first.")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write .parquet or .csv under a temporary name, then rename; empty cells stay empty.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); choose another place.") from error
    os.close(handle)
    partial = Path(name)
    try:
        if path.suffix.lower() == ".csv":
            table.to_csv(partial, index=False)
        else:
            table.to_parquet(partial, index=False)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); choose another place.") from error
    finally:
        partial.unlink(missing_ok=True)


def write_text(text: str, path: Path, *, overwrite: bool) -> None:
    """Write a text file under a temporary name, then rename.

    Raises
    ------
    OutputExists
        It is there and may not be replaced, or the place cannot be written.
    """
    if path.is_dir() or (path.exists() and not overwrite):
        raise OutputExists(f"{path} exists; choose another name or give --overwrite.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); choose another place.") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); choose another place.") from error
    finally:
        Path(name).unlink(missing_ok=True)
