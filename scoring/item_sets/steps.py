"""The file of a step: made once, found again as long as nothing that it was made of has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv import __version__
from maskedadv.errors import OutputExists
from maskedadv.files.claims import claim
from maskedadv.scoring.item_sets.tables import write_step
from maskedadv.scoring.launch.store import may_pass, read_answers, stored_key


def fingerprint_of(step: str, **made_of: Any) -> dict[str, Any]:
    """All that decides the content of a step's file."""
    return {"maskedadv.item_sets": step, "maskedadv": __version__, **made_of}


def step_file(
    path: Path, fingerprint: Mapping[str, Any], make: Callable[[], pa.Table], *, again: bool = False
) -> tuple[pa.Table, bool]:
    """The table of a step, and whether it was made now.

    Parameters
    ----------
    fingerprint
        From `fingerprint_of`. A file with another one is replaced.
    again
        Whether a table in which something failed for passing reasons is made anew.

    Raises
    ------
    OutputExists
        Another process makes it: both would pay for the same answers.
    """
    with claim(path):
        table = read_answers(path, fingerprint)
        if table is not None and not (again and failed(table)):
            return table, False
        table = make()
        write_step(path, table, fingerprint)
        return table, True


def failed(table: pa.Table) -> int:
    """Rows without an answer that another try may have."""
    if "reason" not in table.column_names:
        return 0
    return sum(may_pass(reason or "") for reason in table["reason"].to_pylist())


def refuse_other(path: Path, fingerprint: Mapping[str, Any], *, overwrite: bool) -> None:
    """Refuse a place that holds something else than an earlier run of the same step.

    Raises
    ------
    OutputExists
    """
    if path.is_dir() or (path.exists() and not overwrite and stored_key(path) != fingerprint):
        raise OutputExists(
            f"{path} exists and is not of the same items, models and settings; choose another name or give "
            "--overwrite."
        )
