"""TruthfulQA in five languages: is English, in which the questions are at home, better than expected?

python docs/gallery/truthfulqa.py
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import plotnine as p9
from rows import Row, accuracies, interval, long_table, means

import maskedadv
from maskedadv.published_accuracies.gaps import gaps_from_accuracy
from maskedadv.reports.figures import forest
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS

JUDGE = Path(__file__).parent / "data" / "truthfulqa_judge.csv"
ITEMS = {"CA": 288, "CS": 529}


@cache
def fitted() -> Fit:
    """`marginal`: fifteen models are too few for the papers' joint estimator."""
    return maskedadv.fit(maskedadv.datasets.truthfulqa_multi(), estimator="marginal", min_accuracy=0)


def tuned() -> list[str]:
    """Models that were taught to follow instructions; the others are base models."""
    return [m for m in map(str, fitted().cube["model"].values) if m.endswith("-it") or "Instruct" in m]


def judged() -> dict[str, dict[str, Row]]:
    """Mean gaps of seven models by the accuracies that a judge model gave them (published)."""
    wide = pd.read_csv(JUDGE)
    table = wide.melt(["model", "subset"], var_name="language", value_name="accuracy")
    gaps = gaps_from_accuracy(table.assign(n_items=table["subset"].map(ITEMS)), percent=True).gaps
    out: dict[str, dict[str, Row]] = {}
    for (locale, gap), own in gaps.groupby(["locale", "gap"]):
        mean, sd = own["estimate"].mean(), (own["sd"] ** 2).sum() ** 0.5 / len(own)
        row = {"estimate": mean, "lower": mean - 1.96 * sd, "upper": mean + 1.96 * sd}
        out.setdefault(str(locale), {})[str(gap)] = interval(row)
    return out


def quick() -> dict[str, Any]:
    """Seconds: everything but what is said of single items."""
    fit = fitted()
    models = list(map(str, fit.cube["model"].values))
    base = [m for m in models if m not in tuned()]
    seven = sorted(set(pd.read_csv(JUDGE)["model"]))
    alike = fit.relatives()
    return {
        "accuracy": accuracies(maskedadv.datasets.truthfulqa_multi()),
        "means": {name: means(fit, name) for name in fit.variants},
        "kinds": {
            "base": {"n": len(base), **means(fit, "paired", base)},
            "tuned": {"n": len(tuned()), **means(fit, "paired", tuned())},
        },
        "seven": means(fit, "paired", seven),
        "judge": judged(),
        "headline": fit.headline,
        "hausman_p": float(fit.departures()["p"].iloc[-1]),
        "links": {
            row.locale: {"estimate": row.ratio, "lower": row.lower, "upper": row.upper}
            for row in fit.links().query("variant == 'linked'").itertuples()
        },
        "alike": {
            "groups": int(alike["group"].nunique() - 1),
            "closest": [str(alike["model"].iloc[0]), str(alike["other"].iloc[0])],
            "correlation": float(alike["correlation"].iloc[0]),
        },
        "populations": len(fit.populations(_families(models))),
        "sd": float(_overall_sd(fit)),
    }


def _families(models: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"model": models, "family": [m.split("/")[0] for m in models]})


def _overall_sd(fit: Fit) -> float:
    """Of the mean knowledge gap over models and locales, paired."""
    row = means(fit, "paired")["all"]["knowledge_gap"]
    return (row["upper"] - row["lower"]) / (2 * 1.959964)


def long() -> dict[str, Any]:
    """Items one by one: are they as difficult in one language as in the other, and does the model fit?"""
    table = maskedadv.datasets.truthfulqa_multi()
    found = maskedadv.dif(table, min_accuracy=0, purify=False).subsets
    fit = maskedadv.fit_check(table, min_accuracy=0, replicates=40)
    return {
        "dif": {
            "flagged": int(found["flagged"].sum()),
            "inflation": [float(found["inflation"].min()), float(found["inflation"].max())],
            "tau": [float(found["tau"].min()), float(found["tau"].max())],
        },
        "misfit": {
            "items": int(fit.blocks["items_flagged"].sum()),
            "of": int(fit.blocks["items_fitted"].sum()),
        },
    }


def draw(folder: Path) -> None:
    """The gaps under each variant, and by each way of scoring."""
    fit = fitted()
    shown = {name: means(fit, name) for name in ("plain", "paired", "linked")}
    order = ["eu", "gl", "es", "ca"]
    figure = forest(long_table(shown, "variant"), "locale", order=["all", *order], axis="mean gap (logit)")
    figure.save(folder / "truthfulqa-gaps.png", dpi=110, verbose=False)
    scores = {
        "likeness to references": means(fit, "paired", set(pd.read_csv(JUDGE)["model"])),
        "judge": judged(),
    }
    frame = long_table(scores, "variant")
    frame = frame[frame["locale"].isin(["ca", "es", "eu"])]
    figure = forest(
        frame, "locale", order=["eu", "es", "ca"], axis="mean gap of the same seven models (logit)"
    )
    figure += p9.guides(color=p9.guide_legend(title="score"))
    figure.save(folder / "truthfulqa-scoring.png", dpi=110, verbose=False)


if __name__ == "__main__":
    for variant in fitted().variants:
        print(variant)
        print(fitted().means(variant=variant)[["locale", "gap", "estimate", "lower", "upper"]].round(2))
    print("by a judge:", {k: {g: round(v[g]["estimate"], 2) for g in GAPS} for k, v in judged().items()})
