"""Folders of results: whole or not at all, and never on top of something else."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maskedadv.errors import OutputExists


def check_folder(path: Path, marker: str, fingerprint: str, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, before any work is done.

    A folder without files, or with the results of the same run, may be written; one with other results
    of the same kind only with `overwrite`; one with anything else never.

    Parameters
    ----------
    marker
        JSON file that every folder of this kind has, with the key `fingerprint`.

    Raises
    ------
    OutputExists
    """
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputExists(f"{path} is a file; give a folder.")
    if not any(path.iterdir()):
        return
    if not (path / marker).is_file():
        raise OutputExists(f"{path} holds something else (no {marker}); give another folder.")
    if not overwrite and _fingerprint(path / marker) != fingerprint:
        raise OutputExists(
            f"{path} holds other results; give --overwrite to replace them, or another folder."
        )


def _fingerprint(path: Path) -> str:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    return str(content.get("fingerprint", "")) if isinstance(content, dict) else ""


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder that takes the place of `path` at the end, unless there was an error."""
    path = path.absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); give another folder.") from error
    try:
        os.chmod(partial, 0o755)
        yield partial
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            os.replace(path, old / path.name)
            os.replace(partial, path)
            shutil.rmtree(old)
        else:
            os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
