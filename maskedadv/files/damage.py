"""What reading a damaged file ends in, and how that is said."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from maskedadv.errors import NotAResult

DAMAGE = (OSError, ValueError, KeyError, TypeError, RuntimeError, EOFError, BadZipFile, zlib.error)
"""What reading a damaged file may raise; h5py's own checks of its structure end in a RuntimeError."""


def in_words(error: Exception) -> str:
    """What is wrong, without the names that Python has for it."""
    if isinstance(error, OSError) and error.filename is not None:
        name = Path(str(error.filename)).name
        return f"{name} is missing" if isinstance(error, FileNotFoundError) else f"{name}: {error.strerror}"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON any more, from line {error.lineno} on"
    if isinstance(error, UnicodeDecodeError):
        return "no text in UTF-8"
    if isinstance(error, RecursionError):
        return "brackets in brackets without end"
    if isinstance(error, KeyError):
        return f"it lacks {error.args[0]!r}"
    return (str(error).strip() or "not what was written").splitlines()[0]


def read_json_object(path: Path, mend: str) -> dict[str, Any]:
    """The object in a JSON file of ours.

    Parameters
    ----------
    mend : the end of the sentence, such as "fit again"

    Raises
    ------
    NotAResult
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except DAMAGE as error:
        raise NotAResult(f"{path} is damaged ({in_words(error)}); {mend}.") from error
    if not isinstance(content, dict):
        raise NotAResult(f"{path} is damaged (not the object that was written); {mend}.")
    return content


def json_object_or_none(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file, None where there is none."""
    try:
        return read_json_object(path, "")
    except NotAResult:
        return None
