"""The gaps of a locale from its abilities, with their joint uncertainty and intervals; in logits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from maskedadv.vocabulary import GAPS, SUBSETS, gaps_of, subsets_of

Array = NDArray[np.float64]
Part = tuple[NDArray[np.intp], Array]
"""Rows of one subset: their places, shape (K',), and their values, shape (K', J)."""

NO_SPREAD = 1e-10
"""A standard deviation (logit) this small is rounding: the rows hold no information on the noise."""


@dataclass(frozen=True)
class Uncertainty:
    """How uncertain the global and local gaps of a locale's models are, all together.

    Attributes
    ----------
    kind
        `robust`, `information`, `bootstrap` or `posterior`.
    key
        What each row is: an item id, a direction, or a replicate; shape (K,). Rows of two locales with the
        same key move together, which is what makes means over locales honest.
    values
        Shape (K, 2, J). For `robust` and `information` the covariance of any contrast is the sum over rows
        of squares and products; for `bootstrap` and `posterior` the rows are replicates, or draws (chains
        one after the other), of the gaps themselves.
    """

    kind: str
    key: NDArray[np.object_]
    values: Array

    def of_models(self, used: NDArray[np.bool_]) -> Uncertainty:
        """For some of the models."""
        return self if used.all() else replace(self, values=self.values[..., used])

    def parts(self) -> tuple[Part, ...]:
        """Of every subset the rows that concern it."""
        values = self.values
        concerned = [np.flatnonzero(values[:, s].any(axis=1)) for s in range(len(SUBSETS))]
        return tuple((place, values[place, s]) for s, place in enumerate(concerned))

    def gaps(self) -> Array:
        """Rows for all gaps, shape (K, gaps, J)."""
        return gaps_of(self.values, axis=1)


@dataclass(frozen=True)
class Interval:
    """sd, lower and upper end, and the probability of being positive; all of one shape.

    What is added here goes with every gap and every mean of gaps; for the cube and the tables it is to be
    named in `maskedadv.result.cube.OF_GAPS` as well.
    """

    sd: Array
    lower: Array
    upper: Array
    p_positive: Array

    def parts(self) -> dict[str, Array]:
        """Its arrays by name, without those of a class made from this one."""
        return {f.name: getattr(self, f.name) for f in fields(Interval)}

    @staticmethod
    def unknown(shape: tuple[int, ...]) -> Interval:
        """NaN throughout."""
        return Interval(**{f.name: np.full(shape, np.nan) for f in fields(Interval)})


def interval(kind: str, rows: Array, estimate: Array, level: float) -> Interval:
    """Interval of estimates from their uncertainty rows.

    Parameters
    ----------
    kind : as `Uncertainty.kind`
    rows : shape (K, ...), matching `estimate` of shape (...)
    level : for example 0.95; equal tails

    Returns
    -------
    Interval
        Normal for `robust` and `information`, percentiles of the rows for `bootstrap` and `posterior`;
        `p_positive` is Φ(estimate / sd), so that the two-sided p is 2·min(p, 1 − p), but for `posterior`
        the share of draws above zero. NaN throughout where the estimate is infinite: rows know no bound.
    """
    tail = (1.0 - level) / 2
    if not len(rows):
        return Interval.unknown(np.shape(estimate))
    if kind in ("bootstrap", "posterior"):
        with np.errstate(invalid="ignore"):
            usable = (~np.isnan(rows)).mean(axis=0) >= 0.5
            rows = np.where(usable & np.isfinite(estimate), rows, 0.0)
            with warnings.catch_warnings():  # fewer than two rows: NaN is the right answer
                warnings.simplefilter("ignore", RuntimeWarning)
                sd = np.nanstd(rows, axis=0, ddof=1)
            lower, upper = np.nanquantile(rows, [tail, 1.0 - tail], axis=0)
        blank = ~np.isfinite(estimate) | ~usable
        sd, lower, upper = (np.where(blank, np.nan, a) for a in (sd, lower, upper))
        if kind == "bootstrap":  # no two replicates differ: nothing was learnt of the noise
            sd, lower, upper = (np.where(sd > NO_SPREAD, a, np.nan) for a in (sd, lower, upper))
    else:
        sd = np.sqrt((rows**2).sum(axis=0))
        sd = np.where(~np.isfinite(estimate) | (sd <= NO_SPREAD), np.nan, sd)
        z = ndtri(1.0 - tail)
        lower, upper = estimate - z * sd, estimate + z * sd
    with np.errstate(divide="ignore", invalid="ignore"):
        p_positive = ndtr(estimate / sd)
    if kind == "posterior":
        p_positive = np.where(np.isnan(sd), np.nan, (rows > 0).mean(axis=0))
    return Interval(sd, lower, upper, p_positive)


def gap_interval(kind: str, rows: Array, estimate: Array, level: float) -> Interval:
    """`interval` of gaps, which stand on the last axis: none where a gap that another is made of has none.

    Rows without spread hold nothing on the noise of the global gap, say; the knowledge gap's interval would
    take that for certainty.
    """
    found = interval(kind, rows, estimate, level)
    bare = np.isfinite(estimate) & np.isnan(found.sd)
    single = {tuple(subsets_of(g)): g for g in range(len(GAPS)) if len(subsets_of(g)) == 1}
    for g in range(len(GAPS)):
        bare[..., g] |= np.logical_or.reduce([bare[..., single[s,]] for s in subsets_of(g)])
    return Interval(**{name: np.where(bare, np.nan, a) for name, a in found.parts().items()})
