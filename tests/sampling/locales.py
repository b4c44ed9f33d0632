"""Layouts of locales for the tests of NUTS."""

from __future__ import annotations

import numpy as np
import pandas as pd

from maskedadv.datasets import global_mmlu_lite
from maskedadv.design.answered import Answered
from maskedadv.design.blocks import build_block, observed_values
from maskedadv.engines import Sampler
from maskedadv.responses import read_responses
from maskedadv.sampling.layout import Layout, build_layout
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import Task


def layout_of(table: pd.DataFrame, locale: str, response: str = "binary") -> Layout:
    responses = read_responses(table)
    answered = Answered(responses, observed_values(responses, response))
    blocks = {s: build_block(answered, subset=s, locales=[locale], pivot="en") for s in (0, 1)}
    return build_layout({s: b for s, b in blocks.items() if b is not None}, locale, "en")


def real(locale: str, *, missing: float = 0.0, seed: int = 0) -> Layout:
    """Real outcomes of six systems in one locale, with random holes if asked for."""
    table = global_mmlu_lite()
    seen = np.random.default_rng(seed).random(len(table)) >= missing
    return layout_of(table[seen], locale)


def task(layout: Layout, estimator: str = "auto", **changes: object) -> Task:
    """A task; the estimator `forced` is marginal at any cost."""
    values: dict[str, object] = {
        "layout": layout,
        "response": "binary",
        "estimator": "marginal" if estimator == "forced" else estimator,
        "marginal_at_any_cost": estimator == "forced",
        "priors": Priors(),
        "sampler": Sampler(),
        "chains": 4,
        "engine": "embedded",
        "seed": 1,
    }
    return Task(**(values | changes))  # type: ignore[arg-type]
