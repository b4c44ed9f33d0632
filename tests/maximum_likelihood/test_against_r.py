"""The marginal estimator against R's glmer, standard errors and log likelihood too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.engines.embedded import Embedded
from maskedadv.maximum_likelihood.marginal import fit_marginal

R = pd.read_csv(Path(__file__).parents[1] / "data" / "r_contrasts.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def information() -> pd.DataFrame:
    fit = maskedadv.fit(
        maskedadv.datasets.global_mmlu_lite(), estimator="marginal", interval="information", engine="embedded"
    )
    gaps = fit.gaps()
    gaps["subset"] = gaps["gap"].map({"global_gap": "CA", "local_gap": "CS"})
    merged = R.merge(gaps, on=["locale", "subset", "model"], validate="one_to_one")
    assert len(merged) == 48
    return merged


def test_contrasts_equal_glmer(information: pd.DataFrame) -> None:
    assert (information["estimate"] - information["mml"]).abs().max() < 0.0005


def test_standard_errors_equal_glmer(information: pd.DataFrame) -> None:
    assert (information["sd"] / information["mml_se"] - 1).abs().max() < 0.001


def test_conditional_ml_agrees_within_sampling_error(information: pd.DataFrame) -> None:
    """eRm conditions items out, we integrate them out: two consistent estimators of one contrast."""
    difference = (information["estimate"] - information["cml"]).abs() / information["cml_se"]
    assert difference.max() < 0.15


def test_abilities_and_spread_equal_glmer() -> None:
    fit = maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal", engine="embedded")
    cube = fit.cube
    for row in R.itertuples():
        cell = cube["ability"].sel(locale=row.locale, model=row.model, subset=row.subset)
        assert float(cell.sel(query="pivot")) == pytest.approx(row.theta_en, abs=2e-3)
        assert float(cell.sel(query="local")) == pytest.approx(row.theta_local, abs=2e-3)
    sigma = {(b["locale"], b["subset"]): b["sigma"] for b in fit.info.blocks if b["variant"] == "plain"}
    for (locale, subset), rows in R.groupby(["locale", "subset"]):
        assert sigma[(locale, subset)] == pytest.approx(rows["sd_item"].iloc[0], rel=1e-3)


@pytest.mark.parametrize(
    ("dataset", "items"), [("ltm_LSAT6", 5), ("lme4_VerbAgg_r2", 24), ("erm_raschdat1", 30)]
)
def test_classic_data_with_roles_transposed(shared: Path, dataset: str, items: int) -> None:
    """Persons are many and items few there: R's items are our cells, easiness is ability."""
    answers = pd.read_csv(shared / "reference" / f"{dataset}.csv").to_numpy(dtype=float).T
    assert len(answers) == items
    r = pd.read_csv(shared / "reference" / "rasch_estimates.csv")
    r = r[r["dataset"] == dataset]
    found = fit_marginal(answers, Embedded(), interval="information", seed=1)
    np.testing.assert_allclose(found.ability, -r["mml_difficulty_glmer_AGQ25"], atol=2e-3)
    np.testing.assert_allclose(found.ability_sd, r["mml_se_glmer"], rtol=0.01)
    assert found.sigma == pytest.approx(r["mml_sigma_theta"].iloc[0], abs=1e-3)
    assert found.log_likelihood == pytest.approx(r["mml_loglik"].iloc[0], abs=0.01)


LSAT6_TOTALS = (924, 709, 553, 763, 870)


def test_lsat6_item_totals_are_the_published_ones(shared: Path) -> None:
    answers = pd.read_csv(shared / "reference" / "ltm_LSAT6.csv").to_numpy(dtype=float)
    assert tuple(answers.sum(axis=0)) == LSAT6_TOTALS
