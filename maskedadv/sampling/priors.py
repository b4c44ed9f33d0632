"""Priors as plain numbers; `docs/explanation/priors.md` gives the reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from maskedadv.errors import BadSetting


@dataclass(frozen=True)
class Priors:
    """What is believed before the answers are seen; all in logits, each for both subsets alike.

    Attributes
    ----------
    level
        sd of the mean ability of a subset, against the mean difficulty of its items: N(0, level).
    gap
        sd of the mean gap of a subset over models: N(0, gap).
    spread, spread_log_sd
        Median and log-sd of the abilities' sd over models, in each of the four cells: lognormal.
    correlation
        LKJ shape of the correlations between a model's four abilities; 1 is uniform.
    difficulty, difficulty_log_sd
        Median and log-sd of the difficulties' sd over the items of a subset: lognormal.
    noise, noise_log_sd
        Median and log-sd of the sd of one continuous response (`crm` only): lognormal.
    """

    level: float = 2.5
    gap: float = 1.5
    spread: float = 1.0
    spread_log_sd: float = 0.7
    correlation: float = 2.0
    difficulty: float = 1.5
    difficulty_log_sd: float = 0.7
    noise: float = 2.0
    noise_log_sd: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
                raise BadSetting(f"prior {name} must be a number (is {value!r}).")
            if not (math.isfinite(value) and 1e-3 <= value <= 1e3):
                raise BadSetting(f"prior {name} must lie between 0.001 and 1000 (is {value!r}).")
            object.__setattr__(self, name, float(value))


def make_priors(given: Mapping[str, float] | Priors | None) -> Priors:
    """Defaults with the named ones replaced.

    Raises
    ------
    BadSetting
        An unknown name or a number outside its range.
    """
    if isinstance(given, Priors):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise BadSetting(f"priors must be names with numbers, such as {{'gap': 1.0}} (is {given!r}).")
    names = [f.name for f in fields(Priors)]
    unknown = [k for k in given or {} if k not in names]
    if unknown:
        raise BadSetting(f"prior {unknown[0]!r} is unknown; there are {', '.join(names)}.")
    return Priors(**dict(given or {}))


def parse_priors(texts: tuple[str, ...]) -> dict[str, float]:
    """`("gap=1", ...)` from the command line to numbers.

    Raises
    ------
    BadSetting
    """
    out: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name.strip() in out:
            raise BadSetting(f"--prior {name.strip()} is given twice; give every prior once.")
        try:
            out[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise BadSetting(f"--prior {text!r} is not NAME=NUMBER, such as --prior gap=1.5.")
    return out
