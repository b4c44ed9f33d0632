"""Shared fixtures: where real outcomes and independent reference numbers lie, when present."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, however long a busy machine takes for one: a failure is a change in the
# code, never luck.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

# One thread of linear algebra, as the command line has it: a second one waits in a busy loop more than it
# computes, and takes the core of the other half of the tests. Set before NumPy or torch are imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The documentation's tests first: one file, the longest of all, would be waited for alone at the end."""
    items.sort(key=lambda item: item.path.parent != ROOT / "tests")


@pytest.fixture
def shared() -> Path:
    """The folder of reference material that is not part of the project; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared is not here")
    return SHARED


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are written with empty figures: drawing them takes nine tenths of a page's time."""
    from maskedadv.reports import write

    monkeypatch.setattr(write, "draw_svg", lambda _: '<svg viewBox="0 0 72 72"></svg>')
    monkeypatch.setattr(write, "draw_marked", lambda *_: ('<svg viewBox="0 0 72 72"></svg>', ""))
