"""What a response table says of each model: how much was observed, and what to be wary of."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import pyarrow as pa

from maskedadv.responses.uneven import uneven_shares

_UNREAD = ("no_answer_stated", "answer_cut_off")
_LITTLE = 0.1  # of the probability: the model hardly answers with a letter


def summary(table: pa.Table) -> list[dict[str, Any]]:
    """Counts by model, language and subset."""
    frame = table.select(["model", "language", "subset", "correct", "tied", "reason"]).to_pandas()
    rows = []
    for (model, language, subset), some in frame.groupby(["model", "language", "subset"], sort=True):
        reasons = Counter(r for r in some["reason"] if r)
        rows.append(
            {
                "model": model,
                "language": language,
                "subset": subset,
                "answers": len(some),
                "observed": int(some["correct"].notna().sum()),
                "accuracy": float(some["correct"].astype("Float64").mean())
                if some["correct"].notna().any()
                else None,
                "tied": int(some["tied"].sum()),
                "reasons": dict(reasons),
            }
        )
    return rows


def unobserved(table: pa.Table) -> list[str]:
    """The models of which nothing was observed, and why."""
    frame = table.select(["model", "correct", "reason"]).to_pandas()
    found = []
    for model, some in frame.groupby("model", sort=True):
        if some["correct"].isna().all():
            reasons = Counter(r for r in some["reason"] if r).most_common(2)
            found.append(f"{model}: {', '.join(f'{count:,} {reason}' for reason, count in reasons)}")
    return found


def unread_shares(table: pa.Table) -> pd.DataFrame:
    """Written answers that state no option: model, language, answers, missing; only models with some."""
    frame = table.select(["model", "language", "reason"]).to_pandas()
    frame["missing"] = frame["reason"].isin(_UNREAD)
    shares = frame.groupby(["model", "language"])["missing"].agg(answers="size", missing="sum").reset_index()
    return shares[shares.groupby("model")["missing"].transform("sum") > 0].reset_index(drop=True)


def warnings(table: pa.Table) -> list[str]:
    """Sentences on models whose options have hardly any probability, or that are read unevenly."""
    odd = [f"{text} could not be read; gaps may be biased" for text in uneven_shares(unread_shares(table))]
    return [*_improbable(table), *odd]


def _improbable(table: pa.Table) -> list[str]:
    frame = table.select(["model", "option_mass"]).to_pandas()
    found = []
    for model, mass in frame.groupby("model", sort=True)["option_mass"]:
        typical = mass.median()
        if typical < _LITTLE:
            found.append(
                f"{model}: the letters have a probability of {typical:.2g} in all (median of option_mass): "
                "the model hardly ever answers with a letter here, so that its accuracy says little. It may "
                "begin with a thought or a sentence (--answers text), or not know this form of question."
            )
    return found
