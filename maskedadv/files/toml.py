"""TOML files of the user's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from maskedadv.errors import InputError, UnreadableFile
from maskedadv.files.sources import reason_of


def read_toml(path: Path, broken: type[InputError]) -> dict[str, Any]:
    """The content of a TOML file, with or without a byte-order mark.

    Parameters
    ----------
    broken
        What a file that is not TOML is called.

    Raises
    ------
    UnreadableFile
        It is not there, or not UTF-8.
    """
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(
            f"{path} cannot be read ({reason_of(error)}); give a TOML file in UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise broken(f"{path} is not TOML ({error}).") from error
