"""Folders of this package's results: tables as CSV, and a JSON file that says what they are."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv import __version__
from maskedadv.errors import NotAResult
from maskedadv.files.damage import DAMAGE, in_words
from maskedadv.files.digests import digests_below
from maskedadv.files.folders import whole_folder
from maskedadv.files.manifest import open_listed, read_manifest, write_manifest

FORMAT = 2


def write_folder(
    path: Path, marker: str, content: Mapping[str, Any], tables: Mapping[str, pd.DataFrame | None]
) -> None:
    """Write tables and the marker, whole or not at all; see `check_folder` for what may be replaced.

    Parameters
    ----------
    marker : name of the JSON file, which gets `content`, the version and the names of the tables
    tables : by stem of their files; None is left out

    Raises
    ------
    OutputExists
    """
    names = [name for name, frame in tables.items() if frame is not None]
    with whole_folder(path, lambda name: name == marker or name.removesuffix(".csv") in tables) as folder:
        for name in names:
            frame = tables[name]
            assert frame is not None
            frame.to_csv(folder / f"{name}.csv", index=False, encoding="utf-8", lineterminator="\n")
        own = {"maskedadv": __version__, **content, "tables": names}
        write_manifest(folder / marker, own, form=FORMAT, files=digests_below(folder))


def read_folder(
    path: Path, marker: str, command: str, texts: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, Any], dict[str, pd.DataFrame]]:
    """What `write_folder` wrote.

    Parameters
    ----------
    command : that writes such folders, for messages
    texts : by table, the columns that are text whatever they look like

    Raises
    ------
    NotAResult
        The folder is none of these, or is damaged.
    """
    mend = f"run maskedadv {command} again"
    if not (path / marker).is_file():
        raise NotAResult(
            f"{path} holds no output of maskedadv {command} (no {marker}); run maskedadv {command} with -o."
        )
    try:
        content, digests = read_manifest(path / marker, form=FORMAT, mend=mend)
        tables = {
            name: _read(open_listed(path, f"{name}.csv", digests, mend), texts.get(name, ()))
            for name in content["tables"]
        }
    except DAMAGE as error:
        raise NotAResult(f"{path} is damaged ({in_words(error)}); {mend}.") from error
    return content, tables


def _read(file: io.BytesIO, texts: tuple[str, ...]) -> pd.DataFrame:
    """Numbers with empty cells, truth values, and texts as they are, `NA` and the like among them."""
    numbers = [c for c in pd.read_csv(file, nrows=0).columns if c not in texts]
    file.seek(0)
    return pd.read_csv(
        file,
        dtype=dict.fromkeys(texts, "object"),
        keep_default_na=False,
        na_values={name: [""] for name in numbers},
    )
