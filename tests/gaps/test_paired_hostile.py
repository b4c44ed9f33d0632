"""Tables that make paired gaps infinite, alike or uneven: numbers and words still agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.show import gap_table, variant_text
from maskedadv.result.fit_result import Fit
from tests.simulate import table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(models=4, items=(60, 60), gaps=(-0.8, -0.3), seed=3)


def fit(frame: pd.DataFrame, **arguments: object) -> Fit:
    return maskedadv.fit(frame, **{"estimator": "marginal", "min_accuracy": 0, **arguments})


def change_zh(frame: pd.DataFrame, models: list[str], subset: str, *, alike: bool) -> pd.DataFrame:
    """Chinese answers right only where English ones are (n10 = 0), or alike everywhere."""
    own = ["model", "subset", "item"]
    english = frame[frame["language"] == "en"].set_index(own)["correct"]
    at = (frame["language"] == "zh") & frame["model"].isin(models) & (frame["subset"] == subset)
    pivot = english.loc[pd.MultiIndex.from_frame(frame.loc[at, own])].to_numpy()
    out = frame.copy()
    out.loc[at, "correct"] = pivot if alike else pivot * frame.loc[at, "correct"].to_numpy()
    return out


@pytest.mark.parametrize("interval", ["robust", "information", "bootstrap"])
def test_an_infinite_gap_has_no_interval_and_is_told_of_its_subset(
    frame: pd.DataFrame, interval: str
) -> None:
    first = str(frame["model"].min())
    result = fit(change_zh(frame, [first], "CA", alike=False), interval=interval, replicates=40)
    own = result.gaps(variant="paired", model=first).set_index("gap")
    assert own["estimate"]["global_gap"] == -np.inf
    assert own["estimate"]["knowledge_gap"] == np.inf
    for gap in ("global_gap", "knowledge_gap"):
        assert own.loc[gap, ["sd", "lower", "upper", "p_positive"]].isna().all()
        assert "the CA gap is below" in own["note"][gap]
    assert np.isfinite(own["sd"]["local_gap"])
    shown = variant_text(result)
    assert " inf" in shown
    assert "inf (" not in shown


def test_means_over_different_models_are_said_to_be(frame: pd.DataFrame) -> None:
    first = str(frame["model"].min())
    result = fit(change_zh(frame, [first], "CA", alike=False))
    uneven = result.means(variant="paired")
    assert uneven["note"].tolist() == ["3 models", "4 models", "3 models"]
    assert "knowledge is not local less global" in " ".join(gap_table(uneven).split())
    even = result.means().set_index("gap")["estimate"]
    assert even["knowledge_gap"] == pytest.approx(even["local_gap"] - even["global_gap"])
    assert "not local less global" not in " ".join(gap_table(result.means()).split())


def test_the_warning_speaks_no_nan_where_no_paired_gap_is_finite(frame: pd.DataFrame) -> None:
    everyone = sorted(frame["model"].unique())
    result = fit(change_zh(frame, everyone, "CA", alike=False))
    told = next(w for w in result.info.warnings if w.kind == "plain and paired differ")
    assert "nan" not in told.text
    assert "no model has a finite global gap in zh under both" in told.text


def test_a_global_gap_of_zero_has_no_tipping_point(frame: pd.DataFrame) -> None:
    result = fit(change_zh(frame, sorted(frame["model"].unique()), "CA", alike=True))
    row = result.tipping().iloc[0]
    assert np.isnan(row["ratio"])
    assert "zero" in row["note"]
    assert "Tipping point" in variant_text(result)


def test_one_number_stands_for_copies(frame: pd.DataFrame) -> None:
    first = frame[frame["model"] == frame["model"].min()]
    copies = pd.concat([first.assign(model=f"copy{k}") for k in range(3)])
    told = [w.text for w in fit(copies).info.warnings if w.kind == "relatives"]
    assert len(told) == 1
    assert " to " not in told[0].split("residual correlation")[1].split(")")[0]


def test_joint_estimates_inflated_by_few_cells_are_not_laid_on_relatives_alone() -> None:
    frame = table(models=3, items=(400, 400), gaps=(-1.5, -1.5), seed=1)
    result = fit(frame, estimator="joint")
    told = [w.text for w in result.info.warnings if w.kind == "plain and paired differ"]
    assert len(told) == 1
    assert "or are inflated by joint estimation from few cells an item" in told[0]
    assert not fit(frame).departures()["p"].iloc[-1] < 0.05


@pytest.mark.parametrize("interval", ["robust", "bootstrap"])
def test_a_knowledge_gap_is_not_surer_than_its_parts(frame: pd.DataFrame, interval: str) -> None:
    """Nobody's answers differ on CA: nothing is learnt of the noise of the global gap, nor of knowledge's."""
    result = fit(
        change_zh(frame, sorted(frame["model"].unique()), "CA", alike=True), interval=interval, replicates=40
    )
    for rows in (result.gaps(), result.means()):
        spread = rows.groupby("gap")["sd"].count()
        assert spread["global_gap"] == 0
        assert spread["local_gap"] > 0
        assert spread["knowledge_gap"] == 0
        known = rows[rows["gap"] == "knowledge_gap"]
        assert known["estimate"].notna().all()
        assert known["p_positive"].isna().all()
