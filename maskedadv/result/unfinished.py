"""Runs that take long keep what is finished: a folder beside the output, completed by the same command."""

from __future__ import annotations

import shutil
from pathlib import Path

import xarray as xr

from maskedadv import __version__
from maskedadv.errors import NotAResult
from maskedadv.files.atomic import whole_name, write_whole
from maskedadv.files.unfinished import take_up, unfinished_folder
from maskedadv.result.draws import Posterior, read_tree, write_tree
from maskedadv.settings import Settings
from maskedadv.vocabulary import BASE_TABLE


def open_unfinished(
    output: Path, fingerprint: str, settings: Settings, engine: str, *, overwrite: bool
) -> Path:
    """Make the folder of finished locales, or take up the one that the same run left behind.

    Raises
    ------
    OutputExists
        It holds another run, and `overwrite` is not given; it is not of our making; it cannot be written.
    """
    run = {
        "maskedadv": __version__,
        "engine": engine,
        "fingerprint": fingerprint,
        "settings": settings.as_json(),
    }
    return take_up(
        output,
        run,
        is_ours=_is_ours,
        keeps="a long run keeps its finished locales",
        holds="the finished locales of another, interrupted run",
        worth_keeping=lambda folder: bool(finished_files(folder)),
        overwrite=overwrite,
    )


def _is_ours(name: str) -> bool:
    """Whether a run makes files of this name there, whole or (hidden) not yet."""
    return whole_name(name).endswith((".nc", ".nc.sha256")) or name in {base.name for base in BASE_TABLE}


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
