"""Does the proxy predict native scores beyond size and language proficiency? Nested least squares.

Base: native ~ 1 + controls. Extended: the same + proxy. Models are the observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import NDArray
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

from maskedadv.errors import NotEstimable
from maskedadv.validity.resample import in_chunks

Floats = NDArray[np.float64]
MIN_MODELS = 6
MIN_DF = 2
_COLLINEAR = 1e-10  # smallest eigenvalue of a correlation matrix that counts as full rank
_EXACT = 1e-12  # residual share of variance that counts as an exact fit


@dataclass(frozen=True)
class Incremental:
    """Nested regressions of native scores; `beta` belongs to the proxy, in native units per proxy unit.

    `partial_r` is the partial correlation of native and proxy given the controls. `cv_r2_*` leave one
    model out (predicted R2), `cv_r2_*_family` one family; all take the total variance about the mean.
    """

    n_models: int
    df_resid: int
    r2_base: float
    r2_ext: float
    delta_r2: float
    f: float
    p_f: float
    beta: float
    beta_se: float
    beta_std: float
    partial_r: float
    adj_r2_base: float
    adj_r2_ext: float
    cv_r2_base: float
    cv_r2_ext: float
    cv_r2_base_family: float
    cv_r2_ext_family: float


def design(controls: Floats, proxy: Floats, names: Sequence[str] = ()) -> Floats:
    """Columns 1, controls, proxy, all but the first standardised, so that units cannot upset the algebra.

    Parameters
    ----------
    controls
        Shape (n, c).
    proxy
        Shape (n,).
    names
        What the controls are called, for reasons; by default they are numbered.

    Raises
    ------
    NotEstimable
        A predictor is constant, or is a linear combination of the others, or models are too few.
    """
    n, width = len(proxy), controls.shape[1] + 2
    if n < MIN_MODELS:
        raise NotEstimable(f"{n} models, but at least {MIN_MODELS} are needed")
    if n - width < MIN_DF:
        raise NotEstimable(f"{n} models leave {n - width} degrees of freedom with {width} coefficients")
    predictors = np.column_stack([controls, proxy])
    constant = np.flatnonzero(_is_constant(predictors))
    if len(constant):
        raise NotEstimable(f"{_named(int(constant[0]), width, names)} is the same for every model")
    standard = (predictors - predictors.mean(axis=0)) / predictors.std(axis=0)
    for last in range(1, width - 1):
        if np.linalg.eigvalsh(standard[:, : last + 1].T @ standard[:, : last + 1] / n)[0] < _COLLINEAR:
            raise NotEstimable(
                f"{_named(last, width, names)} is a linear combination of the other predictors"
            )
    return np.column_stack([np.ones(n), standard])


def _is_constant(columns: Floats) -> NDArray[np.bool_]:
    """Whether each column varies by no more than rounding."""
    return np.ptp(columns, axis=0) <= 1e-12 * np.abs(columns).max(axis=0)


def _named(column: int, width: int, names: Sequence[str]) -> str:
    if column == width - 2:
        return "the proxy score"
    return f"the control {names[column]}" if names else f"control {column + 1}"


def incremental(
    native: Floats,
    controls: Floats,
    proxy: Floats,
    families: NDArray[np.integer] | None = None,
    names: Sequence[str] = (),
) -> Incremental:
    """Fit base and extended regressions and compare them.

    Parameters
    ----------
    native, proxy
        Scores, shape (n,).
    controls
        Shape (n, c).
    families
        Family index of every model, for cross-validation by family; NaN there without it.
    names
        What the controls are called, for reasons.

    Raises
    ------
    NotEstimable
        See `design`; also when native scores are constant, or one of the fits is exact.
    """
    X = design(controls, proxy, names)
    base, extended = _fits(native, X)
    f, p_f, _ = extended.compare_f_test(base)
    unit = native.std() / proxy.std()
    beta = float(extended.params[-1])
    models = np.arange(len(native))
    return Incremental(
        n_models=len(native),
        df_resid=int(extended.df_resid),
        r2_base=float(base.rsquared),
        r2_ext=float(extended.rsquared),
        delta_r2=max(0.0, float(extended.rsquared - base.rsquared)),  # below 0 by rounding only
        f=max(0.0, float(f)),
        p_f=float(p_f),
        beta=beta * unit,
        beta_se=float(extended.bse[-1] * unit),
        beta_std=beta,
        partial_r=float(np.sign(beta) * np.sqrt(max(0.0, 1 - extended.ssr / base.ssr))),
        adj_r2_base=float(base.rsquared_adj),
        adj_r2_ext=float(extended.rsquared_adj),
        cv_r2_base=cross_validated_r2(native, X[:, :-1], models),
        cv_r2_ext=cross_validated_r2(native, X, models),
        cv_r2_base_family=np.nan if families is None else cross_validated_r2(native, X[:, :-1], families),
        cv_r2_ext_family=np.nan if families is None else cross_validated_r2(native, X, families),
    )


def proxy_coefficient(
    native: Floats, controls: Floats, proxy: Floats, names: Sequence[str] = ()
) -> tuple[float, float]:
    """The proxy's coefficient and its nominal two-sided p: what a leave-one-out refit is judged by.

    Raises
    ------
    NotEstimable
    """
    _, extended = _fits(native, design(controls, proxy, names))
    return float(extended.params[-1] * native.std() / proxy.std()), float(extended.pvalues[-1])


def _fits(native: Floats, X: Floats) -> tuple[sm.regression.linear_model.RegressionResults, ...]:
    if _is_constant(native[:, None])[0]:
        raise NotEstimable(f"all {len(native)} models have the same native score")
    y = (native - native.mean()) / native.std()
    base, extended = sm.OLS(y, X[:, :-1]).fit(), sm.OLS(y, X).fit()
    if base.ssr <= _EXACT * base.centered_tss:
        raise NotEstimable("the controls alone predict native scores exactly")
    if extended.ssr <= _EXACT * extended.centered_tss:
        raise NotEstimable("the fit is exact, as if the proxy were a copy of the native benchmark")
    return base, extended


def cross_validated_r2(native: Floats, X: Floats, folds: NDArray[np.integer]) -> float:
    """1 - squared errors of held-out models / squares about the mean, one fold held out at a time.

    NaN where a fold leaves too few or collinear models behind. With every model a fold of its own this
    is the predicted R2 (from PRESS).
    """
    errors = np.empty(len(native))
    for fold in np.unique(folds):
        out = folds == fold
        coefficients, _, rank, _ = np.linalg.lstsq(X[~out], native[~out], rcond=1e-10)
        if rank < X.shape[1]:
            return np.nan
        errors[out] = native[out] - X[out] @ coefficients
    return float(1 - (errors**2).sum() / ((native - native.mean()) ** 2).sum())


def incremental_draws(
    weights: Floats, native: Floats, controls: Floats, proxy: Floats
) -> tuple[Floats, Floats]:
    """dR2 and the proxy's coefficient in every resample.

    Parameters
    ----------
    weights
        Shape (B, n), from `model_weights`.
    native, proxy
        Shape (n,), or (B, n) where every resample perturbs them.
    controls
        Shape (n, c).

    Returns
    -------
    delta_r2, beta : ndarray, shape (B,)
        NaN where a resample has too few distinct models, or collinear ones.
    """
    draws = in_chunks(partial(_draws, controls), weights, native, proxy)
    return draws[:, 0], draws[:, 1]


def _draws(controls: Floats, weights: Floats, native: Floats, proxy: Floats) -> Floats:
    """Columns dR2 and beta of a slice of the resamples."""
    shape = weights.shape
    y = np.broadcast_to(native, shape)
    scale = np.std(proxy, axis=-1, keepdims=True)
    fixed = (controls - controls.mean(axis=0)) / controls.std(axis=0)
    predictors = [np.broadcast_to(fixed[:, c], shape) for c in range(controls.shape[1])]
    predictors.append(np.broadcast_to((proxy - np.mean(proxy, axis=-1, keepdims=True)) / scale, shape))
    columns = [_centred(weights, column) for column in predictors]
    y = _centred(weights, y)
    X = np.stack(columns, axis=-1)
    r2_base, _ = _weighted_fit(weights, X[..., :-1], y)
    r2_ext, beta = _weighted_fit(weights, X, y)
    return np.column_stack([np.maximum(r2_ext - r2_base, 0), beta / scale.reshape(-1)])


def _centred(weights: Floats, values: Floats) -> Floats:
    return values - ((weights * values).sum(-1) / weights.sum(-1))[:, None]


def _weighted_fit(weights: Floats, X: Floats, y: Floats) -> tuple[Floats, Floats]:
    """R2 and last coefficient of weighted least squares, one fit a row; centred columns, no constant."""
    gram = np.einsum("bn,bnj,bnk->bjk", weights, X, X, optimize=True)
    moment = np.einsum("bn,bnj,bn->bj", weights, X, y, optimize=True)
    spread = np.sqrt(np.einsum("bjj->bj", gram))
    total = (weights * y**2).sum(-1)
    distinct = (weights > 0).sum(-1)
    usable = (spread > 0).all(-1) & (total > 0) & (distinct > X.shape[-1] + 1)
    R2, last = np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    correlation = gram[usable] / (spread[usable][:, :, None] * spread[usable][:, None, :])
    if X.shape[-1] == 0:
        R2[usable] = 0.0
        return R2, last
    full_rank = np.linalg.eigvalsh(correlation)[:, 0] > _COLLINEAR
    usable[usable] = full_rank
    coefficients = np.linalg.solve(correlation[full_rank], (moment[usable] / spread[usable])[..., None])[
        ..., 0
    ]
    coefficients /= spread[usable]
    residual = y[usable] - np.einsum("bnj,bj->bn", X[usable], coefficients)
    R2[usable] = 1 - (weights[usable] * residual**2).sum(-1) / total[usable]
    last[usable] = coefficients[:, -1]
    return R2, last


def inflation(controls: Floats, proxy: Floats) -> Floats:
    """Variance inflation factor of every predictor of the extended model, controls first, proxy last."""
    X = design(controls, proxy)
    return np.array([variance_inflation_factor(X, column) for column in range(1, X.shape[1])])


def influence(native: Floats, controls: Floats, proxy: Floats) -> pd.DataFrame:
    """How much each model weighs in the extended fit.

    Returns
    -------
    DataFrame
        One row a model: leverage, studentised (external) residual, cooks_d, dfbeta_proxy (standardised),
        and flagged: Cook's distance above 4/n or |dfbeta| above 2/sqrt(n) (Belsley, Kuh & Welsch 1980).
    """
    _, extended = _fits(native, design(controls, proxy))
    measures = OLSInfluence(extended)
    n = len(native)
    with np.errstate(divide="ignore", invalid="ignore"):  # a model with leverage 1 has no residual
        table = pd.DataFrame(
            {
                "leverage": measures.hat_matrix_diag,
                "studentised": measures.resid_studentized_external,
                "cooks_d": measures.cooks_distance[0],
                "dfbeta_proxy": measures.dfbetas[:, -1],
            }
        )
    table["flagged"] = (table["cooks_d"] > 4 / n) | (table["dfbeta_proxy"].abs() > 2 / np.sqrt(n))
    return table
