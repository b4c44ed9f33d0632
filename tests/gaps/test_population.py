"""Means over models like these: against t tests, the analysis of variance, simulation, the program's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import maskedadv
from maskedadv import datasets
from maskedadv.errors import MissingFacts
from maskedadv.gaps.clustered import clustered_interval
from maskedadv.gaps.families import families_of
from maskedadv.gaps.population import FEWEST, Sample, describe
from maskedadv.likelihoods.random_effect_moments import find_moments
from maskedadv.likelihoods.random_effects import fit_random_effects
from maskedadv.vocabulary import LIKE_THESE, NEW_LOCALE
from tests.simulate import table
from tests.studies.test_populations import coverage


def one_way(value: np.ndarray, noise: float) -> Sample:
    n = len(value)
    return Sample(value, noise**2 * np.eye(n), None, np.arange(n), np.arange(n), np.zeros(n, dtype=int))


def test_equally_precise_models_give_the_t_test() -> None:
    """REML of one factor and equal noise: variance s²/n with n − 1 degrees of freedom."""
    y = np.random.default_rng(1).normal(-0.5, 0.6, 9)
    found = describe(one_way(y, 0.2), 0.95)
    known = stats.ttest_1samp(y, 0.0)
    interval = known.confidence_interval(0.95)
    assert found.df == pytest.approx(8, rel=1e-4)
    assert found.sd == pytest.approx(y.std(ddof=1) / 3, rel=1e-4)
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high), abs=1e-3)
    assert found.p_positive == pytest.approx(known.pvalue / 2, rel=1e-2)
    assert found.spread["family"] ** 2 == pytest.approx(y.var(ddof=1) - 0.04, rel=1e-3)


def test_shared_noise_does_not_average_away() -> None:
    y = np.random.default_rng(2).normal(0, 0.5, 12)
    own = one_way(y, 0.2)
    shared = Sample(y, own.covariance + 0.09, None, own.family, own.model, own.locale)
    assert describe(shared, 0.95).sd ** 2 == pytest.approx(describe(own, 0.95).sd ** 2 + 0.09, rel=1e-4)


def test_families_and_models_count_alike() -> None:
    """Family 0 has three models and locale 1 lacks a family: mean of means."""
    locale = np.array([0, 0, 0, 0, 0, 1, 1])
    family = np.array([0, 0, 0, 1, 2, 0, 1])
    value = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 4.0, 6.0])
    sample = Sample(value, np.eye(7), None, family, np.array([0, 1, 2, 3, 4, 0, 3]), locale)
    assert sample.weights @ value == pytest.approx(((2 + 5 + 8) / 3 + (4 + 6) / 2) / 2)
    assert list(sample.factors()) == ["family", "model", "locale", "cell"]
    alone = one_way(value, 1.0)
    assert list(alone.factors()) == ["family"]


def test_moments_are_the_analysis_of_variance_and_reml_agrees() -> None:
    rng = np.random.default_rng(3)
    model, locale = (v.ravel() for v in np.indices((8, 6)))
    drawn = 0.5 * rng.standard_normal((40, 8))[:, model] + 0.4 * rng.standard_normal((40, 6))[:, locale]
    drawn = drawn + 0.2 * rng.standard_normal((40, 48))
    found, information = find_moments(drawn, [model, locale, np.arange(48)])
    square = drawn.reshape(40, 8, 6)
    by_model, by_locale = square.mean(axis=2), square.mean(axis=1)
    left = square - by_model[:, :, None] - by_locale[:, None] + square.mean(axis=(1, 2))[:, None, None]
    cell = (left**2).sum(axis=(1, 2)) / 35
    known = [
        (6 * by_model.var(axis=1, ddof=1) - cell) / 6,
        (8 * by_locale.var(axis=1, ddof=1) - cell) / 8,
        cell,
    ]
    assert found == pytest.approx(np.maximum(np.stack(known, axis=1), 0), abs=1e-10)
    for k in range(3):
        reml = fit_random_effects(drawn[k], 1e-9 * np.eye(48), [model, locale, np.arange(48)])
        assert reml.converged
        if (found[k] > 1e-6).all():
            assert reml.variance == pytest.approx(found[k], rel=2e-3)
    assert np.linalg.eigvalsh(information).min() > 0


def test_draws_without_noise_give_the_interval_of_the_estimates() -> None:
    """The same values as 4,000 equal draws, and as estimates that are hardly uncertain."""
    y = np.random.default_rng(4).normal(0.3, 0.5, 10)
    sure = describe(one_way(y, 1e-4), 0.95)
    own = one_way(y, 0.0)
    drawn = describe(Sample(y, None, np.tile(y, (4000, 1)), own.family, own.model, own.locale), 0.95)
    assert drawn.mean == pytest.approx(sure.mean)
    assert (drawn.lower, drawn.upper) == pytest.approx((sure.lower, sure.upper), abs=0.04)


@pytest.mark.parametrize("name", ["five families", "six families, six locales"])
def test_intervals_cover_the_population(name: str) -> None:
    mean, new, _ = coverage(name, 250)  # ± 1.4%
    assert 0.90 < mean < 0.99
    assert np.isnan(new) or new > 0.93


def test_clustered_by_single_models_without_noise_is_the_t_test() -> None:
    y = np.random.default_rng(5).normal(0.2, 0.5, 7)
    known = stats.ttest_1samp(y, 0.0)
    sd, lower, upper, p = clustered_interval(y, np.zeros((3, 7)), "robust", np.arange(7), 0.95)
    ends = known.confidence_interval(0.95)
    assert sd == pytest.approx(known.statistic**-1 * y.mean())
    assert (lower, upper) == pytest.approx((ends.low, ends.high))
    assert p == pytest.approx(1 - known.pvalue / 2)


@pytest.mark.parametrize("kind", ["robust", "posterior"])
def test_clustered_intervals_cover_where_members_of_a_family_go_together(kind: str) -> None:
    """Ten families of three, sd .4 over families, noise that all models share: 500 sets, ± 1%."""
    rng = np.random.default_rng(6)
    family = np.repeat(np.arange(10), 3)
    rows = np.concatenate([0.2 * np.eye(30), np.full((1, 30), 0.1)])
    # What a posterior with these families in its prior, and a mean that may be anywhere, would hold
    prior = 0.16 * (family[:, None] == family) + 25.0
    pull = prior @ np.linalg.inv(prior + rows.T @ rows)
    root = np.linalg.cholesky(prior - pull @ prior + 1e-9 * np.eye(30))
    hits, naive = [], []
    for _ in range(500):
        y = 0.4 * rng.standard_normal(10)[family] + rng.standard_normal(31) @ rows
        value, spread = y, rows
        if kind == "posterior":
            value = pull @ y
            spread = value + rng.standard_normal((300, 30)) @ root.T
        _, lower, upper, _ = clustered_interval(value, spread, kind, family, 0.95)
        hits.append(lower <= 0 <= upper)
        naive.append(abs(y.mean()) <= 1.96 * np.sqrt(0.2**2 / 30 + 0.1**2))
    assert 0.92 < np.mean(hits) < 0.98
    assert np.mean(naive) < 0.85


def test_families_come_from_the_table_then_from_likeness() -> None:
    labels, told = families_of(["a", "b", "c", "d"], {"a": "x", "b": "x"}, [("c", "d")])
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert "model table" in told
    assert "answer alike" in told
    assert families_of(["a", "b"], None, ())[1] == "every model for a family by itself"


@pytest.fixture(scope="module")
def simulated() -> maskedadv.Fit:
    locales = ["bn", "de", "fr", "ja", "sw"]
    return maskedadv.fit(
        table(6, (120, 120), (-1.0, -0.5), locales, seed=3), estimator="marginal", min_accuracy=0
    )


@pytest.mark.parametrize("variant", ["plain", "paired"])
def test_rows_stand_beside_the_means(simulated: maskedadv.Fit, variant: str) -> None:
    """Every model for itself: the same means, with intervals no narrower by more than chance."""
    like, means = simulated.populations(variant=variant), simulated.means(variant=variant)
    assert set(like["model"]) == {LIKE_THESE}
    both = like.merge(means, on=["locale", "gap"], suffixes=("", "_these"))
    assert len(both) == 15
    assert both["estimate"].to_numpy() == pytest.approx(both["estimate_these"].to_numpy())
    assert (both["sd"] >= both["sd_these"] - 1e-9).all()
    new = like[like["locale"] == NEW_LOCALE].set_index("gap")
    whole = like[like["locale"] == "(all locales)"].set_index("gap")
    assert (new["sd"] >= whole["sd"]).all()
    wide = (
        whole["estimate"]["knowledge_gap"] - whole["estimate"]["local_gap"] + whole["estimate"]["global_gap"]
    )
    assert wide == pytest.approx(0, abs=1e-9)


def test_nothing_below_five_families(simulated: maskedadv.Fit) -> None:
    names = [f"m{j}" for j in range(6)]
    facts = pd.DataFrame({"model": names, "family": ["a", "a", "a", "b", "c", "d"]})
    found = simulated.populations(facts)
    assert not len(found)
    assert found.attrs["n_families"] == 4 < FEWEST
    assert "(mean by family)" not in set(simulated.means(models=facts)["model"])
    facts["family"] = ["a", "a", "b", "c", "d", "e"]
    assert set(simulated.populations(facts)["n_families"]) == {5}
    assert (simulated.means(models=facts)["model"] == "(mean by family)").sum() == 15
    with pytest.raises(MissingFacts, match="no column `family`"):
        simulated.populations(facts.drop(columns="family"))


def test_relatives_are_one_family() -> None:
    """The bundled systems are a model and five checkpoints of one fine-tune of it."""
    fit = maskedadv.fit(datasets.global_mmlu_lite(), locale="sw", estimator="marginal", min_accuracy=0)
    found = fit.populations()
    assert not len(found)
    assert found.attrs["n_families"] <= 2
    assert "answer alike" in found.attrs["families"]


def test_bootstrap_agrees_and_information_has_no_mean_over_locales(simulated: maskedadv.Fit) -> None:
    data = table(6, (120, 120), (-1.0, -0.5), ["bn", "de", "fr", "ja", "sw"], seed=3)
    again = maskedadv.fit(
        data, estimator="marginal", min_accuracy=0, interval="bootstrap", replicates=400, variants="none"
    )
    one, other = simulated.populations(), again.populations()
    assert other["sd"].to_numpy() == pytest.approx(one["sd"].to_numpy(), rel=0.25)
    alone = maskedadv.fit(data, estimator="marginal", min_accuracy=0, interval="information")
    assert set(alone.populations()["locale"]) == {"bn", "de", "fr", "ja", "sw"}


def test_draws_of_the_program_and_of_the_gaps_agree() -> None:
    """NUTS: the program's own population mean, and the one told from the scatter of each draw's gaps."""
    fit = maskedadv.fit(
        table(8, (80, 80), (-1.0, -0.5), seed=5), method="nuts", min_accuracy=0, warmup=300, draws=500,
        chains=2, link="none", guessing="none",
    )  # fmt: skip
    for variant in ("plain", "paired"):
        ours = fit.populations(variant=variant)
        scatter = fit.populations(variant=variant, model=[f"m{j}" for j in range(8)])
        assert ours["estimate"].to_numpy() == pytest.approx(scatter["estimate"].to_numpy(), abs=0.12)
        assert ours["sd"].to_numpy() == pytest.approx(scatter["sd"].to_numpy(), rel=0.35)
        assert (ours["sd"] > fit.means(variant=variant)["sd"]).all()
