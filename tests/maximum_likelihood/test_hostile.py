"""Shapes that break estimators: a right answer, or a refusal in words; never a traceback, never a warning."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv import errors
from tests.simulate import table

COMBINATIONS = list(itertools.product(("joint", "marginal"), ("robust", "information", "bootstrap")))
WAYS = pytest.mark.parametrize(("estimator", "interval"), COMBINATIONS)

pytestmark = pytest.mark.filterwarnings("error")


def fit(frame: pd.DataFrame, estimator: str, interval: str, **more: object) -> maskedadv.fit:  # type: ignore[valid-type]
    return maskedadv.fit(
        frame,
        estimator=estimator,
        interval=interval,
        replicates=20,
        min_accuracy=0,
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return table(3, (30, 30), seed=0)


@WAYS
def test_one_model_is_not_read_as_a_scalar(frame: pd.DataFrame, estimator: str, interval: str) -> None:
    gaps = fit(frame[frame["model"] == "m0"], estimator, interval).gaps()
    assert len(gaps) == 3
    assert np.isfinite(gaps[["estimate", "sd", "lower", "upper"]]).all(axis=None)
    assert (gaps["lower"] < gaps["estimate"]).all()


@WAYS
@pytest.mark.parametrize("answer", [0, 1])
def test_a_cell_at_the_end_is_infinite_and_its_gaps_unknown(
    frame: pd.DataFrame, estimator: str, interval: str, answer: int
) -> None:
    at = (frame["model"] == "m0") & (frame["subset"] == "CS") & (frame["language"] == "zh")
    frame.loc[at, "correct"] = answer
    result = fit(frame, estimator, interval)
    cell = result.cube["ability"].sel(locale="zh", model="m0", subset="CS", query="local")
    assert float(cell) == (np.inf if answer else -np.inf)
    rows = result.gaps(model="m0").set_index("gap")
    assert np.isfinite(rows.loc["global_gap", "estimate"])
    assert rows.loc[["local_gap", "knowledge_gap"], "estimate"].isna().all()
    assert rows.loc[["local_gap", "knowledge_gap"], "lower"].isna().all()
    side = "above" if answer else "below"
    assert rows.loc["knowledge_gap", "note"] == f"CS zh is {side} every finite level"
    assert np.isfinite(result.gaps(model="m1")["estimate"]).all()
    assert result.means().set_index("gap").loc["local_gap", "note"] == "2 models"


@WAYS
def test_a_model_without_a_subset_or_language_is_used_but_not_reported(
    frame: pd.DataFrame, estimator: str, interval: str
) -> None:
    cut = frame[~((frame["model"] == "m0") & (frame["subset"] == "CS") & (frame["language"] == "zh"))]
    rows = fit(cut, estimator, interval).gaps(model="m0").set_index("gap")
    assert np.isfinite(rows.loc["global_gap", "estimate"])
    assert rows.loc["local_gap", "note"] == "no answers in CS zh"
    without = cut[~((cut["model"] == "m0") & (cut["subset"] == "CS"))]
    a, b = (
        fit(d, estimator, interval).gaps(model="m1", gap="local_gap")["estimate"].iloc[0]
        for d in (cut, without)
    )
    assert a != b, "the pivot answers of m0 still inform the difficulties"


@WAYS
def test_blocks_of_models_that_share_no_item(frame: pd.DataFrame, estimator: str, interval: str) -> None:
    """Each model's own gap stays inside its component, so it is that of the model fitted alone (joint)."""
    number = frame["item"].str[2:].astype(int)
    cut = frame[((frame["model"] == "m0") & (number < 15)) | ((frame["model"] != "m0") & (number >= 15))]
    result = fit(cut, estimator, interval)
    assert np.isfinite(result.gaps()["estimate"]).all()
    if estimator == "joint":
        alone = fit(cut[cut["model"] == "m0"], estimator, interval)
        np.testing.assert_allclose(result.gaps(model="m0")["estimate"], alone.gaps()["estimate"], atol=1e-7)


@WAYS
def test_cells_that_no_chain_of_items_joins_have_no_gap(
    frame: pd.DataFrame, estimator: str, interval: str
) -> None:
    """CS: m0 answers items 0-9 in zh and 10-19 in en, m1 10-19 in both: nothing joins the cells of m0."""
    number = frame["item"].str[2:].astype(int)
    low = number < 10
    middle = (number >= 10) & (number < 20)
    zh = frame["language"] == "zh"
    m0 = (frame["model"] == "m0") & ((zh & low) | (~zh & middle))
    m1 = (frame["model"] == "m1") & middle
    cut = frame[(frame["subset"] == "CA") | m0 | m1]
    rows = fit(cut, estimator, interval).gaps().set_index(["model", "gap"])
    assert np.isnan(rows.loc[("m0", "local_gap"), "estimate"])
    assert np.isfinite(rows.loc[("m0", "global_gap"), "estimate"])
    assert np.isfinite(rows.loc[("m1", "local_gap"), "estimate"])
    expected = "CS zh has no finite level" if estimator == "joint" else "CS zh and en share no chain of items"
    assert rows.loc[("m0", "knowledge_gap"), "note"] == expected


@WAYS
@pytest.mark.parametrize(
    "kind", ["right", "wrong", "by language", "by item", "guttman", "one item", "two rows"]
)
def test_answers_that_determine_nothing_are_refused(
    frame: pd.DataFrame, estimator: str, interval: str, kind: str
) -> None:
    number = frame["item"].str[2:].astype(int)
    if kind in {"right", "wrong"}:
        frame["correct"] = int(kind == "right")
    elif kind == "by language":
        frame["correct"] = (frame["language"] == "en").astype(int)
    elif kind == "by item":
        frame["correct"] = number % 2
    elif kind == "guttman":
        frame = frame[frame["model"] == "m0"].assign(
            correct=np.where(frame["language"] == "en", number < 20, number < 10)[
                frame["model"] == "m0"
            ].astype(int)
        )
    elif kind == "one item":
        frame = frame[(frame["item"] == "CA0") & (frame["model"] == "m0")].assign(correct=[1, 0])
    else:
        frame = frame[(frame["item"] == "CA0") & (frame["model"] == "m0")].assign(correct=[1, 1])
    with pytest.raises(errors.NotEstimable, match="finite level"):
        fit(frame, estimator, interval)


@WAYS
def test_one_subset_gives_its_own_gap(frame: pd.DataFrame, estimator: str, interval: str) -> None:
    rows = fit(frame[frame["subset"] == "CA"], estimator, interval).gaps(model="m0").set_index("gap")
    assert np.isfinite(rows.loc["global_gap", "estimate"])
    assert rows.loc["knowledge_gap", "note"] == "no answers in CS zh; no answers in CS en"


@WAYS
def test_a_model_in_one_locale_only(estimator: str, interval: str) -> None:
    frame = table(3, (30, 30), locales=("fr", "zh"), seed=1)
    cut = frame[~((frame["model"] == "m1") & (frame["language"] == "fr"))]
    result = fit(cut, estimator, interval)
    assert set(result.gaps(locale="fr")["model"]) == {"m0", "m2"}
    assert set(result.gaps(locale="zh")["model"]) == {"m0", "m1", "m2"}
    assert np.isnan(result.cube["estimate"].sel(locale="fr", model="m1")).all()


@pytest.mark.parametrize("interval", ["robust", "information", "bootstrap"])
def test_soft_answers_of_exactly_zero_and_one(frame: pd.DataFrame, interval: str) -> None:
    rng = np.random.default_rng(3)
    soft = frame.drop(columns="correct").assign(p_correct=rng.beta(2, 1, len(frame)))
    soft.loc[soft.index[:9], "p_correct"] = 1.0
    soft.loc[soft.index[9:20], "p_correct"] = 0.0
    gaps = fit(soft, "joint", interval, response="soft").gaps()
    assert np.isfinite(gaps[["estimate", "sd"]]).all(axis=None)


@pytest.mark.parametrize("interval", ["robust", "bootstrap"])
def test_one_soft_item_has_a_gap_but_no_interval(frame: pd.DataFrame, interval: str) -> None:
    rng = np.random.default_rng(3)
    soft = frame.drop(columns="correct").assign(p_correct=rng.beta(2, 1, len(frame)))
    soft = soft[soft["item"].isin(["CA0", "CS0"])]
    gaps = fit(soft, "joint", interval, response="soft").gaps()
    assert np.isfinite(gaps["estimate"]).all()
    assert gaps[["sd", "lower", "upper", "p_positive"]].isna().all(axis=None)
    assert gaps["note"].str.contains("no interval").all()


def test_a_soft_cell_with_items_of_its_own(frame: pd.DataFrame) -> None:
    """A part of one cell has no contrast; the others keep theirs."""
    rng = np.random.default_rng(3)
    soft = frame.drop(columns="correct").assign(p_correct=rng.beta(2, 1, len(frame)))
    only = soft[(soft["model"] == "m0") & ~((soft["subset"] == "CS") & (soft["language"] == "en"))]
    rows = fit(only, "joint", "robust", response="soft").gaps().set_index("gap")
    assert np.isfinite(rows.loc["global_gap", "estimate"])
    assert np.isnan(rows.loc["local_gap", "estimate"])


def test_an_empty_correct_column_is_as_good_as_absent(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(3)
    soft = frame.assign(correct=np.nan, p_correct=rng.beta(2, 1, len(frame)))
    without = soft.drop(columns="correct")
    a, b = (maskedadv.fit(d, response="soft").gaps() for d in (soft, without))
    pd.testing.assert_frame_equal(a, b)
    assert maskedadv.check(soft).response == "soft"


def test_a_locale_with_nothing_of_the_response_keeps_its_place_empty() -> None:
    two = table(3, (30, 30), locales=("fr", "zh"), seed=1)
    rng = np.random.default_rng(3)
    two = two.assign(p_correct=np.where(two["language"] == "fr", np.nan, rng.beta(2, 1, len(two))))
    with pytest.raises(errors.NoSharedItem, match="fr"):
        maskedadv.fit(two, response="soft", min_accuracy=0)
    assert np.isfinite(maskedadv.fit(two, response="soft", min_accuracy=0, locale="zh").gaps()["sd"]).all()


def test_bootstrap_means_survive_cells_that_are_extreme_in_many_replicates() -> None:
    """Very able models: most replicates lose some cell, and the mean row still has its interval."""
    easy = table(12, (40, 40), seed=4)
    rng = np.random.default_rng(0)
    easy["correct"] = np.where(rng.random(len(easy)) < 0.8, 1, easy["correct"])
    result = fit(easy, "marginal", "bootstrap")
    means = result.means()
    assert np.isfinite(means[["sd", "lower", "upper"]]).all(axis=None)
    blank = result.gaps()["sd"].isna()
    assert (result.gaps()["note"][blank].str.len() > 0).all()


def test_responses_a_table_cannot_serve(frame: pd.DataFrame) -> None:
    with pytest.raises(errors.WrongResponse, match="'p_correct'"):
        maskedadv.fit(frame, response="soft")
    with pytest.raises(errors.WrongResponse, match="use 'soft'"):
        maskedadv.fit(frame.rename(columns={"correct": "p_correct"}))


def test_locales_without_a_shared_item_are_refused_by_name(frame: pd.DataFrame) -> None:
    apart = frame.assign(item=np.where(frame["language"] == "en", "e" + frame["item"], frame["item"]))
    with pytest.raises(errors.NoSharedItem, match=r"share no item id with 'en' .zh."):
        maskedadv.fit(apart)


def test_three_cells_one_of_them_missing_entirely(frame: pd.DataFrame) -> None:
    with pytest.raises(errors.UnknownLocale, match="only the pivot"):
        maskedadv.fit(frame[frame["language"] == "en"])
    with pytest.raises(errors.PivotMissing):
        maskedadv.fit(frame[frame["language"] == "zh"].head(1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("estimator", "mle"),
        ("scope", "all"),
        ("interval", "wald"),
        ("method", "vb"),
        ("response", "graded"),
        ("level", 1.0),
        ("level", 0.0),
        ("level", float("nan")),
        ("min_accuracy", 1.5),
        ("min_accuracy", -0.1),
        ("replicates", 1),
        ("replicates", 9),
        ("level", "x"),
        ("level", None),
        ("min_accuracy", "a"),
        ("locale", 5),
        ("seed", -1),
        ("jobs", 0),
    ],
)
def test_settings_out_of_range_are_refused_by_name(frame: pd.DataFrame, name: str, value: object) -> None:
    with pytest.raises(errors.BadSetting, match=name):
        maskedadv.fit(frame, **{name: value})  # type: ignore[arg-type]


def test_sigma_at_zero_is_said(frame: pd.DataFrame) -> None:
    """Coin flips with one probability: items do not differ, sigma goes to its lower bound or near it."""
    rng = np.random.default_rng(8)
    flips = frame.assign(correct=rng.integers(0, 2, len(frame)))
    result = fit(flips, "marginal", "robust")
    small = [b for b in result.info.blocks if b["sigma"] < 0.05]
    assert bool(small) == any("sigma is at zero" in w for w in result.warnings)
    assert np.isfinite(result.gaps()["sd"]).all()
