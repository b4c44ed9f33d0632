"""How precisely a score is known: error variances from answers, item counts and standard errors.

A score is a true score plus an error whose variance is known, so its reliability among the models of an
analysis is 1 - mean(error variance) / variance of the scores (Lord & Novick 1968, ch. 3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ANSWERS = "answers (KR-20)"
ITEMS = "item counts (KR-21)"
STANDARD_ERRORS = "standard errors"
GIVEN = "given"
EXACT = "exact"
UNKNOWN = "not known"


@dataclass(frozen=True)
class Measured:
    """Scores of the models of an analysis, with what is known of their error.

    Attributes
    ----------
    name, role
        What it is called; native, proxy or control.
    values
        Shape (n,).
    variance
        Error variance of every model, shape (n,); None where it is not known.
    given
        Reliability as the user stated it, from 0 to 1; NaN where `variance` counts, or nothing is known.
    basis
        Where this is from: one of the words above.
    """

    name: str
    role: str
    values: Floats
    variance: Floats | None = None
    given: float = np.nan
    basis: str = UNKNOWN

    @property
    def known(self) -> bool:
        """Whether anything is known of the error."""
        return self.basis != UNKNOWN

    @property
    def reliability(self) -> float:
        """Share of the variance over models that is not error; NaN where not known, below 0 where all is."""
        if self.variance is None:
            return self.given
        return reliability(self.values, self.variance)

    def errors(self) -> Floats:
        """Error variance a model, shape (n,), whose mean is the error variance; zero where nothing is known.

        A stated reliability R is taken relative to these models: (1 - R) times their squared deviations.
        """
        if self.variance is not None:
            return self.variance
        if not self.known:
            return np.zeros(len(self.values))
        n = len(self.values)
        return np.asarray((1 - self.given) * (self.values - self.values.mean()) ** 2 * n / (n - 1))

    def at(self, value: float) -> Measured:
        """The same scores, were their reliability `value`: known errors are scaled, else it is stated."""
        if self.variance is not None and self.variance.mean() > 0:
            target = (1 - value) * self.values.var(ddof=1)
            return replace(self, variance=self.variance * target / self.variance.mean())
        return replace(self, variance=None, given=value, basis=GIVEN)

    def of(self, keep: NDArray[np.bool_]) -> Measured:
        """Some of the models."""
        variance = None if self.variance is None else self.variance[keep]
        return replace(self, values=self.values[keep], variance=variance)


def reliability(values: Floats, variance: Floats) -> float:
    """1 - mean error variance / variance of scores, with n - 1; NaN where all scores are equal.

    Parameters
    ----------
    values, variance
        Scores and their error variances, shape (n,).
    """
    spread = float(values.var(ddof=1)) if len(values) > 1 else 0.0
    return 1 - float(variance.mean()) / spread if spread > 0 else np.nan


def binomial_error(share: Floats, n_items: Floats) -> Floats:
    """Error variance of a share of right answers, p(1 - p)/(n - 1), NaN with a single item.

    Unbiased where every model drew its own items at random (Lord 1955, doi:10.1177/001316445501500401);
    its mean gives Kuder and Richardson's formula 21. Models that answered the same items
    differ by less than that, so 21 understates their reliability a little.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = share * (1 - share) / (n_items - 1)
    return np.where(n_items > 1, variance, np.nan)


def item_error(correct: Floats) -> Floats:
    """Error variance of every model's share of right answers, from answers to the same items.

    Squared residuals of the answers after taking out models and items; their mean gives Kuder and
    Richardson's formula 20, which is Hoyt's analysis of variance (Hoyt 1941, doi:10.1007/BF02289270).

    Parameters
    ----------
    correct
        Shape (n_models, n_items), 0 or 1, none missing; at least two of each.

    Returns
    -------
    ndarray, shape (n_models,)
    """
    n_models, n_items = correct.shape
    residual = correct - correct.mean(1, keepdims=True) - correct.mean(0) + correct.mean()
    return np.asarray(
        (residual**2).sum(1) / (n_items * (n_items - 1)) * (n_models / (n_models - 1)), dtype=np.float64
    )
