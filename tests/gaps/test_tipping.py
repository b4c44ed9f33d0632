"""The tipping point and λ's interval: algebra, brute force, coverage with skewed abilities."""

from __future__ import annotations

import numpy as np
import pytest

import maskedadv
from maskedadv import datasets
from maskedadv.gaps.link import find_link
from maskedadv.gaps.tipping import fieller


def test_fieller_holds_every_ratio_that_the_data_do_not_exclude() -> None:
    a, b, va, vb, cov = -0.6, -1.1, 0.02, 0.03, 0.008
    lower, upper = fieller(a, b, (va, vb), cov, 0.95)
    ratios = np.linspace(-2, 4, 60001)
    inside = np.abs(a - ratios * b) <= 1.959964 * np.sqrt(va - 2 * ratios * cov + ratios**2 * vb)
    assert lower == pytest.approx(ratios[inside][0], abs=2e-4)
    assert upper == pytest.approx(ratios[inside][-1], abs=2e-4)
    assert fieller(a, -0.2, (va, vb), cov, 0.95) == (-np.inf, np.inf)


def test_fieller_covers_the_true_ratio() -> None:
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky([[0.03, 0.01], [0.01, 0.04]])
    hits = []
    for _ in range(2000):
        a, b = np.array([-0.5, -1.0]) + root @ rng.standard_normal(2)
        lower, upper = fieller(a, b, (0.03, 0.04), 0.01, 0.95)
        hits.append(lower < 0.5 < upper)
    assert 0.935 < np.mean(hits) < 0.965


def test_the_gap_vanishes_at_the_tipping_point() -> None:
    fit = maskedadv.fit(
        datasets.global_mmlu_lite(), locale=["sw", "zh"], estimator="marginal", min_accuracy=0
    )
    for variant in ("plain", "paired"):
        found = fit.tipping(variant=variant).set_index("locale")
        means = fit.means(variant=variant).set_index(["locale", "gap"])["estimate"]
        for locale in ("sw", "zh"):
            at = means[locale, "local_gap"] / found.loc[locale, "ratio"] - means[locale, "global_gap"]
            assert at == pytest.approx(0, abs=1e-9)
        assert found.loc["sw", "lower"] < found.loc["sw", "ratio"] < found.loc["sw", "upper"]
        assert np.isinf(found.loc["zh", "upper"])
        assert "not clear of zero" in found.loc["zh", "note"]
    assert "(all locales)" in set(fit.tipping()["locale"])


def test_no_ratio_explains_a_local_gap_above_zero_beside_a_global_gap_below() -> None:
    rng = np.random.default_rng(0)
    from tests.simulate import table

    fit = maskedadv.fit(
        table(models=4, items=(150, 150), gaps=(-1.0, 0.8), seed=int(rng.integers(9))),
        estimator="marginal",
        min_accuracy=0,
    )
    assert "no ratio of scales explains the sign" in fit.tipping()["note"].iloc[0]


@pytest.mark.parametrize(("shape", "least"), [("normal", 0.93), ("gamma", 0.91)])
@pytest.mark.parametrize("models", [8, 20, 40])
def test_the_interval_of_the_ratio_withstands_skew(shape: str, least: float, models: int) -> None:
    """Abilities correlated by .6, without noise of estimation; gamma(2) has a skewness of 1.4."""
    rng = np.random.default_rng(models)
    nothing = np.zeros((1, models))
    hits = []
    for _ in range(600):
        z = (
            rng.standard_normal((2, models))
            if shape == "normal"
            else rng.gamma(2, 1, (2, models)) / np.sqrt(2)
        )
        link = find_link(z[0], nothing, 0.6 * z[0] + 0.8 * z[1], nothing)
        hits.append(link.lower < 1 < link.upper)
    assert least - 0.02 < np.mean(hits) < 0.995


def test_a_mean_without_an_interval_is_not_called_unclear() -> None:
    """`information` knows no covariance between locales, so that their mean has no interval."""
    from tests.simulate import table

    fit = maskedadv.fit(
        table(models=3, items=(200, 200), gaps=(-1.5, -0.5), locales=("sw", "zh"), seed=2),
        estimator="marginal",
        min_accuracy=0,
        interval="information",
    )
    whole = fit.tipping().set_index("locale").loc["(all locales)"]
    assert np.isfinite(whole["ratio"])
    assert np.isnan(whole["lower"])
    assert np.isnan(whole["upper"])
    assert whole["note"] == ""
