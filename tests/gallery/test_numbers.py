"""Numbers of the gallery against ways that share nothing with the package: counts by hand, and R."""

from __future__ import annotations

import importlib
import math
import os
import sys

import numpy as np
import pandas as pd
import pytest

import maskedadv
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs" / "gallery"))
pages = importlib.import_module("pages")
R = pd.read_csv(ROOT / "tests" / "data" / "r" / "gallery.csv").set_index("what")


def kept(name: str) -> dict[str, object]:
    return pages.kept(name)["quick"]  # type: ignore[no-any-return]


def by_counting(table: pd.DataFrame, locale: str, subset: str, model: str) -> float:
    """log(n10/n01) over the items that the model answered in both languages."""
    own = table[(table["subset"] == subset) & (table["model"] == model)]
    wide = own.pivot_table(index="item", columns="language", values="correct")[[locale, "en"]].dropna()
    local_only = int(((wide[locale] == 1) & (wide["en"] == 0)).sum())
    pivot_only = int(((wide[locale] == 0) & (wide["en"] == 1)).sum())
    return math.log(local_only / pivot_only)


@pytest.mark.parametrize(
    ("name", "data", "locale"),
    [("bundled_outcomes", "global_mmlu_lite", "sw"), ("truthfulqa", "truthfulqa_multi", "gl")],
)
def test_paired_means_are_ratios_of_counts(name: str, data: str, locale: str) -> None:
    table = getattr(maskedadv.datasets, data)()
    row = kept(name)["means"]["paired"][locale]  # type: ignore[index]
    counted = {
        subset: np.mean([by_counting(table, locale, subset, m) for m in sorted(table["model"].unique())])
        for subset in ("CA", "CS")
    }
    assert row["global_gap"]["estimate"] == pytest.approx(counted["CA"], abs=1e-4)
    assert row["local_gap"]["estimate"] == pytest.approx(counted["CS"], abs=1e-4)
    assert row["knowledge_gap"]["estimate"] == pytest.approx(counted["CS"] - counted["CA"], abs=1e-4)


def test_plain_gaps_of_relatives_equal_glmers() -> None:
    """The three Mistral models in Galician; R: tests/data/r/gallery.R."""
    table = maskedadv.datasets.truthfulqa_multi()
    table = table[table["model"].str.startswith("mistralai/") & table["language"].isin(["en", "gl"])]
    fit = maskedadv.fit(table, estimator="marginal", min_accuracy=0, interval="information", variants="none")
    mean = fit.means().set_index("gap")
    for gap, subset in (("global_gap", "CA"), ("local_gap", "CS")):
        row = R.loc[f"mistral gl {subset} glmer"]
        assert mean.loc[gap, "estimate"] == pytest.approx(row["estimate"], abs=1e-3)
        assert mean.loc[gap, "sd"] == pytest.approx(row["sd"], rel=5e-3)


def test_a_paired_gap_equals_conditional_logistic_regression() -> None:
    table = maskedadv.datasets.truthfulqa_multi()
    row = R.loc["Mistral-7B-v0.3 gl CA clogit"]
    assert by_counting(table, "gl", "CA", "mistralai/Mistral-7B-v0.3") == pytest.approx(
        row["estimate"], abs=1e-6
    )


def test_a_gap_from_accuracies_equals_an_interaction_of_glm() -> None:
    row = R.loc["latxa-70b-v1 glm"]
    ours = kept("bertaqa")["each"]["latxa-70b-v1"]["knowledge_gap"]  # type: ignore[index]
    assert ours["estimate"] == pytest.approx(row["estimate"], abs=1e-4)
    assert (ours["upper"] - ours["lower"]) / (2 * 1.959964) == pytest.approx(row["sd"], abs=1e-4)


def test_the_change_by_adaptation_is_arithmetic_on_the_printed_percentages() -> None:
    def logit(percent: float, floor: float = 0.0) -> float:
        p = (percent / 100 - floor) / (1 - floor)
        return math.log(p / (1 - p))

    def gap(cs_eu: float, cs_en: float, ca_eu: float, ca_en: float, floor: float) -> float:
        return logit(cs_eu, floor) - logit(cs_en, floor) - logit(ca_eu, floor) + logit(ca_en, floor)

    row = kept("bertaqa")["pairs"]["latxa-70b-v1"]  # type: ignore[index]
    for name, floor in (("knowledge_gap", 0.0), ("floor", 1 / 3)):
        change = gap(59.98, 56.73, 71.78, 75.04, floor) - gap(37.39, 49.15, 54.22, 77.68, floor)
        assert row[name]["estimate"] == pytest.approx(change, abs=1e-4)


def test_the_judges_gaps_are_arithmetic_on_the_published_percentages() -> None:
    wide = pd.read_csv(ROOT / "docs" / "gallery" / "data" / "truthfulqa_judge.csv").set_index(
        ["subset", "model"]
    )
    odds = np.log(wide / (100 - wide))
    for locale, row in kept("truthfulqa")["judge"].items():  # type: ignore[attr-defined]
        gap = (odds[locale] - odds["en"]).groupby("subset").mean()
        assert row["global_gap"]["estimate"] == pytest.approx(gap["CA"], abs=1e-4)
        assert row["knowledge_gap"]["estimate"] == pytest.approx(gap["CS"] - gap["CA"], abs=1e-4)


@pytest.mark.skipif(not os.environ.get("VERITASQA"), reason="VERITASQA names no file of log-likelihoods")
def test_probabilities_are_the_logged_ones_and_paired_gaps_are_t_tests() -> None:
    script = importlib.import_module("veritasqa")
    table = script.data().dropna(subset=["p_correct"])
    assert (table["p_correct"] - table["mc2"]).abs().max() < 1e-5
    gaps = script.fitted("crm").gaps(model="gemma-2-9b", locale="gl", variant="paired").set_index("gap")
    for gap, subset in (("global_gap", "CA"), ("local_gap", "CS")):
        row = R.loc[f"gemma-2-9b gl {subset} t.test"]
        assert gaps.loc[gap, "estimate"] == pytest.approx(row["estimate"], abs=1e-5)
        assert gaps.loc[gap, "sd"] == pytest.approx(row["sd"], rel=1e-3)
