"""The audit never hides a hole, and says so where nothing could be looked at."""

from __future__ import annotations

import json

import pytest

from tests.audit import installed, verdict

NONE = {"name": "numpy", "version": "2.4.6", "vulns": []}
HOLE = {"name": "pillow", "version": "1.0", "vulns": [{"id": "PYSEC-1"}]}
UNKNOWN = {"name": "stanli", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("code", "packages", "errors", "expected", "words"),
    [
        (0, [NONE, NONE], "", 0, "no known holes in 2 packages"),
        (0, [NONE, UNKNOWN], "", 0, "no known holes in 1 packages, 1 not looked up (stanli)"),
        (1, [NONE, HOLE], "Found 1 known vulnerability", 1, "pillow 1.0: PYSEC-1"),
        (1, [HOLE, UNKNOWN], "ConnectionError", 1, "pillow 1.0: PYSEC-1"),
        (0, [UNKNOWN], "", 0, "NOT DONE"),
        (1, None, "pip_audit._service.interface.ConnectionError: Max retries", 0, "NOT DONE"),
        (1, None, "ERROR: invalid requirement", 1, "failed (ERROR: invalid requirement)"),
        (2, None, "", 1, "failed (exit code 2)"),
    ],
)
def test_verdict(code: int, packages: list[object] | None, errors: str, expected: int, words: str) -> None:
    answer = "" if packages is None else json.dumps({"dependencies": packages, "fixes": []})
    found, told = verdict(code, answer, errors)
    assert found == expected
    assert words in told


def test_what_the_core_needs_is_audited_and_no_extra() -> None:
    found = installed("maskedadv")
    assert {"numpy", "jinja2", "MarkupSafe"} <= set(found)
    assert not {"torch", "pytest", "maskedadv"} & set(found)
