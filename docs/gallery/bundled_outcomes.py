"""Global-MMLU-Lite in seven languages: six systems that are relatives, and culture that is mostly Western.

python docs/gallery/bundled_outcomes.py
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from rows import accuracies, clear, long_table, means

import maskedadv
from maskedadv.reports.figures import forest
from maskedadv.result.fit_result import Fit

ORDER = ["sw", "bn", "ja", "zh", "de", "fr"]


@cache
def fitted() -> Fit:
    """`marginal`: six systems are too few for the papers' joint estimator."""
    return maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal", min_accuracy=0)


def quick() -> dict[str, Any]:
    """Seconds: gaps under each variant, the test of plain against paired, who answers like whom."""
    fit = fitted()
    alike = fit.relatives()
    group = set(alike.loc[alike["group"] > 0, ["model", "other"]].to_numpy().ravel())
    within = alike[alike["model"].isin(group) & alike["other"].isin(group)]["correlation"]
    tests = fit.departures().set_index(["locale", "gap"])
    families = pd.DataFrame({"model": fit.cube["model"].values, "family": "Qwen2.5"})
    overall = means(fit, "paired")["all"]["knowledge_gap"]
    return {
        "accuracy": accuracies(maskedadv.datasets.global_mmlu_lite()),
        "means": {name: means(fit, name) for name in fit.variants},
        "headline": fit.headline,
        "hausman_p": float(tests["p"].iloc[-1]),
        "single": {
            name: {
                "of": int(fit.gaps(gap="knowledge_gap", variant=name)["estimate"].notna().sum()),
                "beyond_zero": int(sum(clear(row) for row in _known(fit, name))),
            }
            for name in fit.variants
        },
        "alike": {"models": len(group), "lowest": float(within.min()), "highest": float(within.max())},
        "populations": len(fit.populations(families)),
        "sd": (overall["upper"] - overall["lower"]) / (2 * 1.959964),
    }


def _known(fit: Fit, variant: str) -> list[dict[str, Any]]:
    rows = fit.gaps(gap="knowledge_gap", variant=variant).dropna(subset=["lower"])
    return [{str(k): v for k, v in row.items()} for row in rows.to_dict(orient="records")]


def long() -> dict[str, Any]:
    """Items one by one, and the posterior of the language that says most."""
    table = maskedadv.datasets.global_mmlu_lite()
    found = maskedadv.dif(table, min_accuracy=0, purify=False).subsets
    checked = maskedadv.fit_check(table, min_accuracy=0, replicates=40).blocks
    nuts = maskedadv.fit(
        table, method="nuts", estimator="marginal", locale="sw", variants="none", min_accuracy=0, seed=1
    )
    (seen,) = maskedadv.diagnose(nuts)
    return {
        "dif": {
            "flagged": int(found["flagged"].sum()),
            "inflation": [float(found["inflation"].min()), float(found["inflation"].max())],
        },
        "misfit": {"items": int(checked["items_flagged"].sum()), "of": int(checked["items_fitted"].sum())},
        "posterior": {
            "verdict": seen.verdict,
            "reasons": [finding.reason for finding in seen.findings],
            "sw": means(nuts)["sw"],
        },
    }


def draw(folder: Path) -> None:
    """The three gaps under the variants that matter here."""
    fit = fitted()
    shown = {name: means(fit, name) for name in ("plain", "floor", "paired")}
    figure = forest(long_table(shown, "variant"), "locale", order=["all", *ORDER], axis="mean gap (logit)")
    figure.save(folder / "bundled-outcomes-gaps.png", dpi=110, verbose=False)


if __name__ == "__main__":
    for variant in ("plain", "paired"):
        print(variant)
        print(fitted().means(variant=variant)[["locale", "gap", "estimate", "lower", "upper"]].round(2))
