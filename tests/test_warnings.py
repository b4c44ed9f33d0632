"""Kinds of warnings stand in a file for each concern, and none is forgotten."""

from __future__ import annotations

from pathlib import Path

from maskedadv import warnings
from maskedadv.warnings.find import FILES


def test_every_file_of_kinds_is_asked():
    folder = Path(str(warnings.__file__)).parent
    machinery = {"__init__", "kinds", "find"}
    assert {path.stem for path in folder.glob("*.py")} - machinery == {
        file.__name__.rsplit(".", 1)[-1] for file in FILES
    }


def test_every_function_that_is_entered_is_asked_once():
    entered = [line for file in FILES for line in Path(str(file.__file__)).read_text().splitlines()]
    assert len(warnings.KINDS) == sum(line.startswith("@kind(") for line in entered) > 15
