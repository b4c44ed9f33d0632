"""Tables with right and wrong answers and noisy probabilities, with and without what models know of items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.simulate import answer_rows, expit


def answers(
    models: int,
    items: int,
    *,
    model_item: float = 0.0,
    noise: float = 1.0,
    seed: int = 0,
    locales: tuple[str, ...] = ("zh",),
) -> pd.DataFrame:
    """Rasch answers with a gap of −0.8; `p_correct` is the true probability with noise of this sd (logit).

    `model_item` is the sd of an effect that a model's answers to an item share in all languages.
    """
    rng = np.random.default_rng(seed)
    ability = 1.0 + 0.8 * rng.standard_normal(models)
    parts = []
    for subset in ("CA", "CS"):
        b = 1.2 * rng.standard_normal(items)
        effect = model_item * rng.standard_normal((models, items))
        for language in ("en", *locales):
            eta = ability[:, None] - (0.8 if language != "en" else 0.0) + effect - b
            right = rng.random(eta.shape) < expit(eta)
            p = expit(eta + noise * rng.standard_normal(eta.shape))
            parts.append(answer_rows(right, subset, language, p_correct=p))
    return pd.concat(parts, ignore_index=True)
