"""How far a model is, how fast, and how long it will take: one line, at most every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from maskedadv.words.numbers import clock

_SECONDS = 5.0


class Progress:
    """Counts items done and an amount of work (tokens, or money), and reports in words."""

    def __init__(self, model: str, unit: str, n_items: int, report: Callable[[str], None]) -> None:
        self._model, self._unit, self._n_items, self._report = model, unit, n_items, report
        self._language = ""
        self._items, self._amount = 0, 0.0
        self._begun = self._last = time.monotonic()

    def of(self, language: str) -> Progress:
        """Say which language comes now."""
        self._language = language
        return self

    def add(self, items: int, amount: float) -> None:
        """Count items done and the work they were."""
        self._items += items
        self._amount += amount
        now = time.monotonic()
        if now - self._last >= _SECONDS or self._items == self._n_items:
            self._last = now
            self._report(self.line(now - self._begun))

    def line(self, seconds: float) -> str:
        """The state in one line."""
        rate = self._amount / max(seconds, 1e-9)
        left = seconds * (self._n_items - self._items) / max(self._items, 1)
        return (
            f"{self._model}  {self._language}  {self._items:,} of {self._n_items:,} items  "
            f"{rate:,.0f} {self._unit}/s  {clock(left)} left"
        )
