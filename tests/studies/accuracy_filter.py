"""How the accuracy filter selects on the gaps: mean knowledge gap of the models that it leaves, true gap 0.

Run as `python -m tests.studies.accuracy_filter`. Models whose accuracies lie about the filter's 0.35 are left
in by luck, and luck in the local CS cell is a knowledge gap. Paired gaps, whose noise is that of the answers.
"""

from __future__ import annotations

import numpy as np

from maskedadv.likelihoods.paired import counts, find_pairs, log_ratio
from tests.simulate import expit

LEAST = 0.35


def mean_gap(items: int, on: str, *, models: int = 4000, harder: float = 1.0, seed: int = 0) -> tuple:
    """Mean knowledge gap, its Monte Carlo error, and the share of models left.

    Every model has items of its own. Abilities N(0.8, 0.7), a gap of −1 on both subsets, difficulties
    N(0, 1.2), CS items harder by `harder` logits, so that the local CS cell decides who is left in.
    """
    rng = np.random.default_rng([seed, items])
    ability = 0.8 + 0.7 * rng.standard_normal((models, 1))
    gaps, low = [], np.zeros(models, dtype=bool)
    for shift in (0.0, harder):
        b = shift + 1.2 * rng.standard_normal((models, items))
        local, pivot = ((rng.random(b.shape) < expit(ability + g - b)).astype(float) for g in (-1.0, 0.0))
        gaps.append(log_ratio(*counts(find_pairs(local, pivot))))
        low |= pivot.mean(axis=1) <= LEAST
        if on == "all":
            low |= local.mean(axis=1) <= LEAST
    knowledge = gaps[1] - gaps[0]
    kept = ~low & np.isfinite(knowledge) if on != "none" else np.isfinite(knowledge)
    own = knowledge[kept]
    return float(own.mean()), float(own.std() / np.sqrt(len(own))), float(kept.mean())


if __name__ == "__main__":
    for items in (60, 100, 300, 600):
        for on in ("none", "all", "pivot"):
            mean, error, share = mean_gap(items, on, models=20000 if items < 300 else 8000)
            print(f"{items:4d} items, {on:5s}: {mean:+.3f} ± {error:.3f}, {share:.0%} left")
