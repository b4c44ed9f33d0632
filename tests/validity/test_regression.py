"""Nested regressions against R, and against identities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from maskedadv.errors import NotEstimable
from maskedadv.validity.ranking import kendall_tau
from maskedadv.validity.regression import (
    cross_validated_r2,
    design,
    incremental,
    incremental_draws,
    inflation,
    influence,
    proxy_coefficient,
)
from maskedadv.validity.resample import model_weights
from maskedadv.validity.stability import leave_one_out

DATA = Path(__file__).resolve().parent.parent / "data" / "validity"


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """Artificial scores of 29 models, two decimals, some tied."""
    return pd.read_csv(DATA / "nested.csv")


@pytest.fixture(scope="module")
def r() -> dict[str, float]:
    """Numbers from R (reference.R beside the data)."""
    return pd.read_csv(DATA / "nested_r.csv", comment="#").set_index("name")["value"].to_dict()


def arrays(scores: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        scores["native"].to_numpy(),
        scores[["log_parameters", "proficiency"]].to_numpy(),
        scores["proxy"].to_numpy(),
    )


def test_nested_regressions_equal_r(scores: pd.DataFrame, r: dict[str, float]) -> None:
    fit = incremental(*arrays(scores))
    for name in (
        "f", "p_f", "df_resid", "r2_base", "r2_ext", "adj_r2_base", "adj_r2_ext", "beta", "beta_se",
        "beta_std", "partial_r", "cv_r2_base", "cv_r2_ext",
    ):  # fmt: skip
        assert getattr(fit, name) == pytest.approx(r[name], rel=1e-8), name
    assert fit.delta_r2 == pytest.approx(r["r2_ext"] - r["r2_base"], rel=1e-8)


def test_tau_b_and_its_p_equal_r(scores: pd.DataFrame, r: dict[str, float]) -> None:
    tau, p = kendall_tau(scores["native"].to_numpy(), scores["proxy"].to_numpy())
    assert tau == pytest.approx(r["tau"], rel=1e-8)
    assert p == pytest.approx(r["tau_p"], rel=1e-8)


def test_diagnostics_equal_r(scores: pd.DataFrame, r: dict[str, float]) -> None:
    native, controls, proxy = arrays(scores)
    assert inflation(controls, proxy) == pytest.approx([r["vif_1"], r["vif_2"], r["vif_3"]], rel=1e-8)
    measures = influence(native, controls, proxy).iloc[3]
    for name in ("leverage", "studentised", "cooks_d", "dfbeta_proxy"):
        assert measures[name] == pytest.approx(r[f"{name}_m03"], rel=1e-8), name


def test_a_refit_equals_r(scores: pd.DataFrame, r: dict[str, float]) -> None:
    refits = leave_one_out(*arrays(scores), groups=list(scores["model"]))
    assert [refit.left_out for refit in refits] == sorted(scores["model"])
    refit = refits[3]
    assert (refit.beta, refit.p) == pytest.approx((r["beta_without_m03"], r["p_without_m03"]), rel=1e-8)
    assert refit.n_models == 28
    assert refit.passes


def test_leaving_out_a_family_is_a_fit_on_the_others(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    families = [f"f{j % 4}" for j in range(29)]
    keep = np.array([j % 4 != 2 for j in range(29)])
    refit = leave_one_out(native, controls, proxy, families)[2]
    assert (refit.beta, refit.p) == pytest.approx(
        proxy_coefficient(native[keep], controls[keep], proxy[keep])
    )


def test_a_draw_is_the_fit_of_the_resampled_rows(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    weights = model_weights(29, 20, np.random.default_rng(2))
    delta_r2, beta = incremental_draws(weights, native, controls, proxy)
    for b, row in enumerate(weights):
        rows = np.repeat(np.arange(29), row.astype(int))
        fit = incremental(native[rows], controls[rows], proxy[rows])
        assert delta_r2[b] == pytest.approx(fit.delta_r2, abs=1e-10)
        assert beta[b] == pytest.approx(fit.beta, rel=1e-8)


def test_a_draw_of_perturbed_scores_is_the_fit_of_those(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    rng = np.random.default_rng(3)
    weights = model_weights(29, 4, rng)
    y, x = native + 0.01 * rng.normal(size=(4, 29)), proxy + 0.01 * rng.normal(size=(4, 29))
    delta_r2, beta = incremental_draws(weights, y, controls, x)
    rows = np.repeat(np.arange(29), weights[2].astype(int))
    fit = incremental(y[2][rows], controls[rows], x[2][rows])
    assert (delta_r2[2], beta[2]) == pytest.approx((fit.delta_r2, fit.beta), rel=1e-8)


def test_a_draw_with_too_few_distinct_models_is_undefined(scores: pd.DataFrame) -> None:
    weights = np.zeros((2, 29))
    weights[0, :4] = [8, 7, 7, 7]
    weights[1] = 1
    delta_r2, beta = incremental_draws(weights, *arrays(scores))
    assert np.isnan([delta_r2[0], beta[0]]).all()
    assert np.isfinite([delta_r2[1], beta[1]]).all()


def test_unit_of_the_controls_changes_nothing(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    other = controls * [1e9, 1e-6] + [1e12, 3]
    assert incremental(native, other, proxy).beta == pytest.approx(
        incremental(native, controls, proxy).beta, rel=1e-6
    )


def test_unit_of_the_scores_changes_only_the_unit_of_beta(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    plain = incremental(native, controls, proxy)
    for unit in (1e-8, 1e9):
        fit = incremental(0.5 + unit * native, controls, 0.5 + unit * proxy / 2)
        for name in ("beta_std", "f", "p_f", "partial_r", "delta_r2", "cv_r2_ext"):
            assert getattr(fit, name) == pytest.approx(getattr(plain, name), rel=1e-5), name
        assert fit.beta == pytest.approx(2 * plain.beta, rel=1e-5)
        assert fit.beta_se == pytest.approx(2 * plain.beta_se, rel=1e-5)


def test_partial_correlation_carries_the_sign(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    up, down = incremental(native, controls, proxy), incremental(native, controls, -proxy)
    assert down.partial_r == pytest.approx(-up.partial_r)
    assert down.f == pytest.approx(up.f)


def test_cross_validation_by_family_is_refitting_by_hand(scores: pd.DataFrame) -> None:
    native, controls, proxy = arrays(scores)
    X = design(controls, proxy)
    families = np.arange(29) % 5
    errors = np.concatenate(
        [
            native[families == f]
            - sm.OLS(native[families != f], X[families != f]).fit().predict(X[families == f])
            for f in range(5)
        ]
    )
    expected = 1 - (errors**2).sum() / ((native - native.mean()) ** 2).sum()
    assert cross_validated_r2(native, X, families) == pytest.approx(expected)


def test_no_controls_is_a_simple_regression(scores: pd.DataFrame) -> None:
    native, _, proxy = arrays(scores)
    fit = incremental(native, np.empty((29, 0)), proxy)
    assert fit.r2_base == pytest.approx(0, abs=1e-12)
    assert fit.partial_r == pytest.approx(np.corrcoef(native, proxy)[0, 1])
    delta_r2, beta = incremental_draws(np.ones((1, 29)), native, np.empty((29, 0)), proxy)
    assert (delta_r2[0], beta[0]) == pytest.approx((fit.delta_r2, fit.beta))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, C, x: (y * 0 + 0.5, C, x), "same native score"),
        (lambda y, C, x: (y, C, x * 0 + 0.5), "proxy score is the same"),
        (lambda y, C, x: (y, C * [1, 0], x), "control 2 is the same"),
        (
            lambda y, C, x: (y, np.column_stack([C[:, 0], 3 - 2 * C[:, 0]]), x),
            "control 2 is a linear combination",
        ),
        (lambda y, C, _: (y, C, C @ [1.0, 2.0]), "proxy score is a linear combination"),
        (lambda y, C, x: (y[:5], C[:5], x[:5]), "5 models, but at least 6"),
        (lambda y, C, _: (y, C, y), "copy of the native"),
        (lambda _, C, x: (C @ [1.0, 2.0], C, x), "controls alone predict"),
    ],
)
def test_what_cannot_be_estimated_is_refused_with_its_reason(
    change, message: str, scores: pd.DataFrame
) -> None:
    with pytest.raises(NotEstimable, match=message):
        incremental(*change(*arrays(scores)))


def test_six_models_are_enough_with_two_controls_and_not_with_three(scores: pd.DataFrame) -> None:
    native, controls, proxy = (part[:6] for part in arrays(scores))
    assert incremental(native, controls, proxy).df_resid == 2
    third = np.column_stack([controls, np.random.default_rng(1).normal(size=6)])
    with pytest.raises(NotEstimable, match="leave 1 degrees of freedom"):
        incremental(native, third, proxy)


def test_a_proxy_that_adds_nothing_at_all_has_a_partial_correlation_of_zero() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        controls, proxy, native = rng.normal(size=(12, 2)), rng.normal(size=12), rng.normal(size=12)
        alone = sm.OLS(proxy, sm.add_constant(controls)).fit().resid
        native -= alone * (alone @ native) / (alone @ alone)
        fit = incremental(native, controls, proxy)
        assert abs(fit.partial_r) < 1e-6
        assert fit.p_f > 0.999
        assert fit.f >= 0
