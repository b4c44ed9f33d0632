"""The arguments of a fit, checked once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from maskedadv.errors import BadSetting
from maskedadv.sampling.priors import Priors, make_priors

METHODS = ("optimize", "nuts")
ESTIMATORS = ("joint", "marginal", "auto")
RESPONSES = ("binary", "soft", "crm")
SCOPES = ("locale", "joint")
INTERVALS = ("robust", "information", "bootstrap", "posterior")
METRICS = ("diag_e", "dense_e", "unit_e")


@dataclass(frozen=True)
class Settings:
    """What a fit was asked to do; see `maskedadv.fit` for each field."""

    method: str = "optimize"
    estimator: str = ""  # empty: joint under optimize, auto under nuts
    response: str = "binary"
    locale: tuple[str, ...] | None = None
    scope: str = "locale"
    pivot: str = "en"
    min_accuracy: float = 0.35
    interval: str = ""  # empty: robust under optimize, posterior under nuts
    level: float = 0.95
    replicates: int = 1000
    engine: str = "auto"
    seed: int = 1
    chains: int = 4
    warmup: int = 1000
    draws: int = 1000
    adapt_delta: float = 0.9
    max_treedepth: int = 10
    metric: str = "diag_e"
    priors: Mapping[str, float] | Priors | None = None
    guessing: str = "auto"
    options: int | None = None
    link: str = "auto"
    variants: str = "auto"

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        nuts = self.method == "nuts"
        if not self.estimator:
            object.__setattr__(self, "estimator", "auto" if nuts else "joint")
        if not self.interval:
            object.__setattr__(self, "interval", "posterior" if nuts else "robust")
        object.__setattr__(self, "priors", asdict(make_priors(self.priors)) if nuts else None)
        _one_of("estimator", self.estimator, ESTIMATORS)
        _one_of("response", self.response, RESPONSES)
        _one_of("scope", self.scope, SCOPES)
        _one_of("interval", self.interval, INTERVALS)
        for name in ("level", "min_accuracy", "adapt_delta"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        for name in ("replicates", "seed", "chains", "warmup", "draws", "max_treedepth"):
            object.__setattr__(self, name, _integer(getattr(self, name)))
        _between("level", self.level, 0.0, 1.0)
        if not 0.0 <= self.min_accuracy < 1.0:
            raise BadSetting(f"min_accuracy must be from 0 to less than 1 (is {self.min_accuracy!r}).")
        _whole("replicates", self.replicates, 10, 10**7)
        _whole("seed", self.seed, 0, 2**31 - 1)
        _whole("chains", self.chains, 1, 64)
        _whole("warmup", self.warmup, 1, 10**6)
        _whole("draws", self.draws, 4, 10**6)
        _whole("max_treedepth", self.max_treedepth, 1, 20)
        _between("adapt_delta", self.adapt_delta, 0.0, 1.0)
        _one_of("metric", self.metric, METRICS)
        object.__setattr__(self, "guessing", _guessing(self.guessing))
        object.__setattr__(self, "options", _integer(self.options))
        _one_of("link", self.link, ("auto", "none", "english"))
        _one_of("variants", self.variants, ("auto", "none"))
        if self.options is not None:
            _whole("options", self.options, 2, 1000)
        self._agree()

    def _agree(self) -> None:
        """Refuse settings that exclude each other."""
        if self.guessing not in ("auto", "none") and self.response != "binary":
            raise BadSetting("a guessing floor goes with response 'binary' only.")
        if self.variants == "none" and (self.guessing not in ("auto", "none") or self.link == "english"):
            raise BadSetting("variants 'none' excludes a guessing floor and a link; leave one of them out.")
        if self.method == "nuts":
            if self.response == "soft":
                raise BadSetting(
                    "response 'soft' is a quasi-likelihood and has no posterior; use binary, crm or "
                    "method 'optimize'."
                )
            if self.scope == "joint":
                raise BadSetting("scope 'joint' goes with method 'optimize' only; nuts fits each locale.")
            if self.interval != "posterior":
                raise BadSetting(f"interval '{self.interval}' goes with method 'optimize' only.")
        elif self.interval == "posterior":
            raise BadSetting("interval 'posterior' goes with method 'nuts' only.")
        if self.response == "soft" and self.estimator == "marginal":
            raise BadSetting(
                "response 'soft' has no marginal estimator: the spread of difficulty is told from the noise "
                "of right and wrong, which soft answers lack, and gaps would shrink; use joint."
            )
        if self.response == "crm" and self.estimator == "marginal":
            raise BadSetting(
                "response 'crm' has no marginal estimator; joint does not inflate its gaps, use that."
            )

    def as_json(self) -> dict[str, Any]:
        """Plain texts, numbers and lists."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def settings_from_json(values: Mapping[str, Any]) -> Settings:
    """What `Settings.as_json` gave.

    Raises
    ------
    TypeError, BadSetting
    """
    own = dict(values)
    own["locale"] = None if own["locale"] is None else tuple(own["locale"])
    return Settings(**own)


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise BadSetting(f"{name} must be one of {', '.join(allowed)} (is {value!r}).")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise BadSetting(f"{name} must lie between {low:g} and {high:g} (is {value!r}).")


def _whole(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadSetting(f"{name} must be a whole number from {low} to {high} (is {value!r}).")


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadSetting(f"{name} must be a number (is {value!r}).") from None


def _integer(value: object) -> object:
    """NumPy's whole numbers are whole numbers too."""
    return int(value) if isinstance(value, np.integer) else value


def _guessing(value: str | float) -> str:
    """`auto`, `none`, `chance`, or a number from 0 to below 1 as text."""
    text = str(value)
    if text in ("auto", "none", "chance"):
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 1.0:
        raise BadSetting(
            f"guessing must be auto, none, chance or a number from 0 to less than 1 (is {value!r})."
        )
    return repr(number)
