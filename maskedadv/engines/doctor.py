"""Fit five rows on every engine and compare with an independent Newton solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maskedadv.engines.choose import choose_engine
from maskedadv.engines.table import ENGINES
from maskedadv.errors import EngineFailed, EngineMissing, NotConverged


@dataclass(frozen=True)
class Trial:
    """Whether an engine is there and gives the right answer; `text` says it in words."""

    name: str
    found: bool
    works: bool
    text: str


def try_engines() -> list[Trial]:
    """Try every engine on three items and two cells, five answers between 0 and 1."""
    return [_try(name) for name in ENGINES]


def _try(name: str) -> Trial:
    from maskedadv.likelihoods import rasch as joint
    from maskedadv.maximum_likelihood.joint_optimum import stan_data
    from maskedadv.maximum_likelihood.stan_optimum import contrast_data

    trials = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    successes = np.array([[0.8, 0.6, 0.7], [0.4, 0.5, 0.0]])
    start = {"ability": np.zeros(2), "difficulty": np.zeros(3)}
    try:
        engine = choose_engine(name)
        data = stan_data(trials, successes) | contrast_data(np.array([[1, 0]]))
        stop = engine.optimize("ml_joint", data, start, seed=1)
    except EngineMissing as error:
        return Trial(name, False, False, f"not found: {error}")
    except (EngineFailed, NotConverged) as error:
        return Trial(name, True, False, f"FAILS: {error}")
    right = joint.solve(trials, successes.sum(axis=1), successes.sum(axis=0), np.zeros(2), np.zeros(3))
    gap = float(np.atleast_1d(stop.variables["gap"])[0])  # the program's own
    off = abs(gap - (right.ability[1] - right.ability[0]))
    works = bool(off < 1e-4)
    verdict = "works" if works else "WRONG ANSWER"
    return Trial(
        name,
        True,
        works,
        f"{verdict}: {engine.version}, five rows give a gap of {gap:.4f} (off by {off:.1e})",
    )
