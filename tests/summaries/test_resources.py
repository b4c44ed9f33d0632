"""Resource levels: the paper's printed p values, hand calculations, and the slope's interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from maskedadv import summaries
from maskedadv.errors import MissingFacts
from maskedadv.summaries.resources import pearson_p
from tests.constructed import constructed_fit

PAPER = {
    "zh": 5,
    "ar": 5,
    "fr": 5,
    "ja": 5,
    "hi": 4,
    "ko": 4,
    "nl": 4,
    "fa": 4,
    "pl": 4,
    "el": 3,
    "bn": 3,
    "ne": 1,
    "te": 1,
}


@pytest.mark.parametrize(("r", "p", "digits"), [(0.84, 0.0003, 4), (0.69, 0.009, 3), (-0.30, 0.32, 2)])
def test_p_of_the_papers_correlations(r: float, p: float, digits: int) -> None:
    """arXiv 2606.07422, Table 1: 13 locale means, 11 df."""
    assert round(pearson_p(r, 13), digits) == p


def test_shipped_levels_are_the_papers() -> None:
    facts = summaries.locale_facts()
    assert {k: facts.loc[k, "resource_level"] for k in PAPER} == PAPER


def test_levels_and_trend_by_hand() -> None:
    locales = ["te", "el", "pl", "zh", "fr"]
    mean = np.array([-1.2, -0.9, -0.7, -0.4, -0.6])
    gaps = (
        np.stack([mean, mean + 0.8 - 0.1 * np.arange(5)], axis=1)[:, None, :]
        + np.array([-0.1, 0.1])[None, :, None]
    )
    fit = constructed_fit(gaps, locales, ["a", "b"])
    table = summaries.by_resource_level(fit, summaries.locale_facts()).set_index(["resource_level", "gap"])
    assert table.loc[(5.0, "global_gap"), "estimate"] == pytest.approx(-0.5)
    assert table.loc[(5.0, "global_gap"), "n_locales"] == 2
    assert table.loc[(5.0, "global_gap"), "sd"] == pytest.approx(0.1 / 2)  # four independent cells
    assert table.loc[(1.0, "local_gap"), "estimate"] == pytest.approx(-0.4)
    trend = summaries.resource_trend(fit, summaries.locale_facts()).set_index("gap")
    x = np.array([1, 3, 4, 5, 5])
    r, p = stats.pearsonr(x, mean)
    assert trend.loc["global_gap", "r"] == pytest.approx(r)
    assert trend.loc["global_gap", "p"] == pytest.approx(p)
    ours = trend.loc["global_gap", ["r_lower", "r_upper"]].tolist()
    assert ours == pytest.approx(list(stats.pearsonr(x, mean).confidence_interval()))
    assert trend.loc["global_gap", "spearman"] == pytest.approx(stats.spearmanr(x, mean).statistic)
    line = stats.linregress(x, mean)
    assert trend.loc["global_gap", "slope"] == pytest.approx(line.slope)
    assert trend.loc["global_gap", "slope_sd"] == pytest.approx(
        0.1 / np.sqrt(2) / np.sqrt(((x - 3.6) ** 2).sum())
    )


def test_the_slopes_interval_holds_where_means_are_noisy() -> None:
    """True means lie anywhere; noise is shared between locales; 95% of intervals hold the true slope."""
    rng = np.random.default_rng(11)
    locales = list(PAPER)
    level = np.array(list(PAPER.values()), dtype=float)
    centred = level - level.mean()
    own = [np.concatenate([np.full((1, 2, 1), 0.2), np.full((1, 2, 1), 0.3)])] * 13
    keys = [["common", name] for name in locales]
    truth = np.stack([rng.normal(-1 + 0.2 * level, 0.3), rng.normal(0, 0.3, 13)], axis=1)
    slope = centred @ truth[:, 0] / (centred**2).sum()
    joint = summaries.Joint.of(constructed_fit(truth[:, None, :], locales, ["a"], own, keys))
    facts = summaries.locale_facts()
    hits, runs = 0, 400
    for _ in range(runs):
        noise = 0.2 * rng.normal() + 0.3 * rng.normal(size=13)
        seen = replace(joint, estimate=joint.estimate + noise[:, None, None])
        row = summaries.resource_trend(seen, facts).iloc[0]
        hits += row["slope_lower"] < slope < row["slope_upper"]
    assert 0.925 <= hits / runs <= 0.975


def test_too_little_to_correlate() -> None:
    fit = constructed_fit(np.zeros((2, 1, 2)), ["zh", "te"], ["a"])
    trend = summaries.resource_trend(fit, summaries.locale_facts())
    assert trend[["r", "p", "spearman"]].isna().all(axis=None)
    same = constructed_fit(np.zeros((3, 1, 2)) + np.arange(3)[:, None, None], ["zh", "fr", "ja"], ["a"])
    assert summaries.resource_trend(same, summaries.locale_facts())[["r", "slope"]].isna().all(axis=None)
    with pytest.raises(MissingFacts, match="add resource_level"):
        summaries.by_resource_level(
            constructed_fit(np.zeros((1, 1, 2)), ["xx"], ["a"]), summaries.locale_facts()
        )
