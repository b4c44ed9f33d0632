"""Runs that take long keep what is finished: a folder beside the output, completed by the same command."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import xarray as xr

from maskedadv import __version__
from maskedadv.errors import NotAResult, OutputExists
from maskedadv.files.atomic import whole_name, write_whole
from maskedadv.files.disk import cannot_write
from maskedadv.result.draws import Posterior, read_tree, write_tree
from maskedadv.settings import Settings
from maskedadv.vocabulary import BASE_TABLE


def unfinished_folder(output: Path) -> Path:
    """Where a run that will write `output` keeps its finished locales."""
    output = output.absolute()
    return output.with_name(f"{output.name}.unfinished")


def open_unfinished(
    output: Path, fingerprint: str, settings: Settings, engine: str, *, overwrite: bool
) -> Path:
    """Make the folder, or take up the one that the same run left behind.

    Raises
    ------
    OutputExists
        It holds another run, and `overwrite` is not given; it is not of our making; it cannot be written.
    """
    folder = unfinished_folder(output)
    _require_ours(folder)
    own = {
        "maskedadv": __version__,
        "engine": engine,
        "fingerprint": fingerprint,
        "settings": settings.as_json(),
    }
    text = json.dumps(own, indent=1, ensure_ascii=False)
    note = folder / "run.json"
    if os.path.isdir(folder):
        try:
            same = json.loads(note.read_text("utf-8")) == json.loads(text)
        except (OSError, ValueError):
            same = False
        if same and not overwrite:
            return folder
        if not overwrite:
            raise OutputExists(
                f"{folder} holds the finished locales of another, interrupted run; run that command again to "
                "complete it, give --overwrite to drop it, or another folder."
            )
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True)
        write_whole(note, lambda partial: partial.write_text(text, "utf-8"))
    except OSError as error:
        raise cannot_write(folder, error, "another folder") from error
    return folder


def _require_ours(folder: Path) -> None:
    """Refuse a folder that somebody else made: it would be filled, and removed at the end."""
    if not os.path.lexists(folder):
        return
    try:
        strange = [p.name for p in folder.iterdir() if not _is_ours(p)]
    except OSError:
        strange = [folder.name]
    if strange:
        raise OutputExists(
            f"{folder} is where a long run keeps its finished locales, but holds something else "
            f"({strange[0]!r}); move it, or give another output folder."
        )


def _is_ours(path: Path) -> bool:
    """Whether a run makes files of this name there, whole or (hidden) not yet."""
    name = whole_name(path.name)
    return (
        name == "run.json"
        or name.endswith((".nc", ".nc.sha256"))
        or path.name in {base.name for base in BASE_TABLE}
    )


def keep_tree(tree: xr.DataTree, path: Path) -> Posterior:
    """Write a finished locale, and beside it the SHA-256 by which `kept_tree` knows it."""
    digest = write_tree(tree, path)
    write_whole(_note_of(path), lambda partial: partial.write_text(digest + "\n", "ascii"))
    return Posterior(path, digest)


def kept_tree(path: Path) -> Posterior:
    """A finished locale of an earlier run.

    Raises
    ------
    NotAResult
        It is damaged, or the run was ended between the file and its note.
    """
    try:
        digest = _note_of(path).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotAResult(f"{path} has no SHA-256 beside it; sample again.") from error
    read_tree(path, digest)
    return Posterior(path, digest)


def _note_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def finished_files(folder: Path) -> list[Path]:
    """The posteriors that lie in it, whole."""
    return [path for base in BASE_TABLE for path in (folder / base.name).glob("[!.]*.nc")]


def close_unfinished(output: Path, *, keep_results: bool) -> None:
    """Remove the folder: with everything, or (`keep_results`) only if no locale is finished in it."""
    folder = unfinished_folder(output)
    if not (keep_results and finished_files(folder)):
        shutil.rmtree(folder, ignore_errors=True)
