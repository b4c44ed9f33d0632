"""Nested regressions when controls and proxy are measured with error: does the proxy still add?

A control that carries error takes out too little of what it stands for, and a proxy that measures nothing
but the control's construct is left with a coefficient (Westfall & Yarkoni 2016,
doi:10.1371/journal.pone.0152719). With error variances known, moments of the error-free scores are those
of the scores less the errors' (Fuller 1987, Measurement Error Models, sec. 2.2).

Write k and g for the corrected regressions of proxy and native score on the controls. Their residuals
r = z - k'x and q = y - g'x have, less the errors' part, the covariance A and the variance D of what
proxy and native scores share and what the proxy has, given error-free controls: beta = A/D. Whether
beta is zero hangs on A alone, which needs no division by a D that may be next to nothing; so test
and interval are those of Fieller and of Anderson & Rubin, with normal theory's variances. Where every
score is exact they are the F test and the t interval of least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from maskedadv.settings import LEVEL
from maskedadv.validity.regression import MIN_DF, MIN_MODELS
from maskedadv.validity.reliability import GIVEN, Measured

Floats = NDArray[np.float64]
_SINGULAR = 1e-8  # smallest eigenvalue of the corrected correlations that counts as positive


@dataclass(frozen=True)
class Corrected:
    """What the nested regressions would be for error-free scores; NaN with a `reason` where not known.

    `beta` is in native units per proxy unit; its interval may reach to infinity. `p` is two-sided for
    beta = 0, `direction` the sign of A; both are there also where D comes out at 0 or below and beta is
    not. Shares of variance are of the error-free native score. Estimates that they are, `partial_r` and
    the shares may exceed 1 where little but error is left.
    """

    beta: float
    lower: float
    upper: float
    p: float
    partial_r: float
    r2_base: float
    delta_r2: float
    direction: float
    reason: str = ""

    @property
    def positive(self) -> bool:
        """Whether what the two share beyond the controls is above zero."""
        return self.direction > 0


@dataclass(frozen=True)
class _Moments:
    """Moments of the residuals r (proxy) and q (native): raw, and what of them is error."""

    rr: float
    rq: float
    qq: float
    error_rr: float  # k'Ek + the proxy's own error
    error_rq: float  # k'Eg
    error_qq: float  # g'Eg + the native score's own error
    native: float  # error-free variance of native scores
    extra: tuple[float, float, float]  # see _stated
    df: int

    @property
    def shared(self) -> float:
        """A."""
        return self.rq - self.error_rq

    @property
    def own(self) -> float:
        """D."""
        return self.rr - self.error_rr


def corrected(
    native: Measured, controls: Sequence[Measured], proxy: Measured, level: float = LEVEL
) -> Corrected:
    """Regress error-free native scores on error-free controls and proxy.

    Parameters
    ----------
    native, controls, proxy
        Scores of the same n models with what is known of their errors; what is not known counts as none.
    level
        Level of the interval of beta.
    """
    found = _moments(native, controls, proxy)
    if isinstance(found, str):
        return _nothing(found)
    shared, own = found.shared, found.own
    variance = max(found.rr * found.qq + found.error_rq**2 + found.extra[0] - shared**2, 1e-300)
    t = shared * np.sqrt(found.df / variance)
    lower, upper = _interval(found, level)
    left = found.qq - found.error_qq
    total = found.native
    reason = ""
    if own <= 0:
        reason = "given the controls, the proxy varies no more than its error"
    elif left <= 0 or total <= 0:
        reason = "given the controls, native scores vary no more than their error"
    return Corrected(
        beta=shared / own if own > 0 else np.nan,
        lower=lower,
        upper=upper,
        p=float(2 * special.stdtr(found.df, -abs(t))),
        partial_r=float(shared / np.sqrt(own * left)) if own > 0 and left > 0 else np.nan,
        r2_base=float(1 - left / total) if total > 0 else np.nan,
        delta_r2=float(shared**2 / own / total) if own > 0 and total > 0 else np.nan,
        direction=float(np.sign(shared)),
        reason=reason,
    )


def _nothing(reason: str) -> Corrected:
    return Corrected(*(float("nan"),) * 8, reason)


def _moments(native: Measured, controls: Sequence[Measured], proxy: Measured) -> _Moments | str:
    """Moments, or in words why there are none."""
    n = len(native.values)
    df = n - len(controls) - 2
    if n < MIN_MODELS or df < MIN_DF:
        return f"{n} models are too few with {len(controls)} controls"
    if min(m.values.std() for m in (native, proxy, *controls)) == 0:
        return "a score is the same for every model"
    y, y_error, y_scale = _standard(native)
    z, z_error, z_scale = _standard(proxy)
    columns = [_standard(control) for control in controls]
    X = np.column_stack([np.empty((n, 0)), *(column for column, _, _ in columns)])
    E = np.column_stack([np.empty((n, 0)), *(error for _, error, _ in columns)])
    errors = E.mean(axis=0)
    inner = X.T @ X / (n - 1) - np.diag(errors)
    if len(controls) and np.linalg.eigvalsh(inner)[0] < _SINGULAR:
        return "the controls vary, or differ from each other, no more than their errors"
    k, g = (np.linalg.solve(inner, X.T @ side / (n - 1)) for side in (z, y))
    r, q = z - X @ k, y - X @ g
    stated = np.array([control.variance is None and control.basis == GIVEN for control in controls], bool)
    own = z_error if proxy.variance is None and proxy.basis == GIVEN else np.zeros(n)
    rr, rq, qq = (float(product / (n - 1)) for product in (r @ r, r @ q, q @ q))
    # Back to the units of the scores, in which beta is wanted.
    u, v = z_scale, y_scale
    a, b, c = _stated(r, q, (E * stated) @ (k * g), (E * stated) @ (k * k) + own)
    return _Moments(
        rr=rr * u * u,
        rq=rq * u * v,
        qq=qq * v * v,
        error_rr=float(k * errors @ k + z_error.mean()) * u * u,
        error_rq=float(k * errors @ g) * u * v,
        error_qq=float(g * errors @ g + y_error.mean()) * v * v,
        native=float(1 - y_error.mean()) * v * v,
        extra=(a * u * u * v * v, b * u**3 * v, c * u**4),
        df=df,
    )


def _standard(measured: Measured) -> tuple[Floats, Floats, float]:
    """Scores and error variances in units of the scores' standard deviation (n - 1), and that."""
    scale = float(measured.values.std(ddof=1))
    return (measured.values - measured.values.mean()) / scale, measured.errors() / scale**2, scale


def _stated(r: Floats, q: Floats, s0: Floats, s1: Floats) -> tuple[float, float, float]:
    """What stating a reliability, not an error variance, adds to the variance of A - bD: c0 + c1 b + c2 b^2.

    The error variance is then (1 - R) times a variance that these models give with an error of their
    own, which counts where scores have long tails. None is added where it would take variance away.
    """

    def cov(x: Floats, y: Floats) -> float:
        return float((x - x.mean()) @ (y - y.mean()) / (len(x) - 1))

    c0 = cov(s0, s0) - 2 * cov(r * q, s0)
    if c0 <= 0:
        return 0.0, 0.0, 0.0
    c1 = -2 * cov(s0, s1) + 2 * cov(r * q, s1) + 2 * cov(r * r, s0)
    c2 = cov(s1, s1) - 2 * cov(r * r, s1)
    return c0, c1, c2


def _interval(m: _Moments, level: float) -> tuple[float, float]:
    """All b for which A - bD does not differ from zero; the sign of D is known, for it is a variance."""
    t2 = float(special.stdtrit(m.df, (1 + level) / 2)) ** 2
    A, D = m.shared, m.own
    # (A - bD)^2 (df + t2) <= t2 (variance of r (q - b r)), as a quadratic in b
    two = D * D * (m.df + t2) - t2 * (m.rr**2 + m.error_rr**2 + m.extra[2])
    one = -2 * A * D * (m.df + t2) + t2 * (2 * m.rr * m.rq + 2 * m.error_rq * m.error_rr - m.extra[1])
    none = A * A * (m.df + t2) - t2 * (m.rr * m.qq + m.error_rq**2 + m.extra[0])
    inside = one * one - 4 * two * none
    if two > 0 and inside >= 0:
        low, high = sorted(np.array([-one - np.sqrt(inside), -one + np.sqrt(inside)]) / (2 * two))
        return float(low), float(high)
    if none <= 0 or inside <= 0:
        return -np.inf, np.inf
    low, high = sorted(np.array([-one - np.sqrt(inside), -one + np.sqrt(inside)]) / (2 * two))
    return (float(high), np.inf) if A > 0 else (-np.inf, float(low))
