"""What to sample of one locale, and what an engine is given for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.engines import Sampler
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.priors import Priors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """One locale to sample, complete: it can be sent to another process.

    `chance` holds the guessing floor of every item of either subset, shapes (I_s,), or is None.
    With `paired`, models are compared on their own pairs alone: the layout holds no others (`pairs_only`).
    With `log_likelihood` the posterior holds that of every item.
    """

    layout: Layout
    response: str
    estimator: str
    priors: Priors
    sampler: Sampler
    chains: int
    engine: str
    seed: int
    threads: int | None = None
    marginal_at_any_cost: bool = False
    chance: tuple[Array, Array] | None = None
    paired: bool = False
    log_likelihood: bool = False


@dataclass(frozen=True)
class Plan:
    """What an engine is given for a task: program, data, starting values of every chain.

    `constants` is what the program's own functions need once more when draws come back (nodes and the like).
    """

    program: str
    estimator: str
    why: str
    data: dict[str, Any]
    inits: list[dict[str, Array | float]]
    constants: Any
    seed: int


def locale_seed(seed: int, locale: str) -> int:
    """A seed of the locale's own, so that its draws do not depend on which others are fitted."""
    digest = hashlib.sha256(f"{seed}\0{locale}".encode()).digest()
    return int.from_bytes(digest[:4], "little") % (2**31 - 1) + 1
