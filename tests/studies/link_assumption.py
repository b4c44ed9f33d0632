"""How the link fails where its assumption does, and how its interval covers: docs/explanation/artefacts.md.

Run as `python -m tests.studies.link_assumption`; a minute or two.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

import maskedadv
from maskedadv.gaps.link import find_link
from tests.simulate import answer_rows, expit

MODELS, ITEMS, TABLES, GAP = 40, 400, 10, -1.5
CORRELATION, SETS = 0.6, 4000


def answers(spread: float, rng: np.random.Generator) -> pd.DataFrame:
    """No artefact, no knowledge gap: CS abilities lie `spread` times as far apart as those on CA."""
    ability = 0.8 * rng.standard_normal(MODELS)
    parts = []
    for subset, own in (("CA", 1.0), ("CS", spread)):
        b = rng.standard_normal(ITEMS)
        for language in ("en", "zh"):
            eta = (1.2 + own * ability + (GAP if language == "zh" else 0.0))[:, None] - b
            parts.append(answer_rows(rng.random(eta.shape) < expit(eta), subset, language))
    return pd.concat(parts, ignore_index=True)


def linked(spread: float) -> tuple[float, float]:
    """Mean linked knowledge gap over tables, and the share of tables in which it is clear."""
    rows = []
    for k in range(TABLES):
        table = answers(spread, np.random.default_rng([31, k]))
        fit = maskedadv.fit(table, estimator="marginal", min_accuracy=0)
        rows.append(fit.means(gap="knowledge_gap", variant="linked").iloc[0])
    clear = np.mean([row["lower"] > 0 or row["upper"] < 0 for row in rows])
    return float(np.mean([row["estimate"] for row in rows])), float(clear)


def covered(models: int, shape: float) -> tuple[float, float]:
    """Coverage of λ's interval, and of its normal form alone; the truth is 1, abilities are known.

    Gamma of this shape with a normal copula; normal where the shape is infinite.
    """
    rng = np.random.default_rng([32, models])
    none = np.zeros((3, models))
    hit = hit_normal = 0
    for _ in range(SETS):
        z = rng.standard_normal((2, models))
        z[1] = CORRELATION * z[0] + np.sqrt(1 - CORRELATION**2) * z[1]
        ca, cs = z if np.isinf(shape) else stats.gamma.ppf(stats.norm.cdf(z), shape)
        link = find_link(ca, none, cs, none)
        hit += link.lower < 1 < link.upper
        sd = np.sqrt((1 - np.corrcoef(ca, cs)[0, 1] ** 2) / (models - 1))
        hit_normal += abs(np.log(link.ratio)) < stats.t.ppf(0.975, models - 2) * sd
    return hit / SETS, hit_normal / SETS


def main() -> None:
    """Print both."""
    for spread in (1.5, 0.6):
        gap, clear = linked(spread)
        print(f"CS abilities spread {spread} times: linked {gap:+.2f}, clear in {clear:.0%} of {TABLES}")
    for name, shape in (("normal", np.inf), ("gamma, skewness 1.4", 2.0), ("exponential", 1.0)):
        for models in (8, 20, 40):
            share, normal = covered(models, shape)
            print(f"{name}, {models} models: covered {share:.1%}, by the normal form {normal:.1%}")


if __name__ == "__main__":
    main()
