"""The candidates, as a table: to add one, write how it predicts and enter it here.

The four rows below `base rate` are the 2 × 2 of arXiv 2606.07422, Table 4: right and wrong answers or
probabilities (`crm`), maximum likelihood or NUTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.cross_validation import from_estimates as ml
from maskedadv.cross_validation import from_posteriors as draws
from maskedadv.cross_validation.training import Training, base_rates
from maskedadv.engines import Engine
from maskedadv.settings import Settings

Array = NDArray[np.float64]

ESTIMATES, DRAWS = "optimize", "nuts"


@dataclass(frozen=True)
class Candidate:
    """One way to predict.

    Attributes
    ----------
    name : in tables and on the command line
    response, method, estimator : as in `Settings`
    words : what it is
    block : predictions (C, I) of one subset (`optimize`)
    locale : posterior, and predictions (C, I) of one subset from it (`nuts`)
    new_items : whether it knows a distribution of difficulties
    with_floor : whether it needs a guessing floor
    """

    name: str
    response: str
    method: str
    estimator: str
    words: str
    block: Callable[[Training, Settings, Engine], Array] | None = None
    posterior: Mapping[str, bool] | None = field(default=None, hash=False)
    subset: Callable[[int, Training, Any], Array] | None = None
    new_items: bool = True
    with_floor: bool = False

    def settings(self, common: Mapping[str, Any]) -> Settings:
        """Settings of its fits, on top of what all fits share."""
        own = {
            "response": self.response,
            "method": self.method,
            "estimator": self.estimator,
            "interval": "posterior" if self.method == DRAWS else "information",
        }
        less = set() if self.response == "binary" else {"guessing"}
        return Settings(**({k: v for k, v in common.items() if k not in less} | own))

    def predict(
        self,
        training: Mapping[int, Training],
        settings: Settings,
        engine: Engine,
    ) -> dict[int, Array]:
        """Predictions (C, I) of the subsets of one locale, NaN where there is none."""
        if self.block is not None:
            return {s: self.block(t, settings, engine) for s, t in training.items()}
        assert self.posterior is not None
        assert self.subset is not None
        posterior = draws.sample(training, settings, engine, **self.posterior)
        return {s: self.subset(s, t, posterior) for s, t in training.items()}


def _base(t: Training, settings: Settings, engine: Engine) -> Array:  # noqa: ARG001
    return base_rates(t)


CANDIDATES = (
    Candidate(
        "base rate",
        "binary",
        ESTIMATES,
        "joint",
        "the share of right answers of a model in a language",
        _base,
    ),
    Candidate(
        "joint",
        "binary",
        ESTIMATES,
        "joint",
        "right and wrong answers, abilities and difficulties by joint maximum likelihood",
        ml.joint,
        new_items=False,
    ),
    Candidate(
        "nuts",
        "binary",
        DRAWS,
        "auto",
        "right and wrong answers, the full posterior",
        posterior={},
        subset=draws.from_difficulties,
    ),
    Candidate(
        "crm",
        "crm",
        ESTIMATES,
        "joint",
        "logits of the probabilities, the continuous response model by least squares",
        ml.continuous,
        new_items=False,
    ),
    Candidate(
        "crm-nuts",
        "crm",
        DRAWS,
        "auto",
        "logits of the probabilities, the full posterior of the continuous response model",
        posterior={},
        subset=draws.from_difficulties,
    ),
    Candidate(
        "soft",
        "soft",
        ESTIMATES,
        "joint",
        "probabilities as shares of right answers, by joint maximum likelihood",
        ml.joint,
        new_items=False,
    ),
    Candidate(
        "marginal",
        "binary",
        ESTIMATES,
        "marginal",
        "right and wrong answers, difficulties integrated out",
        ml.marginal,
    ),
    Candidate(
        "floor",
        "binary",
        ESTIMATES,
        "marginal",
        "as marginal, a right answer may be a guess",
        ml.floor,
        with_floor=True,
    ),
    Candidate(
        "pairs",
        "binary",
        ESTIMATES,
        "marginal",
        "as marginal, with what a model knows of single items (model × item effects)",
        ml.pair_effects,
    ),
    Candidate(
        "pairs+floor",
        "binary",
        ESTIMATES,
        "marginal",
        "as pairs, a right answer may be a guess",
        ml.pair_effects_floor,
        with_floor=True,
    ),
    Candidate(
        "paired",
        "binary",
        ESTIMATES,
        "marginal",
        "every model by itself, from its other answer to the item",
        ml.paired,
    ),
    Candidate(
        "paired+floor",
        "binary",
        ESTIMATES,
        "marginal",
        "as paired, a right answer may be a guess",
        ml.paired_with_floor,
        with_floor=True,
    ),
    Candidate(
        "floor-nuts",
        "binary",
        DRAWS,
        "auto",
        "as nuts, a right answer may be a guess",
        posterior={"with_floor": True},
        subset=draws.from_integrals,
        with_floor=True,
    ),
    Candidate(
        "paired-nuts",
        "binary",
        DRAWS,
        "auto",
        "the posterior of every model by itself, from its other answer to the item",
        posterior={"paired": True},
        subset=draws.from_pairs,
    ),
    Candidate(
        "paired+floor-nuts",
        "binary",
        DRAWS,
        "auto",
        "as paired-nuts, a right answer may be a guess",
        posterior={"paired": True, "with_floor": True},
        subset=partial(draws.from_pairs, with_floor=True),
        with_floor=True,
    ),
)

NAMES = tuple(c.name for c in CANDIDATES)
BY_NAME = {c.name: c for c in CANDIDATES}
