"""All gaps of a result together, and intervals of any weighted sum of them.

A mean over models or locales is a weighted sum of gaps whose errors go together: models answer the same
items, and every locale is compared with the same English answers. Its interval comes from the rows of
`Uncertainty`, added up over everything that shares a key, never from averaging intervals. Posterior draws of
two locales come from separate runs: a sum over locales then leaves out what their shared answers have in
common. The rows of `information` are directions of one locale and know nothing of others, whose English
answers are the same: taken as independent, 95% intervals of means over locales covered 73% (global gap).
They have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import BadSetting
from maskedadv.gaps.contrasts import Interval, Uncertainty, gap_interval
from maskedadv.vocabulary import BY_SUBSET, GAPS

if TYPE_CHECKING:
    from maskedadv.result.fit_result import Fit

Array = NDArray[np.float64]

NORMAL_KINDS = ("robust", "information")
"""Kinds whose rows are directions of a normal distribution; the rows of others are replicates or draws."""

ALL_LOCALES = "(all locales)"
"""What stands in a locale column for all of them together."""


@dataclass(frozen=True)
class Contrasts(Interval):
    """Weighted sums of gaps with intervals; all fields of shape (F, 3 gaps), logit."""

    estimate: Array

    def frame(self, labels: Mapping[str, Any]) -> pd.DataFrame:
        """Tidy rows: `labels` (each of length F, or F × 3), gap, estimate, sd, lower, upper, p_positive."""
        n, g = self.estimate.shape
        columns: dict[str, Any] = {
            name: np.ravel(v) if np.ndim(v) == 2 else np.repeat(_objects(v), g) for name, v in labels.items()
        }
        columns["gap"] = np.tile(np.array(GAPS, dtype=object), n)
        for name, values in {"estimate": self.estimate, **self.parts()}.items():
            columns[name] = values.ravel()
        return pd.DataFrame(columns).infer_objects()


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


@dataclass(frozen=True)
class Joint:
    """Gaps of every locale and model with their joint uncertainty.

    Attributes
    ----------
    locales, models
        Ids, lengths L and J.
    estimate
        Shape (L, J, 3 gaps), logit, NaN where not known.
    uncertainty
        One per locale; see `maskedadv.gaps.contrasts.Uncertainty`.
    level
        Coverage of the intervals.
    """

    locales: tuple[str, ...]
    models: tuple[str, ...]
    estimate: Array
    uncertainty: tuple[Uncertainty, ...]
    level: float

    @staticmethod
    def of(result: Fit | Joint, variant: str = "plain") -> Joint:
        """The gaps of a fit; a `Joint` is given back as it is.

        Parameters
        ----------
        variant
            `plain` (the papers' definition) or another that the fit holds.

        Raises
        ------
        BadSetting
            The locales of the fit carry different kinds of uncertainty.
        """
        if isinstance(result, Joint):
            return result
        cube = result.cube[["estimate"]].sel(variant=variant)
        locales = tuple(str(v) for v in cube["locale"].values)
        own = tuple(result.uncertainty[variant][name] for name in locales)
        if len({u.kind for u in own}) > 1:
            raise BadSetting("the locales of this result have different kinds of intervals; fit them alike.")
        return Joint(
            locales=locales,
            models=tuple(str(v) for v in cube["model"].values),
            estimate=cube["estimate"].transpose("locale", "model", "gap").values,
            uncertainty=own,
            level=result.settings.level,
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Where a gap is known and finite, shape (L, J, 3)."""
        return np.isfinite(self.estimate)

    @property
    def some(self) -> NDArray[np.bool_]:
        """Where a model has any gap in a locale, shape (L, J)."""
        return np.asarray(self.known.any(axis=2))

    def only(self, locales: Sequence[str], models: Sequence[str]) -> Joint:
        """Some of the locales, and of the models as if the others had no gap."""
        at = [self.locales.index(k) for k in locales]
        chosen = np.isin(self.models, list(models))
        estimate = np.where(chosen[None, :, None], self.estimate[at], np.nan)
        return replace(
            self,
            locales=tuple(locales),
            estimate=estimate,
            uncertainty=tuple(self.uncertainty[k] for k in at),
        )

    def average(self, members: NDArray[np.bool_]) -> Array:
        """Weights of means over groups: over the known models of each locale, then over locales.

        Parameters
        ----------
        members : shape (F, L, J)

        Returns
        -------
        weights : shape (F, L, J, 3); NaN throughout for a group of which nothing is known
        """
        used = members[..., None] & self.known[None]
        per_locale = used.sum(axis=2, keepdims=True)
        locales = (per_locale > 0).sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(used, 1.0 / per_locale, 0.0) / locales

    def locale_means(self, chosen: NDArray[np.bool_] | None = None) -> Contrasts:
        """Means of every locale over its models: `contrast` of `average`, without weights of all by all.

        Parameters
        ----------
        chosen : shape (L, J), models to average over; None takes all
        """
        used = self.known if chosen is None else self.known & chosen[..., None]
        count = used.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(used, 1.0 / count, 0.0)
        value = (weights * np.where(self.known, self.estimate, 0.0)).sum(axis=1)
        value = np.where(count[:, 0] > 0, value, np.nan)
        out = Interval.unknown(value.shape).parts()
        for k, own in enumerate(self.uncertainty):
            if count[k].any():
                rows = self._rows_of_locale(k, weights[[k]])[:, 0]
                for name, part in gap_interval(own.kind, rows, value[k], self.level).parts().items():
                    out[name][k] = part
        return Contrasts(**out, estimate=value)

    def contrast(self, weights: Array) -> Contrasts:
        """Sums over locales and models of weight times gap, each gap for itself.

        Parameters
        ----------
        weights : shape (F, L, J, 3); where a gap is not known the weight must be 0, or NaN for all
        """
        void = np.asarray(np.isnan(weights).any(axis=(1, 2)))
        weights = np.where(void[:, None, None, :], 0.0, weights)
        value = np.einsum("fljg,ljg->fg", weights, np.where(self.known, self.estimate, 0.0))
        value = np.where(void, np.nan, value)
        out = Interval.unknown(value.shape).parts()
        concerned = weights.any(axis=(2, 3))
        for places in np.unique(concerned, axis=0):  # sums over the same locales, together
            rows = (concerned == places).all(axis=1)
            spread = self._rows(weights[rows], np.flatnonzero(places))
            kind = self.uncertainty[0].kind
            if kind == "information" and places.sum() > 1:
                continue  # what the locales share (the pivot's answers) is in no row: no interval is known
            found = gap_interval(kind, spread, value[rows], self.level)
            for name, part in found.parts().items():
                out[name][rows] = part
        return Contrasts(**out, estimate=value)

    def rows_of(self, weights: Array) -> Array:
        """Uncertainty rows of sums over all locales that have weight, shape (K, F, gaps)."""
        return self._rows(weights, np.flatnonzero(weights.any(axis=(0, 2, 3))))

    def rows_of_gap(self, gap: int, places: Sequence[int]) -> Array:
        """Uncertainty rows of one gap of every model in some locales, side by side, shape (K, places × J)."""
        parts = [self.uncertainty[place] for place in places]
        code, unique = pd.factorize(np.concatenate([u.key for u in parts]))
        normal = self.uncertainty[0].kind in NORMAL_KINDS
        n = len(self.models)
        out = np.full((len(unique), len(parts) * n), 0.0 if normal else np.nan)
        first = 0
        for k, own in enumerate(parts):
            rows = own.gaps()[:, gap]
            index = code[first : first + len(own.key)]
            first += len(own.key)
            out[index, k * n : (k + 1) * n] = np.where(np.isnan(rows), 0.0, rows) if normal else rows
        return out

    def _rows(self, weights: Array, places: NDArray[np.intp]) -> Array:
        """Uncertainty rows of sums over some locales, shape (K, F, gaps): one for every key that any has."""
        kind = self.uncertainty[0].kind
        parts = [self.uncertainty[place] for place in places]
        if not parts:
            return np.zeros((0, len(weights), len(GAPS)))
        if len(parts) == 1:  # no key stands twice in one locale
            return self._rows_of_locale(places[0], weights[:, places[0]])
        code, unique = pd.factorize(np.concatenate([u.key for u in parts]))
        total = np.zeros((len(unique), len(weights), len(GAPS)))
        first = 0
        for place, own in zip(places, parts, strict=True):
            index = code[first : first + len(own.key)]
            first += len(own.key)
            weight = weights[:, place]
            if kind not in NORMAL_KINDS:
                absent = np.setdiff1d(np.arange(len(unique)), index)
                total[absent] = np.where(weight.any(axis=1), np.nan, total[absent])
            total[index] += self._rows_of_locale(place, weight)
        return total

    def _rows_of_locale(self, place: int, weight: Array) -> Array:
        """Uncertainty rows of sums over one locale with the weights (F, J, gaps), shape (K, F, gaps)."""
        own = self.uncertainty[place]
        if own.kind not in NORMAL_KINDS:
            return _replicated(own.gaps(), weight, self.estimate[place])
        out = np.zeros((len(own.key), len(weight), len(GAPS)))
        for s, (at, values) in enumerate(own.parts()):
            for g in np.flatnonzero(BY_SUBSET[:, s]):
                out[at, :, g] += BY_SUBSET[g, s] * _weighted(values, weight[:, :, g])
        return out


def _weighted(values: Array, weight: Array) -> Array:
    """Σ over models of values (K, J) times weight (F, J), shape (K, F); those not known have no weight."""
    sums = values @ weight.T
    if np.isnan(sums).any():  # rarely: to look at, and copy, all values takes longer than the product
        sums = np.where(np.isnan(values), 0.0, values) @ weight.T
    return np.asarray(sums)


def _products(rows: Array, weight: Array) -> list[Array]:
    """Σ over models of rows (K, gaps, J) times weight (F, J, gaps), one (K, F) for each gap."""
    return [rows[:, g] @ weight[:, :, g].T for g in range(rows.shape[1])]


def _replicated(rows: Array, weight: Array, estimate: Array) -> Array:
    """Replicates or draws of the sums, shape (K, F, gaps), NaN where a sum has none.

    A replicate in which one of the models has no finite value counts with the other models' mean departure
    from their estimates in its place, those on the same side of a difference: leaving it out costs a mean
    over many models its interval, and leaving it where it was would call it free of noise. Where no model
    of a side has a value, the sum has none: so it is with a single model, whose interval leaves it out too.

    Parameters
    ----------
    rows : shape (K, gaps, J)
    weight : shape (F, J, gaps), 0 where a gap is not known
    estimate : shape (J, gaps)
    """
    missing = np.isnan(rows)
    out = np.stack(_products(np.where(missing, 0.0, rows), weight), axis=2)
    if not missing.any():
        return out
    departure = np.where(missing | np.isnan(estimate.T), 0.0, rows - estimate.T)
    lost = np.where(missing, np.nan_to_num(estimate).T, 0.0)
    out += np.stack(_products(lost, weight), axis=2)
    for side in (np.maximum(weight, 0.0), np.minimum(weight, 0.0)):
        moved, absent, present = (
            np.stack(_products(part, side), axis=2)
            for part in (departure, missing.astype(np.float64), (~missing).astype(np.float64))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            out += np.where(absent != 0, moved * absent / present, 0.0)
    return np.where(np.isfinite(out), out, np.nan)
