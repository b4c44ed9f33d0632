"""Continuous responses by least squares: against lstsq, statsmodels' cluster covariance, and simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import maskedadv
from maskedadv.design.logits import EPSILON
from maskedadv.errors import BadSetting, WrongResponse
from maskedadv.maximum_likelihood.continuous import fit_crm
from tests import simulate


def _table(models: int = 3, missing: float = 0.2, seed: int = 0) -> pd.DataFrame:
    table = simulate.table(models, (25, 20), missing=missing, seed=seed)
    rng = np.random.default_rng(seed + 1)
    logit = rng.normal(2.0 * table["correct"] - 0.5, 1.3)
    return table.assign(p_correct=1 / (1 + np.exp(-logit)))


def _block(seed: int = 0, missing: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(0.5, 1, (6, 1)) - rng.normal(0, 1.5, 30) + rng.normal(0, 0.8, (6, 30))
    x[rng.random(x.shape) < missing] = np.nan
    return x


def _frame(block: np.ndarray) -> pd.DataFrame:
    cell, item = np.nonzero(~np.isnan(block))
    return pd.DataFrame({"x": block[cell, item], "cell": cell, "item": item})


def test_estimates_and_both_covariances_are_those_of_ols():
    """statsmodels' OLS of x on cell and item dummies; contrasts between cells need no anchor."""
    block = _block()
    frame = _frame(block)
    model = smf.ols("x ~ 0 + C(cell) + C(item)", frame)
    plain = model.fit()
    names = [f"C(cell)[{c}]" for c in range(6)]
    ours = fit_crm(block, None, interval="information", seed=1)
    np.testing.assert_allclose(
        ours.ability - ours.ability[0], plain.params[names] - plain.params[names[0]], atol=1e-9
    )
    np.testing.assert_allclose(ours.noise**2, plain.scale, rtol=1e-9)
    contrast = np.zeros(6)
    contrast[[1, 4]] = 1, -1
    for interval, fit in (
        ("information", plain),
        (
            "robust",
            model.fit(cov_type="cluster", cov_kwds={"groups": frame["item"], "use_correction": False}),
        ),
    ):
        ours = fit_crm(block, None, interval=interval, seed=1)
        variance = float(((ours.uncertainty @ contrast) ** 2).sum())
        theirs = contrast @ fit.cov_params().loc[names, names].to_numpy() @ contrast
        clusters = 30 / 29 if interval == "robust" else 1.0
        np.testing.assert_allclose(variance, theirs * clusters, rtol=1e-7)


def test_difficulties_sum_to_zero_in_every_component():
    block = _block(missing=0.0)
    apart = np.full((12, 60), np.nan)
    apart[:6, :30], apart[6:, 30:] = block, block + 5.0
    ours = fit_crm(apart, None, interval="robust", seed=1)
    np.testing.assert_allclose([ours.difficulty[:30].sum(), ours.difficulty[30:].sum()], 0.0, atol=1e-9)
    np.testing.assert_allclose(ours.ability[6:] - ours.ability[:6], 5.0, atol=1e-9)
    assert len(np.unique(ours.part)) == 2


def test_gaps_of_complete_answers_are_differences_of_means():
    table = _table(missing=0.0)
    fit = maskedadv.fit(table, response="crm", min_accuracy=0)
    table["logit"] = np.log(table["p_correct"] / (1 - table["p_correct"]))
    mean = table.pivot_table("logit", "model", ["language", "subset"])
    gap = mean["zh"] - mean["en"]
    ours = fit.cube["estimate"].sel(locale="zh", variant="plain").to_pandas()
    np.testing.assert_allclose(ours["global_gap"], gap["CA"], atol=1e-9)
    np.testing.assert_allclose(ours["knowledge_gap"], gap["CS"] - gap["CA"], atol=1e-9)


def test_bootstrap_and_robust_agree():
    table = _table(missing=0.1, seed=3)
    robust = maskedadv.fit(table, response="crm", min_accuracy=0).gaps()
    boot = maskedadv.fit(table, response="crm", interval="bootstrap", min_accuracy=0, replicates=800).gaps()
    np.testing.assert_allclose(boot["sd"], robust["sd"], rtol=0.2)


def test_intervals_cover_and_gaps_are_not_inflated_with_one_model():
    covered, estimates = [], []
    rng = np.random.default_rng(4)
    for _ in range(400):
        b = rng.normal(0, 1.5, 60)
        x = np.array([[-0.3], [0.5]]) - b + rng.normal(0, 1, (2, 60))
        ours = fit_crm(x, None, interval="robust", seed=1)
        gap = ours.ability[0] - ours.ability[1]
        sd = np.sqrt(((ours.uncertainty[:, 0] - ours.uncertainty[:, 1]) ** 2).sum())
        covered.append(abs(gap + 0.8) < 1.96 * sd)
        estimates.append(gap)
    assert abs(np.mean(estimates) + 0.8) < 4 * np.std(estimates) / 20
    assert 0.92 < np.mean(covered) < 0.975


def test_log_odds_are_taken_before_probabilities_and_clipping_is_counted():
    table = _table(missing=0.0)
    table["crm_logit"] = np.nan
    table.loc[0, ["p_correct", "crm_logit"]] = [1.0, 20.0]
    table.loc[1, "p_correct"] = 0.0
    fit = maskedadv.fit(table, response="crm", min_accuracy=0)
    assert [w for w in fit.warnings if w.startswith("1 values of p_correct lie within 1e-06 of 0 or 1")]
    changed = table.assign(p_correct=table["p_correct"].clip(EPSILON, 1 - EPSILON))
    changed.loc[0, "p_correct"] = 0.5
    same = maskedadv.fit(changed, response="crm", min_accuracy=0)
    np.testing.assert_allclose(fit.cube["estimate"], same.cube["estimate"], atol=1e-9)


def test_accuracy_in_the_cube_is_a_share_not_a_logit():
    table = _table()
    cube = maskedadv.fit(table, response="crm", min_accuracy=0).cube
    share = table.groupby(["model", "subset", "language"])["correct"].mean()
    assert (
        cube["accuracy"].sel(locale="zh", model="m0", subset="CA", query="pivot") == share["m0", "CA", "en"]
    )


def test_without_probabilities_or_with_marginal_it_is_refused():
    with pytest.raises(WrongResponse, match="needs the column 'p_correct' or 'crm_logit'"):
        maskedadv.fit(simulate.table(), response="crm")
    with pytest.raises(BadSetting, match="no marginal estimator"):
        maskedadv.fit(_table(), response="crm", estimator="marginal")


def test_a_replicate_that_draws_nothing_of_a_component_is_without_it():
    """It ended the whole fit: weights that sum to zero cannot be normalised."""
    block = np.full((4, 7), np.nan)
    block[:2, :6] = np.random.default_rng(1).normal(0, 1, (2, 6))
    block[2:, 6] = [0.5, 1.5]
    weights = [np.array([1, 1, 1, 1, 2, 1, 0.0]), np.ones(7)]
    found = fit_crm(block, None, interval="bootstrap", seed=1, weights=weights)
    assert np.isnan(found.uncertainty[0, 2:]).all()
    assert np.isnan(found.ability_sd[2:]).all()  # of one replicate
    assert np.isfinite(found.uncertainty[0, :2]).all()
    assert found.uncertainty[1, 3] - found.uncertainty[1, 2] == pytest.approx(1.0)
    assert found.ability[3] - found.ability[2] == pytest.approx(1.0)
