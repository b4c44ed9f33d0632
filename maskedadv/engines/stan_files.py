"""Where the Stan programs lie, and their text with `#include` lines resolved."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_INCLUDE = re.compile(r"^#include\s+[\"<]?([^\s\">]+)[\">]?\s*$", re.MULTILINE)


def stan_folder() -> Path:
    """The folder of the programs: inside an installed package, or beside it in a checkout."""
    inside = _PACKAGE / "stan"
    return inside if inside.is_dir() else _PACKAGE.parent / "stan"


@lru_cache
def program_text(program: str) -> str:
    """Text of a program (such as "ml_joint"), self-contained.

    Raises
    ------
    FileNotFoundError
        The installation lacks the program.
    """
    folder = stan_folder()

    def resolve(text: str) -> str:
        return _INCLUDE.sub(lambda m: resolve((folder / m.group(1)).read_text("utf-8")), text)

    return resolve((folder / f"{program}.stan").read_text("utf-8"))
