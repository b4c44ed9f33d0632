"""What a comparison gives back: predictions of held-out answers, and tables of how good they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from maskedadv.cross_validation import scores
from maskedadv.cross_validation.candidates import BY_NAME
from maskedadv.errors import BadSetting
from maskedadv.settings import LEVEL

LABELS = ("locale", "subset", "model", "language", "item", "fold", "correct")
"""Columns of the predictions before those of the candidates."""


@dataclass(frozen=True)
class Comparison:
    """Candidates compared on answers that they have not seen.

    Attributes
    ----------
    scores
        A row per candidate, the best first: `bce`, `brier`, `auc`, `accuracy` and `calibration_error`, means
        over folds, each with its sd over folds (`bce_sd`, ...); `intercept` and `slope` of recalibration;
        `difference` in bce to the best with `lower` and `upper`; `fallback`, answers that it could not
        predict and that got the base rate; `seconds` spent.
    by_fold, by_group
        The measures by fold, and by locale and subset over all folds.
    calibration
        Mean prediction and share of right answers in ten bins, by candidate.
    predictions
        A row per held-out answer: labels, fold, `correct`, and a column per candidate; None of a comparison
        saved without.
    notes
        What a reader should know.
    info
        Scheme, folds, seed, counts, settings, versions and fingerprints.
    """

    scores: pd.DataFrame
    by_fold: pd.DataFrame
    by_group: pd.DataFrame
    calibration: pd.DataFrame
    notes: tuple[str, ...]
    info: Mapping[str, Any]
    predictions: pd.DataFrame | None = None

    def __repr__(self) -> str:
        i = self.info
        return (
            f"<maskedadv Comparison: {i['scheme']}, {i['folds']} folds, {i['answers']} answers; "
            f"{', '.join(self.scores['candidate'])}>"
        )

    @property
    def data(self) -> str:
        """Fingerprint of the response table."""
        return str(self.info["table"])

    def difference(self, one: str, other: str) -> dict[str, float]:
        """Cross-entropy of one candidate less that of another: difference, sd, lower, upper (nats an answer).

        Over all held-out answers, with the standard error clustered by item (by model where new models are
        predicted) and the interval from Student's t.

        Raises
        ------
        BadSetting
            The comparison lacks a candidate, or its predictions.
        """
        if self.predictions is None:
            raise BadSetting("the comparison was saved without predictions; run it again with predictions.")
        for name in (one, other):
            if name not in set(self.scores["candidate"]):
                raise BadSetting(
                    f"candidate {name!r} is not in this comparison; it has "
                    f"{', '.join(self.scores['candidate'])}."
                )
        return _difference(self.predictions, one, other, str(self.info["scheme"]))


def make_tables(
    predictions: pd.DataFrame, names: Sequence[str], scheme: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Scores, by_fold, by_group and calibration; see `Comparison`."""
    y = predictions["correct"].to_numpy(dtype=np.float64)
    by_fold = _measured(predictions, names, y, ["fold"])
    by_group = _measured(predictions, names, y, ["locale", "subset"])
    rows, bins = [], []
    for name in names:
        own = by_fold[by_fold["candidate"] == name]
        p = predictions[name].to_numpy()
        row: dict[str, Any] = {"candidate": name}
        row |= {"response": BY_NAME[name].response, "method": BY_NAME[name].method}
        for measure in scores.MEASURES:
            values = own[measure].to_numpy()
            row[measure] = values.mean()
            row[f"{measure}_sd"] = values.std(ddof=1) if len(values) > 1 else np.nan
        row["intercept"], row["slope"] = scores.recalibrate(y, p)
        rows.append(row)
        found = scores.calibration_bins(y, p)
        bins.append(
            pd.DataFrame(
                {"candidate": name, "predicted": found.predicted, "observed": found.observed, "n": found.n}
            )
        )
    table = pd.DataFrame(rows).sort_values("bce", kind="stable").reset_index(drop=True)
    best = str(table["candidate"][0])
    found_differences = [_difference(predictions, str(name), best, scheme) for name in table["candidate"]]
    for key in ("difference", "sd", "lower", "upper"):
        table["difference_sd" if key == "sd" else key] = [d[key] for d in found_differences]
    return table, by_fold, by_group, pd.concat(bins, ignore_index=True)


def _measured(
    predictions: pd.DataFrame, names: Sequence[str], y: NDArray[np.float64], keys: list[str]
) -> pd.DataFrame:
    rows = []
    groups = predictions.groupby(keys, observed=True, sort=True).indices
    for name in names:
        p = predictions[name].to_numpy()
        for label, at in groups.items():
            labels = dict(zip(keys, label if isinstance(label, tuple) else (label,), strict=True))
            rows.append({"candidate": name, **labels, "n": len(at), **scores.measure(y[at], p[at])})
    return pd.DataFrame(rows)


def _difference(predictions: pd.DataFrame, one: str, other: str, scheme: str) -> dict[str, float]:
    y = predictions["correct"].to_numpy(dtype=np.float64)
    a, b = (scores.losses(y, predictions[name].to_numpy()) for name in (one, other))
    cluster = predictions["model" if scheme == "model" else "item"].cat.codes.to_numpy()
    mean, sd = scores.clustered_difference(a, b, cluster)
    if one == other:
        return {"difference": 0.0, "sd": np.nan, "lower": np.nan, "upper": np.nan}
    reach = float(student.ppf((1 + LEVEL) / 2, max(len(np.unique(cluster)) - 1, 1))) * sd
    return {"difference": mean, "sd": sd, "lower": mean - reach, "upper": mean + reach}
