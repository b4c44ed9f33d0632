"""Intervals of means and differences against algebra and simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import maskedadv
from maskedadv import summaries
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.summaries import Joint
from tests.constructed import constructed_fit

GAPS = np.array([[[-1.0, -0.5], [-0.6, 0.4]], [[-2.0, -1.4], [-1.0, 0.0]]])  # zh, sw × a, b × global, local


def _sd(frame: pd.DataFrame, gap: str) -> float:
    return float(frame.loc[frame["gap"] == gap, "sd"].iloc[0])


def test_means_by_hand() -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"])
    means = summaries.locale_means(fit).set_index(["locale", "gap"])["estimate"]
    assert means["zh", "global_gap"] == pytest.approx(-0.8)
    assert means["zh", "local_gap"] == pytest.approx(-0.05)
    assert means["zh", "knowledge_gap"] == pytest.approx(0.75)
    own = summaries.model_means(fit).set_index(["model", "gap"])["estimate"]
    assert own["b", "knowledge_gap"] == pytest.approx(1.0)
    overall = summaries.overall_means(fit).set_index("gap")
    assert overall["estimate"].tolist() == pytest.approx([-1.15, -0.375, 0.775])
    # independent rows of sd 0.1: four cells, and the knowledge gap has two of them each
    assert overall["sd"].tolist() == pytest.approx([0.05, 0.05, 0.05 * np.sqrt(2)])
    half = norm.ppf(0.975) * 0.05
    assert overall.loc["global_gap", "lower"] == pytest.approx(-1.15 - half)


def test_shared_keys_move_locales_together() -> None:
    rows = [0.3 * np.ones((1, 2, 2))] * 2
    together = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], rows, [["item"], ["item"]])
    apart = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], rows, [["item 1"], ["item 2"]])
    opposed = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], [rows[0], -0.8 * rows[1]], [["item"], ["item"]])
    assert _sd(summaries.overall_means(together), "global_gap") == pytest.approx(0.3)
    assert _sd(summaries.overall_means(apart), "global_gap") == pytest.approx(0.3 / np.sqrt(2))
    assert _sd(summaries.overall_means(opposed), "global_gap") == pytest.approx(0.3 * (1 - 0.8) / 2)
    # a shift that both gaps have in common leaves the knowledge gap where it is
    uneven = [row * np.array([1.0, 0.8])[:, None] for row in rows]
    tilted = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], uneven, [["item"], ["item"]])
    assert _sd(summaries.overall_means(tilted), "knowledge_gap") == pytest.approx(0.3 * (1 - 0.8))


def test_sd_of_any_sum_is_that_of_simulated_errors() -> None:
    rng = np.random.default_rng(3)
    keys = [[f"k{k}" for k in range(12)], [f"k{k}" for k in range(6, 18)]]
    rows = [rng.normal(0, 0.2, (12, 2, 2)) for _ in keys]
    joint = Joint.of(constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], rows, keys))
    weights = rng.normal(0, 1, (3, 2, 2, 3))
    found = joint.contrast(weights)
    common = {key: rng.normal(size=60_000) for key in {k for own in keys for k in own}}
    error = np.stack(
        [
            np.einsum("kn,kgj->njg", np.stack([common[k] for k in key]), own)
            for key, own in zip(keys, rows, strict=True)
        ],
        axis=1,
    )
    error = np.concatenate([error, error[..., 1:] - error[..., :1]], axis=-1)
    assert found.sd == pytest.approx(np.einsum("nljg,fljg->nfg", error, weights).std(axis=0), rel=0.02)


def test_unknown_gaps_leave_the_mean_to_the_known() -> None:
    gaps = GAPS.copy()
    gaps[0, 0, 1] = np.nan
    fit = constructed_fit(gaps, ["zh", "sw"], ["a", "b"])
    means = summaries.locale_means(fit).set_index(["locale", "gap"])
    assert means.loc[("zh", "local_gap"), "estimate"] == pytest.approx(0.4)
    assert means.loc[("zh", "local_gap"), "sd"] == pytest.approx(0.1)
    assert means.loc[("zh", "global_gap"), "estimate"] == pytest.approx(-0.8)
    gaps[0, :, 1] = np.nan
    fit = constructed_fit(gaps, ["zh", "sw"], ["a", "b"])
    means = summaries.locale_means(fit).set_index(["locale", "gap"])
    assert np.isnan(
        means.loc[("zh", "knowledge_gap"), ["estimate", "sd", "lower", "p_positive"]].to_numpy(float)
    ).all()
    assert summaries.overall_means(fit)["estimate"].tolist() == pytest.approx([-1.15, -0.7, 0.8])


def test_replicates_are_matched_by_key() -> None:
    rng = np.random.default_rng(8)
    draws = GAPS[None] + 0.2 * rng.normal(size=(400, 1, 2, 2))  # the same noise in both locales
    rows = [np.moveaxis(draws[:, k], 1, 2) for k in range(2)]
    keys = [[f"replicate {b}" for b in range(400)]] * 2
    order = rng.permutation(400)
    shuffled = [rows[0], rows[1][order]]
    fit = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], rows, keys, kind="bootstrap")
    again = constructed_fit(
        GAPS, ["zh", "sw"], ["a", "b"], shuffled, [keys[0], [keys[1][b] for b in order]], kind="bootstrap"
    )
    mean = draws.mean(axis=(1, 2))
    found = summaries.overall_means(fit)
    assert found["lower"].tolist()[:2] == pytest.approx(np.quantile(mean, 0.025, axis=0).tolist())
    pd.testing.assert_frame_equal(found, summaries.overall_means(again))


def test_a_replicate_that_one_locale_lacks_counts_for_neither() -> None:
    rows = [
        np.zeros((4, 2, 2)) + np.arange(4.0)[:, None, None],
        np.zeros((3, 2, 2)) + np.arange(3.0)[:, None, None],
    ]
    keys = [[f"r{b}" for b in range(4)], [f"r{b}" for b in range(3)]]
    fit = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"], rows, keys, kind="bootstrap")
    assert _sd(summaries.overall_means(fit), "global_gap") == pytest.approx(1.0)  # of 0, 1, 2
    assert _sd(summaries.locale_means(fit), "global_gap") == pytest.approx(np.std(range(4), ddof=1))


def test_locale_means_are_those_of_the_fit() -> None:
    fit = maskedadv.fit(
        maskedadv.datasets.global_mmlu_lite(), estimator="marginal", locale=["zh", "sw"], engine="embedded"
    )
    ours, theirs = summaries.locale_means(fit), fit.means()
    for name in ("estimate", "sd", "lower", "upper", "p_positive"):
        assert ours[name].to_numpy() == pytest.approx(theirs[name].to_numpy(dtype=float), abs=1e-12)
    # English answers are shared, so means of two locales vary together: less than their sum of variances
    by_locale = ours[ours["gap"] == "local_gap"]["sd"].to_numpy()
    overall = _sd(summaries.overall_means(fit), "local_gap")
    assert np.sqrt((by_locale**2).sum()) / 2 < overall < by_locale.mean()


def test_mixed_kinds_are_refused() -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], ["a", "b"])
    plain = dict(fit.uncertainty["plain"])
    plain["sw"] = Uncertainty("bootstrap", plain["sw"].key, plain["sw"].values)
    fit = replace(fit, uncertainty={"plain": plain})
    with pytest.raises(maskedadv.errors.BadSetting, match="different kinds"):
        Joint.of(fit)


def test_counts_are_of_the_gap_that_they_stand_beside() -> None:
    gaps = np.array(
        [[[-1.0, np.nan], [-0.5, 0.2], [np.nan, 0.1]], [[-1.0, 0.3], [np.nan, np.nan], [0.1, 0.2]]]
    )
    fit = constructed_fit(gaps, ["zh", "sw"], ["a", "b", "c"])
    assert summaries.locale_means(fit)["n_models"].tolist() == [2, 2, 1, 2, 2, 2]
    assert summaries.model_means(fit)["n_locales"].tolist() == [2, 1, 1, 1, 1, 1, 1, 2, 1]
    overall = summaries.overall_means(fit)
    assert overall["n_locales"].tolist() == [2, 2, 2]
    assert overall["n_models"].tolist() == [3, 3, 3]
    models = summaries.model_facts(
        pd.DataFrame({"model": ["a", "b", "c"], "family": ["F", "F", "G"], "origin": ["China", "USA", "USA"]})
    )
    assert summaries.by_family(fit, models)["n_models"].tolist() == [2, 2, 2, 1, 1, 1]
    home = summaries.home_versus_others(fit, models, summaries.locale_facts())
    assert home["n_home"].tolist() == [1, 0, 0]
    assert home["n_others"].tolist() == [1, 2, 1]
