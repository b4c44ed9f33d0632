"""Slow: both artefacts in one table, and none; the four knowledge gaps through `maskedadv.fit`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from tests.simulate import artefact_table

VARIANTS = ("plain", "floor", "linked", "floor+linked")


def study(models: int, sets: int, *, slope: float, harder: float) -> pd.DataFrame:
    """Mean estimate and its Monte Carlo error, the same of its difference from plain, coverage of 0, mean sd.

    One row a variant. 600 items a subset, four options, true gap −1.5 in both subsets, knowledge gap 0.
    """
    rows = []
    for k in range(sets):
        table = artefact_table(models, 600, chance=0.25, slope=slope, harder=harder, seed=1000 + k)
        fit = maskedadv.fit(table, options=4, estimator="marginal", min_accuracy=0)
        for variant in VARIANTS:
            gaps = fit.gaps(gap="knowledge_gap", variant=variant).dropna(subset="estimate")
            mean = fit.means(gap="knowledge_gap", variant=variant).iloc[0]
            rows.append(
                {
                    "variant": variant,
                    "estimate": gaps["estimate"].mean(),
                    "covered": ((gaps["lower"] < 0) & (gaps["upper"] > 0)).mean(),
                    "mean row covered": mean["lower"] < 0 < mean["upper"],
                    "sd": gaps["sd"].mean(),
                    "at chance": models - len(gaps),
                }
            )
    frame = pd.DataFrame(rows)
    estimates = frame["estimate"].to_numpy().reshape(sets, len(VARIANTS))
    off = estimates - estimates[:, :1]
    found = frame.groupby("variant", sort=False).mean()
    found.insert(1, "error", estimates.std(axis=0, ddof=1) / np.sqrt(sets))
    found.insert(2, "off plain", off.mean(axis=0))
    found.insert(3, "its error", off.std(axis=0, ddof=1) / np.sqrt(sets))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("models", "sets", "slope"), [(20, 150, 0.7), (40, 60, 0.5), (80, 20, 1.4)])
def test_both_artefacts_at_once(models: int, sets: int, slope: float):
    """CS items one logit harder and with a discrimination of their own."""
    found = study(models, sets, slope=slope, harder=1.0)
    print(f"\n{models} models, discrimination {slope}\n{found.round(3).to_string()}")
    both = found.loc["floor+linked"]
    assert abs(both["estimate"]) < 0.03 + 2 * both["error"]
    assert 0.93 < both["covered"] < 0.97
    # At a discrimination of 1.4 the two artefacts cancel in plain; taking out one of them then makes a gap.
    assert found["estimate"].drop("floor+linked").abs().max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("models", "sets"), [(20, 100), (80, 20)])
def test_without_an_artefact_all_four_agree(models: int, sets: int):
    """Guessing there is, but pools are equally hard and discriminate alike: nothing to correct."""
    found = study(models, sets, slope=1.0, harder=0.0)
    print(f"\n{models} models, no artefact\n{found.round(3).to_string()}")
    assert (found["off plain"].abs() < 0.03 + 2 * found["its error"]).all()
    assert (found["estimate"].abs() < 0.03 + 2 * found["error"]).all()
    assert found["covered"].between(0.93, 0.97).all()
