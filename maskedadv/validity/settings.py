"""What a study can be told: resamples, levels, thresholds, seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from maskedadv.errors import BadSetting
from maskedadv.settings import LEVEL


@dataclass(frozen=True)
class Settings:
    """Settings of a study, checked when made.

    Attributes
    ----------
    n_resamples
        Bootstrap resamples of the models.
    level
        Level of intervals.
    alpha
        Level of the nested F test and of the refits.
    seed
        Seed of every random number.
    interval
        Intervals of the regressions: "expanded", percentiles widened from normal to t quantiles, or
        "percentile", as in the paper (with 29 models their coverage is 0.94 and 0.93).
    resample
        "models", or "families" to draw whole families, which allows for models of a family being alike.
    repeats
        Random balanced halves in Block A.
    min_items
        Fewest CA or CS items for Block A to be interpreted.
    scores
        "accuracy", or "ability" for the abilities of fitted cubes.
    reliability
        Reliabilities stated by name of a benchmark, benchmark@language or control; a mapping, kept as
        pairs. They count before what item counts and standard errors tell.
    assumed_reliability
        Least reliability that a control of unknown reliability is thought to have: a class is given where
        it is the same there and at 1.

    Raises
    ------
    BadSetting
    """

    n_resamples: int = 10_000
    level: float = LEVEL
    alpha: float = 0.05
    seed: int = 1
    interval: str = "expanded"
    resample: str = "models"
    repeats: int = 200
    min_items: int = 50
    scores: str = "accuracy"
    reliability: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    assumed_reliability: float = 0.9

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("n_resamples", self.n_resamples, 100, 1_000_000),
            ("seed", self.seed, 0, 2**63),
            ("repeats", self.repeats, 1, 100_000),
            ("min_items", self.min_items, 1, 10**9),
        ):
            if not low <= value <= high:
                raise BadSetting(f"{name} must be from {low} to {high}, not {value}.")
        for name, share in (("level", self.level), ("alpha", self.alpha)):
            if not 0 < share < 1:
                raise BadSetting(f"{name} must lie between 0 and 1, not {share}.")
        if not 0 < self.assumed_reliability <= 1:
            raise BadSetting(
                f"assumed_reliability must be above 0 and up to 1, not {self.assumed_reliability}."
            )
        object.__setattr__(self, "reliability", _reliabilities(self.reliability))
        for name, word, words in (
            ("interval", self.interval, ("expanded", "percentile")),
            ("resample", self.resample, ("models", "families")),
            ("scores", self.scores, ("accuracy", "ability")),
        ):
            if word not in words:
                raise BadSetting(f"{name} must be {' or '.join(words)}, not {word!r}.")


Pairs = tuple[tuple[str, float], ...]


def _reliabilities(stated: Mapping[str, float] | Pairs) -> Pairs:
    """Sorted pairs of a name and a number above 0 and up to 1."""
    pairs = sorted(dict(stated).items())
    for name, value in pairs:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise BadSetting(f"the reliability of {name!r} must be above 0 and up to 1, not {value!r}.")
    return tuple((name, float(value)) for name, value in pairs)
