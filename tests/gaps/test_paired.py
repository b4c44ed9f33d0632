"""Paired gaps, the test of plain against them, and the headline, through `maskedadv.fit`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv import datasets
from maskedadv.errors import BadSetting
from maskedadv.gaps.kinship import Kinship
from maskedadv.result.fit_result import Fit
from tests.simulate import expit, table

# log(n10/n01) of every model by hand, means over models: global, local, knowledge.
BUNDLED = {
    "bn": (-1.49, -1.00, 0.49),
    "de": (-0.34, -0.53, -0.20),
    "fr": (-0.14, -0.54, -0.41),
    "ja": (-0.43, -0.54, -0.11),
    "sw": (-2.28, -1.88, 0.40),
    "zh": (-0.34, -0.59, -0.25),
}


@pytest.fixture(scope="module")
def outcomes() -> pd.DataFrame:
    return datasets.global_mmlu_lite()


@pytest.fixture(scope="module")
def fit(outcomes: pd.DataFrame) -> Fit:
    return maskedadv.fit(outcomes, estimator="marginal", min_accuracy=0)


def test_bundled_outcomes_give_the_counts_own_gaps(fit: Fit) -> None:
    means = fit.means(variant="paired").set_index(["locale", "gap"])["estimate"]
    for locale, numbers in BUNDLED.items():
        for gap, value in zip(("global_gap", "local_gap", "knowledge_gap"), numbers, strict=True):
            assert means[locale, gap] == pytest.approx(value, abs=0.005)


def test_every_gap_is_its_own_ratio_of_counts(fit: Fit, outcomes: pd.DataFrame) -> None:
    own = outcomes[(outcomes["model"] == "s1.1-32B_500") & (outcomes["subset"] == "CS")]
    wide = own.pivot_table(index="item", columns="language", values="correct")
    n10, n01 = ((wide["sw"] > wide["en"]).sum(), (wide["sw"] < wide["en"]).sum())
    row = fit.gaps(variant="paired", locale="sw", model="s1.1-32B_500", gap="local_gap").iloc[0]
    assert row["estimate"] == pytest.approx(np.log(n10 / n01))
    assert row["sd"] == pytest.approx(np.sqrt((1 / n10 + 1 / n01) * 200 / 199))


def test_the_test_rejects_and_paired_is_the_headline(fit: Fit) -> None:
    table = fit.departures().set_index(["locale", "gap"])
    assert table.loc[("(all locales)", "(all gaps)"), "p"] < 0.001
    sw = table.loc["sw"]
    assert sw.loc["global_gap", "plain"] == pytest.approx(-2.79, abs=0.005)
    assert sw.loc["global_gap", "paired"] == pytest.approx(-2.28, abs=0.005)
    assert (np.abs(sw.loc[["global_gap", "local_gap"], "statistic"]) > 3).all()
    assert fit.headline == "paired"
    told = [w for w in fit.warnings if "Hausman" in w]
    assert len(told) == 1
    assert "-2.79 plain and -2.28 paired" in told[0]


def test_the_five_relatives_are_named(fit: Fit) -> None:
    told = next(w for w in fit.warnings if "answer alike" in w)
    assert [m for m in map(str, fit.cube["model"].values) if m in told] == [
        f"s1.1-32B_{k}" for k in (1000, 2000, 4000, 500, 8000)
    ]
    pairs = fit.relatives()
    assert len(pairs) == 15
    assert set(pairs["group"]) == {0, 1}
    assert pairs["correlation"].is_monotonic_decreasing


def test_headline_may_be_chosen(fit: Fit, outcomes: pd.DataFrame) -> None:
    assert fit.with_headline("plain").headline == "plain"
    bare = maskedadv.fit(outcomes, locale="zh", estimator="marginal", min_accuracy=0, variants="none")
    assert bare.variants == ["plain"]
    assert bare.headline == "plain"
    assert len(bare.departures())
    with pytest.raises(BadSetting, match="no paired gaps"):
        bare.with_headline("paired")
    with pytest.raises(BadSetting, match="headline"):
        maskedadv.fit(outcomes, variants="none", headline="paired")


def test_a_result_comes_back_with_test_and_relatives(fit: Fit, tmp_path) -> None:
    fit.save(tmp_path / "r")
    again = maskedadv.load(tmp_path / "r")
    pd.testing.assert_frame_equal(again.departures(), fit.departures())
    pd.testing.assert_frame_equal(again.relatives(), fit.relatives())
    assert again.headline == "paired"
    for variant in ("paired", "paired+floor"):
        pd.testing.assert_frame_equal(again.gaps(variant=variant), fit.gaps(variant=variant))


@pytest.mark.parametrize("interval", ["information", "bootstrap"])
def test_other_intervals_agree_and_the_test_is_the_same(interval: str) -> None:
    frame = table(models=3, items=(200, 200), seed=5).assign(n_options=4)
    arguments = {"estimator": "marginal", "min_accuracy": 0, "replicates": 100}
    robust = maskedadv.fit(frame, **arguments)
    other = maskedadv.fit(frame, **arguments, interval=interval)
    ours, theirs = (f.gaps(variant="paired") for f in (robust, other))
    assert theirs["estimate"].to_numpy() == pytest.approx(ours["estimate"].to_numpy())
    assert theirs["sd"].to_numpy() == pytest.approx(ours["sd"].to_numpy(), rel=0.35)
    ours, theirs = (f.gaps(variant="paired+floor") for f in (robust, other))
    assert theirs["sd"].to_numpy() == pytest.approx(ours["sd"].to_numpy(), rel=0.6)
    a, b = (f.departures()["p"] for f in (robust, other))
    assert b.to_numpy() == pytest.approx(a.to_numpy(), rel=1e-3)


def test_rasch_data_leave_the_plain_gap_the_headline() -> None:
    found = maskedadv.fit(table(models=8, items=(200, 200), seed=3), estimator="marginal", min_accuracy=0)
    assert found.headline == "plain"
    assert not any("Hausman" in w or "unevenly" in w for w in found.warnings)


def test_infinite_gaps_are_infinite_noted_and_left_out_of_means() -> None:
    frame = table(models=3, items=(40, 40), seed=1)
    own = (frame["model"] == "m1") & (frame["subset"] == "CS") & (frame["language"] == "zh")
    english = frame[(frame["model"] == "m1") & (frame["subset"] == "CS") & (frame["language"] == "en")]
    wrong = set(english.loc[english["correct"] == 0, "item"])
    frame.loc[own & frame["item"].isin(wrong), "correct"] = 0  # zh is never right where en is wrong
    found = maskedadv.fit(frame, estimator="marginal", min_accuracy=0)
    row = found.gaps(variant="paired", model="m1", gap="local_gap").iloc[0]
    assert row["estimate"] == -np.inf
    assert np.isnan(row["sd"])
    assert row["note"].startswith("infinite: of ")
    mean = found.means(variant="paired", gap="local_gap").iloc[0]
    rest = found.gaps(variant="paired", gap="local_gap", model=["m0", "m2"])["estimate"]
    assert mean["estimate"] == pytest.approx(rest.mean())
    assert mean["note"].startswith("2 models")


def test_one_model_has_paired_gaps_and_no_test() -> None:
    found = maskedadv.fit(table(models=1, items=(200, 200), seed=2), estimator="marginal", min_accuracy=0)
    assert "paired" in found.variants
    assert found.departures().empty
    assert found.relatives().empty


def test_answers_missing_because_items_are_hard_do_not_move_paired_gaps() -> None:
    """Local CS answers are missing on hard items; the true knowledge gap is 0."""
    moved = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = []
        for subset in ("CA", "CS"):
            b = 1.2 * rng.standard_normal(500)
            for language, shift in (("en", 1.0), ("zh", 0.0)):
                right = rng.random((6, 500)) < expit(shift - b)
                seen = np.ones((6, 500), dtype=bool)
                if (subset, language) == ("CS", "zh"):
                    seen = rng.random((6, 500)) > 0.8 * (b > 0.5)
                rows += [
                    (f"m{j}", subset, language, f"{subset}{i}", int(right[j, i]))
                    for j, i in zip(*np.nonzero(seen), strict=True)
                ]
        frame = pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])
        found = maskedadv.fit(frame, estimator="marginal", min_accuracy=0, link="none")
        assert any("missing unevenly" in w and "zh CS" in w and "more in zh" in w for w in found.warnings)
        moved.append(found.means(variant="paired", gap="knowledge_gap")["estimate"].iloc[0])
    assert abs(np.mean(moved)) < 3.5 * np.std(moved, ddof=1) / np.sqrt(5)
    assert np.std(moved, ddof=1) < 0.2


def test_continuous_answers_have_a_mean_paired_difference() -> None:
    rng = np.random.default_rng(0)
    frame = table(models=3, items=(60, 60), seed=0)
    frame["crm_logit"] = rng.normal(np.where(frame["language"] == "zh", -0.7, 0.0), 1.0)
    found = maskedadv.fit(frame.drop(columns="correct").assign(p_correct=0.5), response="crm", min_accuracy=0)
    wide = frame[(frame["model"] == "m0") & (frame["subset"] == "CA")].pivot_table(
        index="item", columns="language", values="crm_logit"
    )
    row = found.gaps(variant="paired", model="m0", gap="global_gap").iloc[0]
    assert row["estimate"] == pytest.approx((wide["zh"] - wide["en"]).mean())
    assert found.headline in ("plain", "paired")


def test_correlations_come_back_to_the_digit() -> None:
    """Those of a result's JSON, unknown ones included."""
    rows = ((None, 0.1234, -0.5), (0.1234, None, None), (-0.5, None, 1.0))
    kinship = Kinship(("a", "b", "c"), rows, (("a", "c"),))
    assert Kinship.from_json(json.loads(json.dumps(kinship.as_json()))) == kinship
