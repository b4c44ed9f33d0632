"""How far Stan's own gaps are from the polished ones: the number of docs/explanation/model.md.

Run as `python -m tests.studies.stan_and_newton [TABLES]`: a few minutes for a thousand tables of two blocks.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import maskedadv
from maskedadv.errors import MaskedadvError


def table(rng: np.random.Generator) -> pd.DataFrame:
    """Answers of 1 to 12 models to 4 to 300 items a subset, some of them missing, under the Rasch model."""
    models, items = int(rng.integers(1, 13)), int(np.exp(rng.uniform(np.log(4), np.log(300))))
    missing = rng.choice([0.0, 0.0, 0.2])
    parts = []
    for subset in ("CA", "CS"):
        difficulty = rng.normal(0, 1.2, items)
        for language in ("en", "xx"):
            ability = rng.normal(1.0 if language == "en" else 0.3, 0.8, models)
            p = 1 / (1 + np.exp(difficulty - ability[:, None]))
            model, item = np.divmod(np.arange(models * items), items)
            parts.append(
                pd.DataFrame(
                    {
                        "model": [f"m{j}" for j in model],
                        "subset": subset,
                        "language": language,
                        "item": [f"{subset}{i}" for i in item],
                        "correct": (rng.random(p.shape) < p).astype(int).ravel(),
                    }
                )[rng.random(models * items) >= missing]
            )
    return pd.concat(parts, ignore_index=True)


def main(tables: int) -> None:
    """Print how many blocks were compared, and the largest difference of each estimator."""
    rng = np.random.default_rng(1)
    apart: dict[str, list[float]] = {"joint": [], "marginal": []}
    for _ in range(tables):
        answers = table(rng)
        for estimator, found in apart.items():
            try:
                fit = maskedadv.fit(answers, estimator=estimator, variants="none", min_accuracy=0)
            except MaskedadvError as error:
                print(f"{estimator}: {error}", file=sys.stderr)
                continue
            found += [b["gaps_apart"] for b in fit.info.blocks if b["gaps_apart"] is not None]
    for estimator, found in apart.items():
        print(f"{estimator}: {len(found)} blocks, largest difference {max(found):.5f} logit")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
