"""Folders of results: whole or not at all, and never on top of something else."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from maskedadv.errors import OutputExists
from maskedadv.files.atomic import sweep
from maskedadv.files.claims import claim
from maskedadv.files.damage import json_object_or_none
from maskedadv.files.disk import bring_folder_to_disk, bring_to_disk, cannot_write, writing
from maskedadv.files.renaming import exchange, rename_to_new
from maskedadv.files.undisturbed import undisturbed


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
    sweep(path / marker)  # a run killed while it wrote that one left a folder without results
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
    except RuntimeError as error:  # links that lead in a circle
        raise cannot_write(path, OSError(errno.ELOOP, ""), "another folder") from error
    except OSError as error:
        raise cannot_write(path, error, "another folder") from error
    if not usable and not real.is_file():
        raise OutputExists(f"{path} cannot be written (nothing can be made in {above}); give another folder.")


def _fingerprint(path: Path) -> str | None:
    """What a marker file says; None if it is not one of ours."""
    content = json_object_or_none(path)
    return None if content is None or "fingerprint" not in content else str(content["fingerprint"])


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
        The place cannot be written, is being written by another process, or was made by one meanwhile.
    """
    path = path.resolve()  # a link keeps pointing at its folder, whose content is replaced
    with undisturbed() as disturbed, claim(path), writing(path, "another folder"):
        _sweep(path)
        replaces = path.is_dir() and any(path.iterdir())
        partial = Path(tempfile.mkdtemp(prefix=_stem(path), suffix=_SUFFIX, dir=path.parent))
        try:
            os.chmod(partial, 0o777 & ~_umask())
            with disturbed():
                yield partial
                bring_folder_to_disk(partial)
                if replaces:
                    _carry_over(path, partial, is_ours)
            if replaces:
                _take_place(partial, path)
            else:
                _take_free_place(partial, path)
            bring_to_disk(path.parent)
        except OutputExists as error:  # in words that name the hidden folder
            raise OutputExists(str(error).replace(str(partial), str(path))) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)


_SUFFIX, _OLD = ".partial", ".old"


def _stem(path: Path) -> str:
    """How the hidden names beside `path` begin; never the same for two paths."""
    name = path.name
    if len(name) > 40:
        name = f"{name[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:12]}"
    return f".{name}."


def _sweep(path: Path) -> None:
    """Remove what killed runs left, and put back what they had moved away; the claim on `path` is ours."""
    hidden = re.compile(re.escape(_stem(path)) + r"[a-z0-9_]{8}(\.partial|\.old)")
    for left in list(path.parent.iterdir()):
        if not hidden.fullmatch(left.name):
            continue
        if left.name.endswith(_OLD) and (left / path.name).is_dir() and not path.exists():
            os.replace(left / path.name, path)
        shutil.rmtree(left, ignore_errors=True)


def _carry_over(old: Path, new: Path, is_ours: Callable[[str], bool]) -> None:
    """Give the new folder what is not ours in the old one: the same files under two names, until one goes."""
    for entry in old.iterdir():
        target = new / entry.name
        if is_ours(entry.name) or os.path.lexists(target):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target, symlinks=True, copy_function=_link)
        else:
            _link(entry, target)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a disk without links to files
        shutil.copy2(source, target, follow_symlinks=False)


def _take_place(partial: Path, path: Path) -> None:
    """Exchange the two folders in one step, or, where the disk cannot, in two with a way back."""
    if exchange(partial, path):
        return  # the old one now has the temporary name, and goes with it
    away = Path(tempfile.mkdtemp(prefix=_stem(path), suffix=_OLD, dir=path.parent))
    os.replace(path, away / path.name)
    try:
        os.replace(partial, path)
    except BaseException:
        os.replace(away / path.name, path)
        away.rmdir()
        raise
    shutil.rmtree(away)


def _take_free_place(partial: Path, path: Path) -> None:
    """Rename to a name that is free; an empty folder may stand there, anything else appeared meanwhile."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.rmdir()
        rename_to_new(partial, path)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        raise OutputExists(
            f"{path} appeared while this ran, and is not replaced; give another folder."
        ) from error


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
