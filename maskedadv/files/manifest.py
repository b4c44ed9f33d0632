"""The JSON file of a folder of results: it vouches for itself and for the files beside it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maskedadv.errors import NotAResult
from maskedadv.files.damage import read_json_object
from maskedadv.files.digests import is_sealed, read_checked, seal


def write_manifest(path: Path, content: Mapping[str, Any], *, form: int, files: Mapping[str, str]) -> None:
    """Write it, with its own SHA-256.

    Parameters
    ----------
    form : number of the folder's format
    files : SHA-256 of the files beside it, by name
    """
    text = json.dumps(
        seal({"format": form, **content, "files": files}), indent=1, ensure_ascii=False, allow_nan=False
    )
    path.write_text(text + "\n", "utf-8")


def read_manifest(path: Path, *, form: int, mend: str) -> tuple[dict[str, Any], dict[str, str]]:
    """What `write_manifest` was given: content, and SHA-256 by name.

    Parameters
    ----------
    mend : the end of a sentence about damage, such as "fit again"

    Raises
    ------
    NotAResult
        It is of another format, is damaged, or was edited.
    """
    content = read_json_object(path, mend)
    sealed, _ = is_sealed(content), content.pop("sha256", None)
    if "format" not in content:
        raise NotAResult(f"{path} is damaged (it lacks 'format'); {mend}.")
    written = content.pop("format")
    if written != form:
        raise NotAResult(
            f"{path.parent} was written by another version of maskedadv (format {written}, this one reads "
            f"{form}); {mend}."
        )
    if not sealed:
        raise NotAResult(f"{path} is damaged or was edited (another SHA-256); {mend}.")
    return content, content.pop("files")


def open_listed(folder: Path, name: str, files: Mapping[str, str], mend: str) -> io.BytesIO:
    """The bytes of a file that a manifest names.

    Raises
    ------
    NotAResult
        They are others.
    KeyError
        It does not name the file.
    OSError
    """
    return io.BytesIO(read_checked(folder / name, files[name], mend))
