"""Identities that hold exactly, and invariances."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

import maskedadv
from maskedadv.engines.embedded import Embedded
from maskedadv.likelihoods import rasch as joint
from maskedadv.maximum_likelihood.joint import fit_joint
from maskedadv.maximum_likelihood.marginal import fit_marginal
from tests.simulate import block, table

ENGINE = Embedded()


def pair(n11: int, n10: int, n01: int, n00: int) -> np.ndarray:
    """One model in two languages: local row first, counts of items by (local, pivot) outcome."""
    local = [1] * n11 + [1] * n10 + [0] * n01 + [0] * n00
    pivot = [1] * n11 + [0] * n10 + [1] * n01 + [0] * n00
    return np.array([local, pivot], dtype=float)


@given(n10=st.integers(1, 60), n01=st.integers(1, 60), n11=st.integers(0, 60), n00=st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_one_model_in_two_languages(n10: int, n01: int, n11: int, n00: int) -> None:
    """Conditional ML is log(n10/n01); joint ML is exactly twice that (Andersen 1973)."""
    found = fit_joint(pair(n11, n10, n01, n00), ENGINE, interval="robust", seed=1)
    assert found.ability[0] - found.ability[1] == pytest.approx(2 * np.log(n10 / n01), abs=1e-6)
    sd = np.sqrt(np.sum((found.uncertainty[:, 0] - found.uncertainty[:, 1]) ** 2))
    n = n11 + n10 + n01 + n00
    assert sd == pytest.approx(
        2 * np.sqrt(1 / n10 + 1 / n01) * np.sqrt((n10 + n01) / (n10 + n01 - 1)), rel=0.5
    )
    exact = 2 * np.sqrt(1 / n10 + 1 / n01) * np.sqrt((n10 + n01) / (n10 + n01 - 1))
    assert sd == pytest.approx(exact, rel=1e-6), n


@pytest.mark.parametrize("counts", [(60, 25, 40, 30), (100, 10, 30, 60), (150, 30, 30, 10)])
def test_marginal_and_conditional_agree_for_one_model(counts: tuple[int, int, int, int]) -> None:
    n11, n10, n01, n00 = counts
    found = fit_marginal(pair(n11, n10, n01, n00), ENGINE, interval="information", seed=1)
    gap = found.ability[0] - found.ability[1]
    se = np.sqrt(1 / n10 + 1 / n01)
    assert abs(gap - np.log(n10 / n01)) < 0.3 * se
    difference = found.uncertainty[:, 0] - found.uncertainty[:, 1]
    assert np.sqrt(difference @ difference) == pytest.approx(se, rel=0.1)


def uncollapsed_joint(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint ML straight from the rows by a general-purpose optimiser: no groups, no Newton of ours."""
    seen = ~np.isnan(answers)
    y = np.nan_to_num(answers)
    n_cells, n_items = answers.shape

    def negative(q: np.ndarray) -> tuple[float, np.ndarray]:
        theta, b = q[:n_cells], q[n_cells:]
        eta = theta[:, None] - b
        value = -np.sum(seen * (y * eta - np.logaddexp(0, eta))) + b.sum() ** 2
        residual = seen * (y - expit(eta))
        return value, -np.concatenate([residual.sum(axis=1), -residual.sum(axis=0)]) + np.concatenate(
            [np.zeros(n_cells), np.full(n_items, 2 * b.sum())]
        )

    q = np.zeros(n_cells + n_items)
    for _ in range(20):
        q = minimize(negative, q, jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 5000}).x
    return q[:n_cells], q[n_cells:]


@given(seed=st.integers(0, 10_000), holes=st.sampled_from([0.0, 0.2, 0.4]))
@settings(max_examples=15, deadline=None)
def test_collapsing_changes_nothing(seed: int, holes: float) -> None:
    rng = np.random.default_rng(seed)
    answers = block(rng, -0.7, 3, 14)
    answers[rng.random(answers.shape) < holes] = np.nan
    answers = answers[:, ~np.isnan(answers).all(axis=0)]
    if np.isnan(answers).all(axis=1).any():
        return
    found = fit_joint(answers, ENGINE, interval="information", seed=1)
    cells = np.flatnonzero(found.part == 0)
    items = np.isfinite(found.difficulty_sd)
    if (found.part > 0).any() or not len(cells):
        return
    inside = answers[np.ix_(cells, items)]
    theta, b = uncollapsed_joint(inside)
    np.testing.assert_allclose(found.ability[cells], theta - b.mean(), atol=1e-7)
    seen = (~np.isnan(inside)).astype(float)
    totals = np.nansum(inside, axis=1), np.nansum(inside, axis=0)
    best = joint.log_likelihood(seen, *totals, found.ability[cells], found.difficulty[items])
    assert best >= joint.log_likelihood(seen, *totals, theta, b) - 1e-8


@given(seed=st.integers(0, 10_000), holes=st.sampled_from([0.0, 0.3]))
@settings(max_examples=10, deadline=None)
def test_marginal_likelihood_equals_brute_force_quadrature(seed: int, holes: float) -> None:
    """Item by item with scipy's adaptive quadrature: no groups, no shared nodes."""
    from scipy.integrate import quad

    rng = np.random.default_rng(seed)
    answers = block(rng, -0.7, 2, 12)
    answers[rng.random(answers.shape) < holes] = np.nan
    mean = np.nanmean(answers, axis=1)
    if np.isnan(mean).any() or (mean == 0).any() or (mean == 1).any():
        return
    found = fit_marginal(answers, ENGINE, interval="information", seed=1)
    if not np.isfinite(found.sigma) or found.bound:
        return
    total = 0.0
    for column in answers.T:
        seen = ~np.isnan(column)
        if not seen.any():
            continue
        y, theta = column[seen], found.ability[seen]

        def integrand(z: float, y: np.ndarray = y, theta: np.ndarray = theta) -> float:
            eta = theta - found.sigma * z
            return float(np.exp(np.sum(y * eta - np.logaddexp(0, eta)) - z * z / 2) / np.sqrt(2 * np.pi))

        total += np.log(quad(integrand, -12, 12, epsabs=1e-15, epsrel=1e-12, limit=500, points=[0])[0])
    assert found.log_likelihood == pytest.approx(total, abs=1e-7)


@pytest.fixture(scope="module")
def base() -> pd.DataFrame:
    return table(4, (40, 40), missing=0.1, seed=3)


def gaps(frame: pd.DataFrame, **arguments: object) -> np.ndarray:
    fit = maskedadv.fit(frame, min_accuracy=0, **arguments)  # type: ignore[arg-type]
    return fit.gaps()[["estimate", "sd"]].to_numpy()


@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_order_of_rows_changes_no_bit(base: pd.DataFrame, estimator: str) -> None:
    shuffled = base.sample(frac=1, random_state=1)[["item", "correct", "language", "model", "subset"]]
    np.testing.assert_array_equal(gaps(base, estimator=estimator), gaps(shuffled, estimator=estimator))


@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_spelling_of_ids_changes_nothing(base: pd.DataFrame, estimator: str) -> None:
    rng = np.random.default_rng(5)
    items = base["item"].unique()
    renamed = dict(zip(items, [f"{k:04d}e5/題" for k in rng.permutation(len(items))], strict=True))
    other = base.assign(item=base["item"].map(renamed))
    np.testing.assert_allclose(gaps(other, estimator=estimator), gaps(base, estimator=estimator), atol=1e-6)


def test_uninformative_items_move_no_joint_gap(base: pd.DataFrame) -> None:
    """Items all right or all wrong carry no information on joint gaps, however many there are."""
    cells = base[["model", "subset", "language"]].drop_duplicates()
    extra = [cells.assign(item=[f"{s}-extra{k}" for s in cells["subset"]], correct=k % 2) for k in range(6)]
    more = pd.concat([base, *extra], ignore_index=True)
    np.testing.assert_allclose(gaps(more)[:, 0], gaps(base)[:, 0], atol=1e-6)


def test_rows_without_an_answer_are_the_same_as_no_rows(base: pd.DataFrame) -> None:
    blank = base.assign(correct=base["correct"].astype(float))
    full = pd.MultiIndex.from_frame(
        base[["model", "language"]]
        .drop_duplicates()
        .merge(base[["subset", "item"]].drop_duplicates(), how="cross")
    )
    blank = blank.set_index(["model", "language", "subset", "item"]).reindex(full).reset_index()
    assert blank["correct"].isna().sum() > 50
    np.testing.assert_allclose(gaps(blank), gaps(base), atol=1e-12)


def test_the_anchor_moves_no_gap(base: pd.DataFrame) -> None:
    """Dropping items changes the anchor; a block with one more easy item answered once keeps its gaps."""
    lone = pd.DataFrame([("m0", "CA", "zh", "CA-lone", 1)], columns=base.columns)
    np.testing.assert_allclose(gaps(pd.concat([base, lone]))[:, 0], gaps(base)[:, 0], atol=1e-6)


def test_soft_answers_of_zero_and_one_are_the_binary_fit(base: pd.DataFrame) -> None:
    soft = base.rename(columns={"correct": "p_correct"})
    np.testing.assert_allclose(gaps(soft, response="soft"), gaps(base), atol=1e-8)


@pytest.mark.parametrize("models", [1, 2, 10])
def test_noise_free_soft_answers_give_the_exact_gap(models: int) -> None:
    """p = logit⁻¹(θ − b) exactly: joint finds it with any number of cells, so no inflation is warned of."""
    rng = np.random.default_rng(models)
    ability = rng.normal(size=models)
    rows = []
    for subset, gap in (("CA", -0.8), ("CS", -0.5)):
        b = 1.5 * rng.normal(size=50)
        for language, shift in (("en", 0.0), ("zh", gap)):
            p = expit(ability[:, None] + shift - b)
            rows += [(f"m{j}", subset, language, f"{subset}{i}", p[j, i]) for j, i in np.ndindex(p.shape)]
    soft = pd.DataFrame(rows, columns=["model", "subset", "language", "item", "p_correct"])
    for estimator in ("joint", "auto"):
        fit = maskedadv.fit(soft, response="soft", min_accuracy=0, estimator=estimator)
        np.testing.assert_allclose(fit.gaps(gap="global_gap")["estimate"], -0.8, atol=1e-7)
        np.testing.assert_allclose(fit.gaps(gap="local_gap")["estimate"], -0.5, atol=1e-7)
        assert not any("inflates" in w or "chance" in w for w in fit.warnings)
    with pytest.raises(maskedadv.errors.BadSetting, match="no marginal estimator"):
        maskedadv.fit(soft, response="soft", estimator="marginal")


def test_soft_answers_all_but_certain_still_converge() -> None:
    """Scores near 0 or 1 are tiny far from the maximum: the stop must not be fooled by them."""
    rng = np.random.default_rng(3)
    q = 1e-9 * rng.uniform(0.5, 2.0, size=(2, 30))
    found = fit_joint(1 - q, ENGINE, interval="robust", seed=1)
    theta, b = found.ability, found.difficulty
    wrong = expit(-(theta[:, None] - b))
    np.testing.assert_allclose(wrong.sum(axis=1), q.sum(axis=1), rtol=1e-6)


def test_scopes_agree_with_one_locale_and_differ_only_in_ca_with_two() -> None:
    one = table(4, (40, 40), seed=3)
    np.testing.assert_allclose(gaps(one, scope="joint"), gaps(one), atol=1e-6)
    two = table(4, (40, 40), locales=("fr", "zh"), seed=4)
    by_locale, together = (
        maskedadv.fit(two, min_accuracy=0, scope=s).gaps(gap=["global_gap", "local_gap"])
        for s in ("locale", "joint")
    )
    local = by_locale["gap"] == "local_gap"
    np.testing.assert_allclose(together["estimate"][local], by_locale["estimate"][local], atol=1e-9)
    assert (together["estimate"] - by_locale["estimate"])[~local].abs().max() > 1e-3


def test_jobs_change_no_bit(base: pd.DataFrame) -> None:
    two = table(4, (40, 40), locales=("fr", "zh"), seed=4)
    for interval in ("robust", "bootstrap"):
        a = gaps(two, interval=interval, replicates=20)
        np.testing.assert_array_equal(gaps(two, interval=interval, replicates=20, jobs=2), a)
    assert len(base)
