"""All three artefacts at once, every variant: bias, coverage, share called clear.

Run as `python -m tests.studies.three_artefacts MODELS SETS KNOWLEDGE_GAP`. A floor of 0.25, CS items of 0.7
times the discrimination, model × item effects of sd 0.3 on CA and 1.5 on CS. The gap in ability is −1.5 on CA
and −1.5 plus the true knowledge gap on CS, in CA's unit.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import maskedadv
from maskedadv.vocabulary import VARIANTS
from tests.simulate import expit

CHANCE, SLOPE, OWN, ITEMS = 0.25, 0.7, (0.3, 1.5), 600


def table(rng: np.random.Generator, models: int, knowledge: float) -> pd.DataFrame:
    """Abilities N(1.2, 0.8), difficulties N(0, 1)."""
    ability = 1.2 + 0.8 * rng.standard_normal((models, 1))
    parts = []
    for subset, slope, own, more in zip(("CA", "CS"), (1.0, SLOPE), OWN, (0.0, knowledge), strict=True):
        b = rng.standard_normal(ITEMS)
        known = own * rng.standard_normal((models, ITEMS))
        for language, gap in (("en", 0.0), ("zh", -1.5 + more)):
            p = CHANCE + (1 - CHANCE) * expit(slope * (ability + gap - b) + known)
            model, item = np.indices(p.shape)
            parts.append(
                pd.DataFrame(
                    {
                        "model": [f"m{j:02d}" for j in model.ravel()],
                        "subset": subset,
                        "language": language,
                        "item": [f"{subset}{i}" for i in item.ravel()],
                        "correct": (rng.random(p.shape) < p).astype(int).ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def study(models: int, sets: int, knowledge: float) -> pd.DataFrame:
    """One row a variant: bias of the mean, its Monte Carlo error, coverage, share clear on either side.

    The mean's intervals; `single` the coverage of single models'. A set in which a variant gives no mean
    counts as neither covered nor clear; `given` is the share of sets that have one.
    """
    rows = []
    for k in range(sets):
        answers = table(np.random.default_rng([models, round(100 * knowledge), k]), models, knowledge)
        fit = maskedadv.fit(answers, options=4, estimator="marginal", min_accuracy=0)
        for variant in fit.variants:
            mean = fit.means(gap="knowledge_gap", variant=variant).iloc[0]
            own = fit.gaps(gap="knowledge_gap", variant=variant).dropna(subset="sd")
            rows.append(
                {
                    "variant": variant,
                    "bias": mean["estimate"] - knowledge,
                    "covered": mean["lower"] <= knowledge <= mean["upper"],
                    "above": mean["lower"] > 0,
                    "below": mean["upper"] < 0,
                    "single": ((own["lower"] <= knowledge) & (own["upper"] >= knowledge)).mean(),
                    "headline": fit.headline == variant,
                }
            )
        print(k, end=" ", file=sys.stderr, flush=True)
    frame = pd.DataFrame(rows)
    found = frame.groupby("variant").mean()
    spread = frame.groupby("variant")["bias"]
    found.insert(1, "error", spread.std(ddof=1) / np.sqrt(spread.count()))
    found["given"] = spread.count() / sets
    return found.loc[[v for v in VARIANTS if v in found.index]]


if __name__ == "__main__":
    print(study(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])).round(3).to_string())
