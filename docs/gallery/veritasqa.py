"""VeritasQA's option log-likelihoods under the continuous response model: a negative control.

    python docs/gallery/veritasqa.py veritasqa_option_loglik.csv.gz [responses.csv]

The file is yours (see the page): columns lang, model, item_id, category, mc2, lprob_true, lprob_false, the
last two with log-likelihoods separated by semicolons. With a second name the response table is written there.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rows import clear, interval, long_table, means
from scipy.special import expit, logsumexp

import maskedadv
from maskedadv.reports.figures import forest
from maskedadv.result.fit_result import Fit

CUSTOM = frozenset(
    [
        "Economy and Finance",
        "Education",
        "Fiction",
        "Food and Nutrition",
        "History",
        "Language",
        "Myths and Fairytales",
        "Proverbs",
        "Religion",
        "Society and Politics",
        "Stereotypes",
        "Superstitions",
    ]
)
"""Categories whose questions are about customs and what people say, chosen before any gap was looked at."""

SPLITS = 200


def read(path: str | Path) -> pd.DataFrame:
    """The response table: an option of log-likelihood 0 was not scored, and its answer is left out."""
    raw = pd.read_csv(path)
    true, false = (
        [np.array(str(t).split(";"), dtype=float) for t in raw[c]] for c in ("lprob_true", "lprob_false")
    )
    crm = np.array([logsumexp(a) - logsumexp(b) for a, b in zip(true, false, strict=True)])
    scored = np.array([bool((a != 0).all() and (b != 0).all()) for a, b in zip(true, false, strict=True)])
    return pd.DataFrame(
        {
            "model": raw["model"],
            "subset": np.where(raw["category"].isin(CUSTOM), "CS", "CA"),
            "language": raw["lang"],
            "item": raw["item_id"],
            "p_correct": np.where(scored, expit(crm), np.nan),
            "crm_logit": np.where(scored, crm, np.nan),
            "mc2": raw["mc2"],  # the share as the authors logged it
        }
    )


@cache
def data() -> pd.DataFrame:
    """The table of the file named by VERITASQA."""
    return read(os.environ["VERITASQA"])


@cache
def fitted(response: str) -> Fit:
    """`joint`: without noise of right and wrong it inflates nothing, and there is no other estimator."""
    return maskedadv.fit(data(), response=response, estimator="joint", min_accuracy=0)


def quick() -> dict[str, Any]:
    """Seconds: gaps by logits and by shares, the data, two negative controls of the label."""
    table = data()
    answered = table.dropna(subset=["crm_logit"])
    spread = answered.groupby("language")["crm_logit"].std()
    unscored = table["crm_logit"].isna()
    whole = maskedadv.fit(
        answered.assign(subset="CA"), response="crm", estimator="joint", min_accuracy=0, variants="none"
    )
    return {
        "items": {str(s): int(n) for s, n in table.groupby("subset")["item"].nunique().items()},
        "answers": len(table),
        "unscored": float(unscored.mean()),
        "spread": {str(k): float(v) for k, v in spread.items()},
        "kurtosis": float(answered.groupby("language")["crm_logit"].apply(pd.Series.kurt).max()),
        "mean_share": {str(k): float(v) for k, v in answered.groupby("language")["p_correct"].mean().items()},
        "means": {r: {v: means(fitted(r), v) for v in ("plain", "paired")} for r in ("crm", "soft")},
        "whole": {
            str(row["locale"]): interval(row)
            for row in whole.means(gap="global_gap").to_dict(orient="records")
        },
        "headline": {r: fitted(r).headline for r in ("crm", "soft")},
    }


def long() -> dict[str, Any]:
    """Random labels in place of ours: how often is a gap of nothing called clear?"""
    table = data().dropna(subset=["crm_logit"])
    items, size = np.sort(table["item"].unique()), quick()["items"]["CS"]
    rng = np.random.default_rng(1)
    found: dict[str, float] = {}
    for response in ("crm", "soft"):
        called = []
        for _ in range(SPLITS):
            chosen = rng.choice(items, size, replace=False)
            own = table.assign(subset=np.where(table["item"].isin(chosen), "CS", "CA"))
            fit = maskedadv.fit(
                own, response=response, estimator="joint", min_accuracy=0, variants="none", locale="es"
            )
            called += [clear(row) for row in fit.means(gap="knowledge_gap").to_dict(orient="records")]
        found[response] = float(np.mean(called))
    return {"random": found, "splits": SPLITS}


def draw(folder: Path) -> None:
    """Gaps by shares, the scale on which most people would read them; those in logits stand in the table."""
    for response, axis in (("crm", "log-odds of all true options"), ("soft", "logit")):
        shown = {v: means(fitted(response), v) for v in ("plain", "paired")}
        figure = forest(
            long_table(shown, "variant"), "locale", order=["all", "gl", "es", "ca"], axis=f"mean gap ({axis})"
        )
        figure.save(folder / f"veritasqa-{response}.png", dpi=110, verbose=False)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    os.environ["VERITASQA"] = sys.argv[1]
    if len(sys.argv) == 3:
        data().to_csv(sys.argv[2], index=False)
    for kind in ("crm", "soft"):
        print(kind)
        print(fitted(kind).means()[["locale", "gap", "estimate", "lower", "upper"]].round(2))
