"""The arguments of a fit, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maskedadv.errors import BadSetting

METHODS = ("optimize",)
ESTIMATORS = ("joint", "marginal", "auto")
RESPONSES = ("binary", "soft")
SCOPES = ("locale", "joint")
INTERVALS = ("robust", "information", "bootstrap")


@dataclass(frozen=True)
class Settings:
    """What a fit was asked to do; see `maskedadv.fit` for each field."""

    method: str = "optimize"
    estimator: str = "joint"
    response: str = "binary"
    locale: tuple[str, ...] | None = None
    scope: str = "locale"
    pivot: str = "en"
    min_accuracy: float = 0.35
    interval: str = "robust"
    level: float = 0.95
    replicates: int = 1000
    engine: str = "auto"
    seed: int = 1

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        _one_of("estimator", self.estimator, ESTIMATORS)
        _one_of("response", self.response, RESPONSES)
        _one_of("scope", self.scope, SCOPES)
        _one_of("interval", self.interval, INTERVALS)
        _between("level", self.level, 0.0, 1.0)
        if not 0.0 <= self.min_accuracy < 1.0:
            raise BadSetting(f"min_accuracy must be from 0 to less than 1 (is {self.min_accuracy!r}).")
        if not isinstance(self.replicates, int) or self.replicates < 2:
            raise BadSetting(f"replicates must be a whole number of 2 or more (is {self.replicates!r}).")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**31:
            raise BadSetting(f"seed must be a whole number from 0 to 2147483647 (is {self.seed!r}).")


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise BadSetting(f"{name} must be one of {', '.join(allowed)} (is {value!r}).")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise BadSetting(f"{name} must lie between {low:g} and {high:g} (is {value!r}).")
