"""Folders of results: whole or not at all, and never on top of something else."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from maskedadv.errors import OutputExists


def check_folder(path: Path, marker: str, fingerprint: str | None, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, before any work is done.

    A folder without files, or with the results of the same run, may be written; one with other results
    of the same kind only with `overwrite`; one with anything else never.

    Parameters
    ----------
    marker
        JSON file that every folder of this kind has, with the key `fingerprint`.
    fingerprint
        Of what is to be written; None if even the same may not be written again without `overwrite`.

    Raises
    ------
    OutputExists
    """
    _check_place(path)
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputExists(f"{path} is a file; give a folder.")
    if not any(path.iterdir()):
        return
    found = _fingerprint(path / marker)
    if found is None:
        raise OutputExists(
            f"{path} holds something that is no maskedadv result of this kind (no {marker} of ours); "
            "give another folder."
        )
    if not overwrite and (fingerprint is None or found != fingerprint):
        raise OutputExists(
            f"{path} already holds a result; give --overwrite (in Python overwrite=True) to replace it, or "
            "another folder."
        )


def _check_place(path: Path) -> None:
    """Refuse the working folder itself, and places where nothing can be made."""
    try:
        real = path.resolve()
        if real == Path.cwd():
            raise OutputExists(
                f"{path} is the folder you work in, which cannot be replaced; name one inside it."
            )
        above = real if real.exists() else real.parent
        while not above.exists():
            above = above.parent
        usable = above.is_dir() and os.access(above, os.W_OK | os.X_OK)
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); give another folder.") from error
    if not usable and not real.is_file():
        raise OutputExists(f"{path} cannot be written (nothing can be made in {above}); give another folder.")


def _fingerprint(path: Path) -> str | None:
    """What a marker file says; None if it is not one of ours."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or "fingerprint" not in content:
        return None
    return str(content["fingerprint"])


@contextmanager
def whole_folder(path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """A temporary folder that takes the place of `path` at the end, unless there was an error.

    Parameters
    ----------
    is_ours
        Whether a name inside an existing folder is one that we write. Everything else is carried over into
        the new folder: what somebody laid beside our files is theirs.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    path = path.resolve()  # a link keeps pointing at its folder, whose content is replaced
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); give another folder.") from error
    try:
        os.chmod(partial, 0o777 & ~_umask())
        yield partial
        if path.exists():
            _take_place(partial, path, is_ours)
        else:
            os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _take_place(partial: Path, path: Path, is_ours: Callable[[str], bool]) -> None:
    old = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.old.", dir=path.parent))
    kept = old / path.name
    os.replace(path, kept)
    try:
        os.replace(partial, path)
    except BaseException:
        os.replace(kept, path)
        old.rmdir()
        raise
    for entry in kept.iterdir():
        if not is_ours(entry.name) and not (path / entry.name).exists():
            os.replace(entry, path / entry.name)
    shutil.rmtree(old)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
