"""Size and power of tests of single items: `python -m tests.studies.item_tests` prints the docs' tables."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from tests.assumptions.simulated import block, run_tests

SETTINGS: dict[str, dict[str, float]] = {
    "independent models": {},
    "families of 3, relatives' effect 1 logit": {"family": 3, "family_sd": 1.0},
    "one family, relatives' effect 1 logit": {"family": 10_000, "family_sd": 1.0},
    "guessing at 1 in 4": {"chance": 0.25},
    "model × item effect of 1 logit in both languages": {"model_item": 1.0},
}


def sizes(models: int, tables: int, seed: int = 0, **setting: float) -> dict[str, float]:
    """Share of items without a difference below .05, and mean inflation."""
    rng = np.random.default_rng(seed)
    score, exact, robust, ratio, factors = [], [], [], [], []
    for _ in range(tables):
        own = dict(setting)
        if "family" in own:
            own["family"] = min(int(own["family"]), models)
        found, factor = run_tests(block(rng, models, **own), models)  # type: ignore[arg-type]
        known = np.isfinite(found.z)
        score += list(np.abs(found.score[known]) > 1.96)
        exact += list(np.abs(found.z[known]) > 1.96)
        robust += list(np.abs(found.z[known]) > 1.96 * np.sqrt(factor))
        ratio += list(found.p_ratio[known] < 0.05)
        factors.append(factor)
    columns = {"score": score, "exact": exact, "robust": robust, "ratio": ratio}
    return {k: float(np.mean(v)) for k, v in columns.items()} | {
        "inflation": float(np.mean(factors)),
        "n": len(exact),
    }


def power(models: int, size: float, tables: int, languages: int = 2, seed: int = 0) -> dict[str, float]:
    """Share of central items with a difference whose exact p is below .05; 10 of 200 items differ."""
    rng = np.random.default_rng(seed)
    hits, effects, variance = [], [], []
    sign = np.where(np.arange(200) % 2, 1.0, -1.0)
    difference = np.where(np.arange(200) < 10, size * sign, 0.0)
    for _ in range(tables):
        answers = block(rng, models, difference=difference, central=10, languages=languages)
        found, _ = run_tests(answers, models)
        hits += list(np.abs(found.z[:10]) > 1.96)
        effects += list(found.effect[:10] * sign[:10])
        variance += list(found.variance[:10])
    expected = norm.sf(1.96 - size * np.sqrt(variance)).mean()
    return {"power": float(np.mean(hits)), "expected": float(expected), "effect": float(np.mean(effects))}


def main(tables: int = 20) -> None:
    for name, setting in SETTINGS.items():
        for models in (6, 12, 40):
            row = sizes(models, tables, **setting)
            print(name, models, {k: round(v, 3) for k, v in row.items()}, flush=True)
    for models, size, languages in (
        (40, 1.0, 2), (40, 1.5, 2), (40, 2.0, 2), (80, 1.0, 2), (100, 1.0, 2), (40, 1.0, 7), (40, 1.0, 14),
        (12, 2.0, 2), (6, 3.0, 2), (6, 3.0, 7),
    ):  # fmt: skip
        row = power(models, size, tables, languages)
        print(models, size, languages, {k: round(v, 3) for k, v in row.items()}, flush=True)


if __name__ == "__main__":
    main()
