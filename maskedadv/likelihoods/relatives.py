"""How alike two models answer beyond their abilities and the items' difficulties.

Residual correlations (Yen 1984, doi:10.1177/014662168400800201) are taken from a fitted model, whose item
difficulties soak up whatever all models share: among six copies of one model every item is either right or
wrong for all, and nothing is left over. Here difficulty is told from what cannot be a family likeness, the
association of one model's own answers in two languages. The answers of two models in one language then have
an expected covariance, and what they have beyond it, in units of what chance leaves, is their residual
correlation: 1 for copies, 0 where the Rasch model holds. No correction for bias is needed, as no difficulty
was estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from scipy.special import expit

from maskedadv.likelihoods import paired, paired_floor

Array = NDArray[np.float64]

BOUND = 0.2
"""Residual correlation from which two models are called relatives, if it is clear of chance."""
_CLEAR = 4.0
"""Standard errors that it must lie above 0; there are many pairs."""
_Z = np.linspace(-8.0, 8.0, 161)
_WEIGHT = np.exp(-0.5 * _Z**2) / np.exp(-0.5 * _Z**2).sum()


@dataclass(frozen=True)
class Covariances:
    """Sums over pairs of answers to one item in one language, all of shape (J, J).

    Attributes
    ----------
    excess : observed less expected covariance
    scale : square root of the product of the variances that chance leaves
    count : items that both models answered
    """

    excess: Array
    scale: Array
    count: Array

    def of(self, models: NDArray[np.bool_]) -> Covariances:
        """Of some of the models."""
        at = np.ix_(models, models)
        return Covariances(self.excess[at], self.scale[at], self.count[at])


def add_covariances(total: Covariances | None, part: Covariances) -> Covariances:
    """Their sum, made in place of `total`, which is nobody else's."""
    if total is None:
        return Covariances(part.excess.copy(), part.scale.copy(), part.count.copy())
    for name in ("excess", "scale", "count"):
        np.add(getattr(total, name), getattr(part, name), out=getattr(total, name))
    return total


def language_covariances(
    local: Array, pivot: Array, spread: float | None = None
) -> tuple[Covariances, Covariances]:
    """Excess covariances in the local and in the pivot language of one locale and subset.

    Parameters
    ----------
    local, pivot : shape (J, I), right or wrong, NaN where not observed
    spread : that of `shared_spreads`, where it is known already
    """
    own = shared_spreads([(local, pivot)])[0] if spread is None else spread
    return _excess(local, own), _excess(pivot, own)


def shared_spreads(tables: Iterable[tuple[Array, Array]]) -> Array:
    """Sd (logit) of what a model's two answers to an item share, of every table: median over its models.

    All tables are solved at once: one by one, most of the time goes into calls of NumPy.

    Parameters
    ----------
    tables : local and pivot answers, each of shape (J, I), as in `language_covariances`; J of all alike.
        Only counts are kept of each.

    Returns
    -------
    shape (R,), NaN where no model has ten pairs
    """
    counts = [_patterns_of(*own) for own in tables]
    if not counts:
        return np.zeros(0)
    joined = replace(counts[0], count=np.concatenate([c.count for c in counts]))
    found = paired_floor.solve(joined, paired_floor.start_values(joined), tolerance=1e-5)
    logs = found.theta[:, 2].reshape(len(counts), -1)
    enough = [c.count.sum(axis=(1, 2)) >= 10 for c in counts]
    return np.array(
        [np.exp(np.median(own[e])) if e.any() else np.nan for own, e in zip(logs, enough, strict=True)]
    )


def _patterns_of(local: Array, pivot: Array) -> paired_floor.Patterns:
    """Counts of the patterns of two answers, without a floor."""
    both = paired.find_pairs(local, pivot)
    return paired_floor.count_patterns(paired_floor.indicators(both, local), np.zeros(local.shape[1]))


def _excess(answers: Array, spread: float) -> Covariances:
    seen = ~np.isnan(answers)
    n = seen.sum(axis=1)
    mean = np.where(seen, answers, 0.0).sum(axis=1) / np.maximum(n, 1)
    p = expit(_levels((mean * n + 0.5) / (n + 1.0), spread)[:, None] + spread * _Z)
    expected = (p * _WEIGHT) @ p.T - np.outer(p @ _WEIGHT, p @ _WEIGHT)
    left = (p * (1 - p)) @ _WEIGHT
    residual = np.where(seen, answers - mean[:, None], 0.0)
    count = seen.astype(np.float64) @ seen.T
    usable = np.isfinite(spread) & (count > 1)
    freedom = np.where(usable, count / np.maximum(count - 1, 1), 0.0)
    excess = np.where(usable, (residual @ residual.T) * freedom - count * np.nan_to_num(expected), 0.0)
    scale = np.where(usable, count * np.sqrt(np.outer(np.nan_to_num(left), np.nan_to_num(left))), 0.0)
    return Covariances(excess, scale, np.where(usable, count, 0.0))


def _levels(mean: Array, spread: float) -> Array:
    """Abilities whose mean over difficulties N(0, spread) is the share of right answers, shape (J,)."""
    theta = np.log(mean / (1 - mean))
    for _ in range(60):
        p = expit(theta[:, None] + spread * _Z)
        step = np.clip((mean - p @ _WEIGHT) / ((p * (1 - p)) @ _WEIGHT), -1.0, 1.0)
        theta = theta + step
        if not np.abs(step).max(initial=0.0) > 1e-13:  # NaN, without a spread, stays what it is
            break
    return np.asarray(theta)


@dataclass(frozen=True)
class Relatives:
    """Residual correlations of all models.

    Attributes
    ----------
    correlation : shape (J, J), NaN where two models share no item, and on the diagonal
    sd : shape (J, J), rough standard error where there is no likeness
    groups : indices of models that answer alike, each of two or more, the most alike first
    order : shape (J,), models in an order that puts the alike beside each other
    """

    correlation: Array
    sd: Array
    groups: tuple[tuple[int, ...], ...]
    order: NDArray[np.intp]


def find_relatives(parts: Sequence[Covariances], items: int) -> Relatives:
    """Residual correlations over all languages and subsets, and groups of models that answer alike.

    Groups are those of average linkage cut at `BOUND`, or at four standard errors where that is more. These
    count items, not answers: what chance gives two models on an item, its difficulty above all, it gives
    them in every language, and the pivot's answers stand in every locale's part.

    Parameters
    ----------
    items : number of different items behind the parts
    """
    excess, scale, count = (sum(getattr(p, name) for p in parts) for name in ("excess", "scale", "count"))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.where(scale > 0, excess / scale, np.nan)
        share = count / count.diagonal().max(initial=0)
        sd = np.where(count > 0, 1.0 / np.sqrt(items * share), np.nan)
    np.fill_diagonal(correlation, np.nan)
    models = len(correlation)
    if models < 2:
        return Relatives(correlation, sd, (), np.arange(models))
    distance = 1.0 - np.nan_to_num(np.clip(correlation, -1.0, 1.0))
    upper = np.triu_indices(models, 1)
    tree = linkage(distance[upper], method="average", optimal_ordering=models <= 200)
    bound = max(BOUND, _CLEAR * float(np.nanmedian(sd[upper])) if np.isfinite(sd[upper]).any() else BOUND)
    label = fcluster(tree, 1.0 - bound, criterion="distance")
    groups = [tuple(np.flatnonzero(label == g).tolist()) for g in np.unique(label)]
    alike = [g for g in groups if len(g) > 1]
    alike.sort(key=lambda g: -np.nanmean(correlation[np.ix_(g, g)]))
    return Relatives(correlation, sd, tuple(alike), np.asarray(leaves_list(tree), dtype=np.intp))
