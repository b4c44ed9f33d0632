"""Nodes on which a subset's difficulties are integrated out, and the constants the program needs.

Nodes are equally spaced in units of the local width of a difficulty's conditional distribution,
s(b) = 1/sqrt(1/σ² + Σ_c p_c(b)(1 − p_c(b))), where σ is the smallest that matters at b: dense where cells
stand, sparse in the tails. In those units every integrand is close to a standard normal density and the
trapezium rule converges geometrically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import expit, logsumexp

from maskedadv.design.collapse import group_rows
from maskedadv.errors import BadSetting
from maskedadv.likelihoods.integrated import Margins, find_margins
from maskedadv.likelihoods.moments import flattened
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.starts import Start

Array = NDArray[np.float64]

TOLERANCE = 5e-7
"""Largest change of a subset's log likelihood when the nodes are doubled."""

SIGMAS = np.geomspace(0.05, 20.0, 31)
"""Spreads of difficulties at which its profile posterior is looked at first."""
_LARGEST_SIGMA = 150.0

_REACH, _FARTHEST = 8.5, 600.0
"""Nodes reach so many σ, but not so far that exp(ability − node) could overflow: four times the largest σ."""
_STEPS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)


@dataclass(frozen=True)
class Grid:
    """Nodes and constants of one subset, named as in `posterior_marginal.stan`.

    Attributes
    ----------
    margins : patterns, totals and groups of items
    count : items in each group, shape (G,)
    node, log_spacing : shape (Q,), logit
    reference : log weight at the reference point, shape (P, Q)
    share : shape (G, Q), 0 to 1
    log_scale : shape (G,)
    sigma : rough estimate of σ, the reference point's
    """

    margins: Margins
    count: Array
    node: Array
    log_spacing: Array
    reference: Array
    share: Array
    log_scale: Array
    sigma: float


def build_grid(answers: Array, start: Start, priors: Priors) -> Grid:
    """Choose nodes for one subset, shape (2J, I), so that doubling them changes nothing.

    The log likelihood is compared on nodes and doubled nodes at three values of σ that span what the
    answers allow, and the spacing reduced until no comparison differs by more than `TOLERANCE`.
    """
    if not answers.shape[1]:
        return _empty(len(answers))
    item_group = group_rows(answers.T)
    margins = find_margins(answers, item_group)
    count = np.bincount(item_group).astype(np.float64)
    cells = margins.seen.any(axis=0)
    raw = start.ability / flattened(start.sigma)
    low, best, high = _sigma_range(margins, count, np.nansum(answers, axis=1), raw, priors)
    points = [(raw * flattened(s), s) for s in (low, best, high)]
    node, log_spacing = settle_nodes(
        points[1][0][cells],
        (low, high),
        points,
        _STEPS,
        lambda *at: log_likelihood(margins, count, *at),
    )
    ability, sigma = points[1]
    # Under the widest prior: under any narrower one the weights can only shrink, never overflow.
    weight = node_weights(node, log_spacing, high)
    reference = weight - margins.seen @ np.logaddexp(0.0, ability[:, None] - node)
    exponent = reference[margins.pattern] - np.outer(margins.item_total, node)
    log_scale = exponent.max(axis=1)
    share = np.exp(exponent - log_scale[:, None])
    return Grid(margins, count, node, log_spacing, reference, share, log_scale, sigma)


def settle_nodes(
    ability: Array,
    sigma_range: tuple[float, float],
    points: Sequence[tuple[Array, float]],
    steps: Sequence[float],
    log_likelihood_at: Callable[[Array, float, Array, Array], float],
) -> tuple[Array, Array]:
    """Nodes at the widest of `steps` at which doubling them moves no log likelihood beyond `TOLERANCE`.

    Parameters
    ----------
    ability : of cells with answers, where nodes are needed
    points : abilities and σ at which log likelihoods are compared
    log_likelihood_at : of abilities, σ, nodes and the log of their spacing
    """
    for step in steps:
        nodes = lay_nodes(ability, *sigma_range, step)
        fine = lay_nodes(ability, *sigma_range, step / 2)
        if (
            max(abs(log_likelihood_at(*p, *nodes) - log_likelihood_at(*p, *fine)) for p in points)
            <= TOLERANCE
        ):
            break
    return nodes


def node_weights(node: Array, log_spacing: Array, sigma: float) -> Array:
    """Log weights under N(0, σ), made to sum to one."""
    weight = log_spacing - node**2 / (2 * sigma**2)
    return np.asarray(weight - logsumexp(weight))


def log_likelihood(
    margins: Margins, count: Array, ability: Array, sigma: float, node: Array, log_spacing: Array
) -> float:
    """Log of the integrals of all items, cells' totals left out (they do not depend on the nodes)."""
    wrong = margins.seen @ np.logaddexp(0.0, ability[:, None] - node)
    exponent = node_weights(node, log_spacing, sigma) - wrong
    total = logsumexp(exponent[margins.pattern] - np.outer(margins.item_total, node), axis=1)
    return float(count @ total)


def _sigma_range(
    margins: Margins, count: Array, cell_total: Array, raw: Array, priors: Priors
) -> tuple[float, float, float]:
    """Values of σ at the lower end, top and upper end of its rough profile posterior."""
    finest = 0.9 / np.sqrt(1.0 + SIGMAS[-1] ** 2 * margins.seen.sum(axis=1).max() / 4.0)
    z = np.linspace(-_REACH, _REACH, min(2000, int(2 * _REACH / finest) + 1))
    cells = margins.seen.any(axis=0)

    def log_likelihood_at(sigma: float) -> float:
        ability = raw * flattened(sigma)
        node, spacing = sigma * z, np.zeros_like(z)
        if sigma > SIGMAS[-1]:
            node, spacing = quick_nodes(ability[cells], sigma)
        return float(cell_total @ ability) + log_likelihood(margins, count, ability, sigma, node, spacing)

    return profile_range(log_likelihood_at, priors)


def profile_range(log_likelihood_at: Callable[[float], float], priors: Priors) -> tuple[float, float, float]:
    """Values of σ at the lower end, top and upper end of its profile posterior (six sd each way).

    Answers that say little of σ, and priors wider than usual, take it beyond `SIGMAS`.

    Raises
    ------
    BadSetting
        There is no upper end: the prior asks for spreads that no grid can hold.
    """
    sigmas, profile = list(SIGMAS), []
    ratio = sigmas[1] / sigmas[0]
    k = 0
    while k < len(sigmas):
        sigma = float(sigmas[k])
        prior = -0.5 * (np.log(sigma / priors.difficulty) / priors.difficulty_log_sd) ** 2
        profile.append(log_likelihood_at(sigma) + prior)
        k += 1
        if k == len(sigmas) and profile[-1] > max(profile) - 18.0 and sigma < _LARGEST_SIGMA:
            sigmas.append(min(sigma * ratio, _LARGEST_SIGMA))
    if priors.difficulty > _LARGEST_SIGMA / 3 and profile[-1] > max(profile) - 2.0:
        raise BadSetting(
            f"the prior of the difficulties' spread (difficulty={priors.difficulty:g}, "
            f"difficulty_log_sd={priors.difficulty_log_sd:g}) allows spreads of more than "
            f"{_LARGEST_SIGMA:g} logits, and these answers do not exclude them; give a narrower one."
        )
    top = int(np.argmax(profile[: len(SIGMAS)]))  # where chains start; never far out
    inside = np.flatnonzero(np.array(profile) > max(profile) - 18.0)
    low, high = max(min(inside[0], top) - 1, 0), min(inside[-1] + 1, len(sigmas) - 1)
    return float(sigmas[low]), float(sigmas[top]), float(sigmas[high])


def lay_nodes(ability: Array, low: float, high: float, step: float) -> tuple[Array, Array]:
    """Nodes from the solution of db/dt = s(b), equally spaced in t, and the log of their spacing in b."""

    def width(b: Array) -> Array:
        return local_width(b, ability, low)

    reach = min(_REACH * high, _FARTHEST)

    def beyond(_t: float, b: Array) -> float:
        return abs(float(b[0])) - reach

    beyond.terminal = True  # type: ignore[attr-defined]
    tight: dict[str, Any] = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    halves = []
    for side in (-1.0, 1.0):
        # How far in t the edge lies is not known beforehand; the event ends the path there.
        path = solve_ivp(_scaled(width, side), (0.0, 1e6), [0.0], dense_output=True, events=beyond, **tight)
        t = np.arange(1, int(path.t[-1] / step) + 1) * step
        assert path.sol is not None
        halves.append(path.sol(t)[0] if len(t) else np.empty(0))
    node = np.concatenate([halves[0][::-1], [0.0], halves[1]])
    return node, np.log(step * width(node))


def local_width(b: Array, ability: Array, low: float) -> Array:
    """Local width s(b) of a difficulty's conditional distribution, shape of b."""
    p = expit(ability[:, None] - b)
    narrowest = low**2 + (b / 7.0) ** 2  # no narrower N(0, σ) has weight so far out
    return np.asarray(1.0 / np.sqrt(1.0 / narrowest + (p * (1.0 - p)).sum(axis=0)))


def quick_nodes(ability: Array, sigma: float, step: float = 0.9) -> tuple[Array, Array]:
    """Nodes as `lay_nodes` lays them for one σ, to about three digits and a thousand times faster."""
    reach = min(_REACH * sigma, _FARTHEST)
    b = np.linspace(-reach, reach, 4001)
    density = 1.0 / local_width(b, ability, sigma)
    t = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(b)))
    node = np.interp(np.arange(0.0, t[-1], step), t, b)
    return node, np.log(step * local_width(node, ability, sigma))


def _scaled(width: Callable[[Array], Array], side: float) -> Callable[[float, Array], Array]:
    return lambda _t, b: side * width(b)


def _empty(n_cells: int) -> Grid:
    """A subset without items: one node that nothing depends on."""
    margins = Margins(
        np.zeros((1, n_cells)), np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0, dtype=np.intp)
    )
    none = np.zeros(0)
    return Grid(margins, none, np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.zeros((0, 1)), none, 1.0)
