"""All gaps of a result together, and intervals of any weighted sum of them.

A mean over models or locales is a weighted sum of gaps whose errors go together: models answer the same
items, and every locale is compared with the same English answers. Its interval comes from the rows of
`Uncertainty`, added up over everything that shares a key, never from averaging intervals. Posterior draws of
two locales come from separate runs: a sum over locales then leaves out what their shared answers have in
common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import BadSetting
from maskedadv.gaps.contrasts import Uncertainty, interval
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS

Array = NDArray[np.float64]

NORMAL_KINDS = ("robust", "information")
"""Kinds whose rows are directions of a normal distribution; the rows of others are replicates or draws."""

ALL_LOCALES = "(all locales)"
"""What stands in a locale column for all of them together."""


@dataclass(frozen=True)
class Contrasts:
    """Weighted sums of gaps with intervals; all fields of shape (F, 3 gaps), logit."""

    estimate: Array
    sd: Array
    lower: Array
    upper: Array
    p_positive: Array

    def frame(self, labels: Mapping[str, Any]) -> pd.DataFrame:
        """Tidy rows: `labels` (each of length F, or F × 3), gap, estimate, sd, lower, upper, p_positive."""
        n, g = self.estimate.shape
        columns: dict[str, Any] = {
            name: np.ravel(v) if np.ndim(v) == 2 else np.repeat(_objects(v), g) for name, v in labels.items()
        }
        columns["gap"] = np.tile(np.array(GAPS, dtype=object), n)
        for name in ("estimate", "sd", "lower", "upper", "p_positive"):
            columns[name] = getattr(self, name).ravel()
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
        cube = result.cube
        if "variant" in cube.dims:
            cube = cube.sel(variant=variant, drop=True)
        uncertainty = result.uncertainty if variant == "plain" else result.variant_uncertainty[variant]
        locales = tuple(str(v) for v in cube["locale"].values)
        own = tuple(uncertainty[name] for name in locales)
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
        """Where a gap is known, shape (L, J, 3)."""
        return ~np.isnan(self.estimate)

    @property
    def some(self) -> NDArray[np.bool_]:
        """Where a model has any gap in a locale, shape (L, J)."""
        return np.asarray(self.known.any(axis=2))

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
        kind = self.uncertainty[0].kind
        found = interval(kind, self._rows(weights), value, self.level)
        return Contrasts(value, found.sd, found.lower, found.upper, found.p_positive)

    def _rows(self, weights: Array) -> Array:
        """Uncertainty rows of the sums, shape (K, F, 3): one for every key that any locale has."""
        replicates = self.uncertainty[0].kind not in NORMAL_KINDS
        code, unique = pd.factorize(np.concatenate([u.key for u in self.uncertainty]))
        total = np.zeros((len(unique), len(weights), len(GAPS)))
        ends = np.cumsum([0, *(len(u.key) for u in self.uncertainty)])
        for place, own in enumerate(self.uncertainty):
            weight = weights[:, place]
            concerned = weight.any(axis=1)
            if not concerned.any():
                continue
            index = code[ends[place] : ends[place + 1]]
            np.add.at(total, index, _weighted(own.gaps(), weight))
            if replicates:
                absent = np.setdiff1d(np.arange(len(unique)), index)
                total[absent] = np.where(concerned, np.nan, total[absent])
        return total


def _weighted(rows: Array, weight: Array) -> Array:
    """Σ over models of rows (K, 3, J) times weight (F, J, 3), shape (K, F, 3); NaN rows count if weighted."""
    missing = np.isnan(rows)
    clean = np.where(missing, 0.0, rows)
    out = np.stack([clean[:, g] @ weight[:, :, g].T for g in range(rows.shape[1])], axis=2)
    if missing.any():
        lost = [missing[:, g].astype(float) @ (weight[:, :, g] != 0).T for g in range(rows.shape[1])]
        out[np.stack(lost, axis=2) > 0] = np.nan
    return out
