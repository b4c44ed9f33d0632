"""Units in the process at hand."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial

import pytest

from maskedadv.launchers.here import run_here
from maskedadv.launchers.unit import Outcome, Unit


class Circle:
    """Something that holds itself, as a tree's branches hold their root."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize("fails", [False, True])
def test_a_long_unit_leaves_nothing_behind_for_the_next(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    monkeypatch.setattr("maskedadv.launchers.here._LONG", -1.0)
    made: list[weakref.ref[Circle]] = []
    alive: list[bool] = []

    def work(tell: Callable[[str], None], *, number: int) -> int:  # noqa: ARG001
        alive.extend(ref() is not None for ref in made)
        made.append(weakref.ref(Circle()))
        if fails:
            raise RuntimeError("no")
        return number

    gc.disable()
    try:
        units = [Unit(str(k), partial(work, number=k)) for k in range(3)]
        values = [e.value for e in run_here(units, lambda _: None) if isinstance(e, Outcome)]
    finally:
        gc.enable()
    assert values == ([None] * 3 if fails else [0, 1, 2])
    assert alive == [False] * 3
