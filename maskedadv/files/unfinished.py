"""What a long run keeps beside its output, a folder or a journal, for the same command to complete."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from maskedadv.errors import OutputExists
from maskedadv.files.atomic import whole_name, write_whole
from maskedadv.files.damage import json_object_or_none
from maskedadv.files.disk import cannot_write

NOTE = "run.json"


def unfinished_folder(output: Path) -> Path:
    """Where a run that will write `output` keeps what is finished."""
    output = output.absolute()
    return output.with_name(f"{output.name}.unfinished")


def journal_file(output: Path | None) -> Path | None:
    """Where a run that keeps lines instead of files keeps them; None where it writes no output."""
    return None if output is None else output.with_name(f".{output.name}.unfinished")


def take_up(
    output: Path,
    run: Mapping[str, Any],
    *,
    is_ours: Callable[[str], bool],
    keeps: str,
    holds: str,
    worth_keeping: Callable[[Path], bool],
    overwrite: bool,
) -> Path:
    """Make the folder, or take up the one that the same run left behind.

    Parameters
    ----------
    run : what tells this run from others, as JSON
    is_ours : whether a run makes files of this name there
    keeps, holds : in words, what the folder is for, and what another run left in it
    worth_keeping : whether what another run left must not be dropped without `overwrite`

    Raises
    ------
    OutputExists
        It holds another run, and `overwrite` is not given; it is not of our making; it cannot be written.
    """
    folder = unfinished_folder(output)
    if os.path.lexists(folder):
        _require_ours(folder, is_ours, keeps)
    text = json.dumps(run, indent=1, ensure_ascii=False, sort_keys=True)
    if os.path.isdir(folder):
        if json_object_or_none(folder / NOTE) == json.loads(text) and not overwrite:
            return folder
        if not overwrite and worth_keeping(folder):
            raise OutputExists(
                f"{folder} holds {holds}; run that command again to complete it, give --overwrite to drop "
                "it, or another folder."
            )
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True)
        write_whole(folder / NOTE, lambda partial: partial.write_text(text, "utf-8"))
    except OSError as error:
        raise cannot_write(folder, error, "another folder") from error
    return folder


def _require_ours(folder: Path, is_ours: Callable[[str], bool], keeps: str) -> None:
    """Refuse a folder that somebody else made: it would be filled, and removed at the end."""
    try:
        names = [p.name for p in folder.iterdir()]
        strange = [n for n in names if whole_name(n) != NOTE and not is_ours(n)]
    except OSError:
        strange = [folder.name]
    if strange:
        raise OutputExists(
            f"{folder} is where {keeps}, but holds something else ({strange[0]!r}); move it, or give another "
            "output folder."
        )
