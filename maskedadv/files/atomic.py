"""Files: whole, or not at all."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from glob import escape
from pathlib import Path

import pandas as pd

from maskedadv.errors import BadSetting, OutputExists, UnreadableFile
from maskedadv.files.alive import held, is_left_over
from maskedadv.files.disk import bring_to_disk, cannot_write, writing
from maskedadv.files.renaming import rename_to_new
from maskedadv.files.undisturbed import undisturbed


def check_table_output(path: Path, *, overwrite: bool) -> None:
    """Refuse an output file before hours of work rather than after.

    Raises
    ------
    BadSetting
        Neither .parquet nor .csv.
    OutputExists
        It is there and may not be replaced, or nothing can be written there.
    UnreadableFile
        Its folder does not exist.
    """
    if path.suffix.lower() not in {".parquet", ".csv"}:
        raise BadSetting(f"{path}: the output ends in .parquet or .csv.")
    check_file_output(path, overwrite=overwrite)


def check_file_output(path: Path, *, overwrite: bool) -> None:
    """Refuse a place for a file of any kind before the work is done.

    Raises
    ------
    OutputExists
        It is there and may not be replaced, or nothing can be written there.
    UnreadableFile
        Its folder does not exist.
    """
    if path.is_dir() or (path.exists() and not overwrite):
        raise OutputExists(f"{path} exists; choose another name or give --overwrite.")
    if not path.parent.is_dir():
        raise UnreadableFile(f"the folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputExists(
            f"{path} cannot be written (nothing can be made in {path.parent.resolve()}); give another place."
        )


def write_whole(path: Path, write: Callable[[Path], object], *, replace: bool = True) -> None:
    """Let `write` fill a file beside `path`, bring it to disk, and give it the name; else leave nothing.

    The file gets the mode that any new file gets there. What a killed process left of this goes too.

    Parameters
    ----------
    replace
        Whether it may take the place of a file that is there.

    Raises
    ------
    OutputExists
        The disk is full or refuses; or the file is there and may not be replaced.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.partial")
    with undisturbed() as disturbed, writing(path):
        sweep(path)
        try:
            with held(partial):
                with disturbed():
                    write(partial)
                    bring_to_disk(partial)
                if replace:
                    os.replace(partial, path)
                else:
                    rename_to_new(partial, path)
        except FileExistsError as error:
            raise OutputExists(
                f"{path} appeared meanwhile, and is not replaced; give another name."
            ) from error
        finally:
            partial.unlink(missing_ok=True)


def partial_files(path: Path, process: int | str = "*") -> list[Path]:
    """What a process that was killed left of `write_whole(path, ...)`."""
    stem = f".{escape(path.name)}.{process}.*.partial"
    return [*path.parent.glob(stem), *path.parent.glob(f"{stem}.new")]


def sweep(path: Path) -> None:
    """Remove what killed processes left of writing `path`; what others are at work on stays."""
    for partial in partial_files(path):
        if whole_name(partial.name) == path.name and is_left_over(partial):
            partial.unlink(missing_ok=True)


def whole_name(name: str) -> str:
    """The name that a partial file was to get; other names come back as they are."""
    found = re.fullmatch(r"\.(.+)\.\d+\.\d+\.partial(?:\.new)?", name)
    return found.group(1) if found else name


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write .parquet or .csv, whole or not at all; empty cells stay empty.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    csv = path.suffix.lower() == ".csv"
    write = table.to_csv if csv else table.to_parquet
    try:
        write_whole(path, lambda partial: write(partial, index=False))
    except OSError as error:
        raise cannot_write(path, error) from error


def write_text(text: str, path: Path, *, overwrite: bool) -> None:
    """Write a text file, whole or not at all.

    Raises
    ------
    OutputExists
        It is there and may not be replaced, or the place cannot be written.
    """
    if path.is_dir() or (path.exists() and not overwrite):
        raise OutputExists(f"{path} exists; choose another name or give --overwrite.")
    try:
        write_whole(path, lambda partial: partial.write_text(text, "utf-8"), replace=overwrite)
    except OSError as error:
        raise cannot_write(path, error) from error
