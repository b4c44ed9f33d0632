"""Tolerances of tests on draws, from the draws' own Monte Carlo errors.

The same seed gives other draws on another processor, so a test on draws is a test of significance and fails
by chance now and then. Every call here fails by chance with a probability of at most `ALARM`, divided among
the comparisons that it makes (Bonferroni); the suite makes fewer than `CALLS` of them, parameters counted, so
that it fails by chance less than once in 10,000 runs. `python -m tests.studies.false_alarms` shows it.

Two samples of a quantity are compared on normal scores of their pooled ranks (as R-hat is, Vehtari et al.
2021, doi:10.1214/20-BA1221): the mean score for location and the mean squared score for spread. Scores have
light tails whatever the quantity's, so that their means are close to normal; a standard deviation of
heavy-tailed draws is not, and its error is underestimated exactly when it is most wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import arviz as az
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]

CALLS = 100
ALARM = 1e-4 / CALLS

DEGREES = 100.0
"""Monte Carlo errors are estimates: a difference over one has about Student's t with so many degrees."""


def bound(comparisons: int, alarm: float = ALARM) -> float:
    """How many Monte Carlo errors the largest of so many differences may have."""
    return float(stats.t.isf(alarm / 2 / max(comparisons, 1), DEGREES))


@dataclass(frozen=True)
class Differences:
    """Differences of two samples in Monte Carlo errors, and in standard deviations (of the pooled scores).

    Attributes
    ----------
    location, spread : z, shape of the quantity; NaN where it is not known
    shift, ratio : difference of the mean scores, and ratio of the root mean squared scores
    """

    location: Array
    spread: Array
    shift: Array
    ratio: Array

    def worst(self) -> float:
        """Largest of all z; 0 if nothing is known."""
        z = np.abs(np.concatenate([self.location.ravel(), self.spread.ravel()]))
        return float(np.nanmax(z, initial=0.0))


def compare(a: ArrayLike, b: ArrayLike) -> Differences:
    """Two samples of one quantity, shapes (chains, draws, ...); chains may differ in number and length."""
    one, two = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    assert one.shape[2:] == two.shape[2:]
    shape = one.shape[2:]
    first, second = one.reshape(*one.shape[:2], -1), two.reshape(*two.shape[:2], -1)
    out = np.full((4, first.shape[-1]), np.nan)
    for k in range(first.shape[-1]):
        x, y = first[..., k], second[..., k]
        unknown = np.isnan(x).all(), np.isnan(y).all()
        assert unknown[0] == unknown[1], "known in one sample only"
        if unknown[0]:
            continue
        rank = stats.rankdata(np.concatenate([x.ravel(), y.ravel()]))
        score = stats.norm.ppf((rank - 0.375) / (len(rank) + 0.25))
        u, v = score[: x.size].reshape(x.shape), score[x.size :].reshape(y.shape)
        out[0, k] = (u.mean() - v.mean()) / np.hypot(mcse(u), mcse(v))
        out[1, k] = ((u**2).mean() - (v**2).mean()) / np.hypot(mcse(u**2), mcse(v**2))
        out[2, k] = u.mean() - v.mean()
        out[3, k] = u.std() / v.std()
    location, spread, shift, ratio = out.reshape(4, *shape)
    return Differences(location, spread, shift, ratio)


def assert_same(a: Mapping[str, ArrayLike], b: Mapping[str, ArrayLike], alarm: float = ALARM) -> None:
    """Refuse two samples, by name of quantity, that chance does not let differ so."""
    found = {name: compare(a[name], b[name]) for name in a}
    count = sum(int(np.isfinite(d.location).sum() + np.isfinite(d.spread).sum()) for d in found.values())
    assert count, "nothing was compared"
    limit = bound(count, alarm)
    for name, d in found.items():
        assert d.worst() < limit, (name, d.worst(), limit, d.shift, d.ratio)


def assert_moments(
    draws: ArrayLike,
    *,
    mean: ArrayLike | None = None,
    sd: ArrayLike | None = None,
    slack: float = 0.0,
    independent: bool = False,
    alarm: float = ALARM,
) -> None:
    """Refuse draws whose means or standard deviations are not those expected.

    Parameters
    ----------
    draws : shape (chains, draws, ...), or (draws, ...) if `independent`
    mean, sd : shape (...); what is not given is not compared
    slack : what is allowed beyond chance, in standard deviations: where the expected values are approximate
    """
    x = np.asarray(draws, dtype=np.float64)
    x = x[None] if independent else x
    flat = x.reshape(*x.shape[:2], -1)
    n = flat.shape[-1]
    limit = bound(n * ((mean is not None) + (sd is not None)), alarm)
    for k in range(n):
        one = flat[..., k]
        if mean is not None:
            wanted = np.broadcast_to(np.asarray(mean, dtype=np.float64), x.shape[2:]).ravel()[k]
            off = abs(one.mean() - wanted)
            allowed = slack * one.std() + limit * mcse(one, independent=independent)
            assert off <= allowed, ("mean", k, one.mean(), wanted, allowed)
        if sd is not None:
            wanted = np.broadcast_to(np.asarray(sd, dtype=np.float64), x.shape[2:]).ravel()[k]
            square = (one - one.mean()) ** 2
            error = mcse(square, independent=independent) / (2 * one.std())
            assert abs(one.std() - wanted) <= slack * wanted + limit * error, ("sd", k, one.std(), wanted)


def assert_share(hits: ArrayLike, wanted: float, *, slack: float = 0.0, alarm: float = ALARM) -> None:
    """Refuse a mean over independent sets, shape (sets, ...), that is not the share (or value) wanted."""
    x = np.asarray(hits, dtype=np.float64)
    flat = x.reshape(len(x), -1)
    limit = bound(flat.shape[1], alarm)
    # Sets that all hit have no spread: the error is then that of the share wanted.
    least = np.sqrt(max(wanted * (1 - wanted), 0.0)) if 0 < wanted < 1 else 0.0
    error = np.maximum(flat.std(axis=0, ddof=1), least * (flat.std(axis=0) == 0)) / np.sqrt(len(flat))
    off = np.abs(flat.mean(axis=0) - wanted)
    assert np.all(off <= slack + limit * error), (flat.mean(axis=0), wanted, slack + limit * error)


def mcse(values: Array, *, independent: bool = False) -> float:
    """Monte Carlo error of the mean of draws, shape (chains, draws)."""
    draws = values.size if independent else float(az.ess(values, method="mean"))
    return float(values.std(ddof=1) / np.sqrt(draws))
