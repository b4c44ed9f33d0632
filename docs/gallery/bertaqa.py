"""BertaQA: Basque trivia in Basque and in English, from published accuracies; adapted models and their bases.

python docs/gallery/bertaqa.py
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rows import Row, interval

import maskedadv
from maskedadv.published_accuracies.gaps import AccuracyGaps, gaps_from_accuracy
from maskedadv.published_accuracies.variants import AccuracyVariants, variants_from_accuracy
from maskedadv.reports.figures import forest
from maskedadv.vocabulary import GAPS

PAIRS = {f"latxa-{size}-{v}": f"Llama-2-{size}" for size in ("7b", "13b", "70b") for v in ("v1", "v1.1")}
"""Adapted model: the model it was trained on from."""

MEAN = "(mean over models)"


@cache
def found() -> tuple[AccuracyGaps, AccuracyVariants]:
    """Gaps of every model, and the knowledge gap under every variant."""
    gaps = gaps_from_accuracy(maskedadv.datasets.bertaqa())
    return gaps, variants_from_accuracy(gaps)


def _difference(new: pd.Series, old: pd.Series) -> Row:
    """Of two models' gaps, taken as independent (they answer the same questions: rather too wide)."""
    sd = float(np.hypot(new["sd"], old["sd"]))
    estimate = float(new["estimate"] - old["estimate"])
    return interval({"estimate": estimate, "lower": estimate - 1.96 * sd, "upper": estimate + 1.96 * sd})


def quick() -> dict[str, Any]:
    """Everything; it takes a second."""
    gaps, variants = found()
    each = gaps.gaps.set_index(["model", "gap"])
    other = variants.gaps.set_index(["model", "variant"])
    names = list(dict.fromkeys(variants.gaps["variant"]))
    measured = gaps.gaps[gaps.gaps["note"] == ""]
    local = measured[measured["gap"] == "local_gap"]
    full = variants.gaps[(variants.gaps["variant"] == "floor+linked") & (variants.gaps["model"] != MEAN)]
    cells = gaps.cells.set_index(["model", "subset", "language"])["accuracy"]
    return {
        "models": int(gaps.gaps["model"].nunique()),
        "at_chance": sorted(set(gaps.gaps.loc[gaps.gaps["note"] != "", "model"])),
        "mean": {name: interval(other.loc[(MEAN, name)]) for name in names},
        "mean_of": other.loc[(MEAN, "plain"), "note"],
        "positive": {
            "of": int(full["estimate"].notna().sum()),
            "above": int((full["estimate"] > 0).sum()),
            "beyond_zero": int((full["lower"] > 0).sum()),
        },
        "local": {
            "measured": len(local),
            "english_better": int((local["upper"] < 0).sum()),
            "basque_better": sorted(local.loc[local["lower"] > 0, "model"]),
        },
        "links": {
            row.variant: {"estimate": row.ratio, "lower": row.lower, "upper": row.upper}
            for row in variants.links.itertuples()
        },
        "each": {
            model: {gap: interval(each.loc[(model, gap)]) for gap in GAPS}
            for model in [*dict.fromkeys(PAIRS.values()), *PAIRS]
        },
        "accuracy": {
            model: {f"{s} {k}": float(cells[model, s, k]) for s in ("CA", "CS") for k in ("eu", "en")}
            for model in [*dict.fromkeys(PAIRS.values()), *PAIRS]
        },
        "pairs": {
            new: {gap: _difference(each.loc[(new, gap)], each.loc[(old, gap)]) for gap in GAPS}
            | {
                name: _difference(other.loc[(new, name)], other.loc[(old, name)])
                for name in ("floor",)
                if np.isfinite(other.loc[(old, name), "estimate"])
            }
            for new, old in PAIRS.items()
        },
    }


def draw(folder: Path) -> None:
    """What adaptation changes: every adapted model less its base."""
    rows = [
        {"model": new, "gap": "knowledge_gap" if name == "floor" else name, **row}
        | {"variant": "floor" if name == "floor" else "plain"}
        for new, changes in quick()["pairs"].items()
        for name, row in changes.items()
    ]
    figure = forest(pd.DataFrame(rows), "model", order=list(PAIRS)[::-1], axis="adapted less base (logit)")
    figure.save(folder / "bertaqa-adapted.png", dpi=110, verbose=False)


if __name__ == "__main__":
    numbers = quick()
    for variant, row in numbers["mean"].items():
        print(f"{variant:14}", {k: round(v, 2) for k, v in row.items()})
    for model, gaps_of_pair in numbers["pairs"].items():
        print(f"{model:14}", {gap: round(row["estimate"], 2) for gap, row in gaps_of_pair.items()})
