"""Checks of single arguments: each gives the value in its one form, or says what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskedadv.errors import BadSetting

Check = Callable[[str, Any], Any]
"""From an argument's name and value to the value in its one form."""


class OneOf:
    """One of a few words; with `unset`, also None or '' for the default of the moment, kept as ''."""

    def __init__(self, *allowed: str, unset: bool = False) -> None:
        self.allowed, self.unset = allowed, unset

    def __call__(self, name: str, value: Any) -> str:
        if self.unset and value in (None, ""):
            return ""
        if not isinstance(value, str) or value not in self.allowed:
            raise BadSetting(f"{name} must be one of {', '.join(self.allowed)} (is {value!r}).")
        return value


@dataclass(frozen=True)
class Number:
    """A number between two bounds, which are excluded unless the lowest is allowed."""

    low: float
    high: float
    lowest_allowed: bool = False

    def __call__(self, name: str, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise BadSetting(f"{name} must be a number (is {value!r}).") from None
        if self.lowest_allowed and not self.low <= number < self.high:
            raise BadSetting(f"{name} must be from {self.low:g} to less than {self.high:g} (is {number!r}).")
        if not self.lowest_allowed and not self.low < number < self.high:
            raise BadSetting(f"{name} must lie between {self.low:g} and {self.high:g} (is {number!r}).")
        return number


@dataclass(frozen=True)
class Whole:
    """A whole number within bounds; NumPy's are whole numbers too."""

    low: int
    high: int

    def __call__(self, name: str, value: Any) -> int:
        number = int(value) if isinstance(value, np.integer) else value
        if isinstance(number, bool) or not isinstance(number, int) or not self.low <= number <= self.high:
            raise BadSetting(f"{name} must be a whole number from {self.low} to {self.high} (is {value!r}).")
        return number


@dataclass(frozen=True)
class Maybe:
    """A check whose value may also be None."""

    check: Check

    def __call__(self, name: str, value: Any) -> Any:
        return None if value is None else self.check(name, value)


def text(name: str, value: Any) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise BadSetting(f"{name} must be text (is {value!r}).")
    return value


def language_codes(name: str, value: Any) -> tuple[str, ...] | None:
    """One language code or several; None for no choice."""
    if value is None:
        return None
    if not isinstance(value, str | Sequence):
        raise BadSetting(f"{name} must be a language code or several (is {value!r}).")
    return (value,) if isinstance(value, str) else tuple(value)
