"""Log likelihood of every item in every draw, its difficulty integrated out: what leaving an item out needs.

An item has a difficulty of its own, so that the likelihood of its answers given that difficulty says nothing
of how well an item that is not there would be predicted, and importance weights from it break down (Merkle,
Furr & Rabe-Hesketh 2019, doi:10.1007/s11336-019-09679-0). The likelihood here is marginal over the
difficulty, N(0, σ_b) over the population of items, for every program, so that which of two programs drew a
posterior changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from maskedadv.design.collapse import group_rows
from maskedadv.errors import BadSetting
from maskedadv.likelihoods.integrated import Margins, find_margins
from maskedadv.sampling.grid import Grid, build_grid, node_weights, quick_nodes
from maskedadv.sampling.guessing_grid import log_joint
from maskedadv.sampling.pairs import pattern_probabilities
from maskedadv.sampling.starts import rough
from maskedadv.sampling.task import Plan, Task

Array = NDArray[np.float64]
Variables = dict[str, Array]
OfSubset = Callable[[Array, float], Array]
"""From abilities (2J,) against the population of items, and σ of it, to log likelihoods (I,)."""


def integrated(task: Task, plan: Plan, variables: Variables) -> Array:
    """Of the program whose difficulties are integrated out, shape (chains, draws, items of CA then CS)."""
    parts = [
        _of_margins(grid.margins, grid.node, grid.log_spacing, answers)
        for grid, answers in zip(plan.constants, task.layout.answers, strict=True)
    ]
    return _every_draw(task, variables, variables["ability"], parts)


def explicit(task: Task, plan: Plan, variables: Variables) -> Array:
    """Of the program whose difficulties are parameters, which integrates over them afterwards.

    Its abilities are told against the mean difficulty of the items asked. The mean's own place in the
    population of items is drawn: given the level it is normal, as both are beforehand.
    """
    ability = _against_population(task, plan, variables)
    parts = []
    for s, answers in enumerate(task.layout.answers):
        if not answers.shape[1]:
            parts.append(lambda theta, sigma: np.zeros(0))  # noqa: ARG005
            continue
        try:
            grid: Grid = build_grid(answers, rough(answers, continuous=False), task.priors)
            margins, node, log_spacing = grid.margins, grid.node, grid.log_spacing
        except BadSetting:  # a prior wider than any grid; the draws need one as wide as they are
            margins = find_margins(answers, group_rows(answers.T))
            mean = ability[:, :, :, 2 * s : 2 * s + 2].mean(axis=(0, 1)).T.ravel()
            node, log_spacing = quick_nodes(mean, float(variables["sigma_b"][..., s].max()), 0.5)
        parts.append(_of_margins(margins, node, log_spacing, answers))
    return _every_draw(task, variables, ability, parts)


def continuous(task: Task, plan: Plan, variables: Variables) -> Array:
    """Of continuous responses: normal, with σ_b² in every covariance of an item's responses."""
    ability = _against_population(task, plan, variables)
    out = []
    for s, answers in enumerate(task.layout.answers):
        seen = ~np.isnan(answers)
        value, m = np.where(seen, answers, 0.0), seen.sum(axis=0)
        own = np.empty((*ability.shape[:2], answers.shape[1]))
        for c, d, theta, sigma in _draws(task, variables, ability, s):
            noise = float(variables["noise"][c, d, s]) ** 2
            residual = np.where(seen, value - theta[:, None], 0.0)
            total, squares = residual.sum(axis=0), (residual**2).sum(axis=0)
            spread = noise + m * sigma**2
            own[c, d] = -0.5 * (
                m * np.log(2 * np.pi)
                + (m - 1) * np.log(noise)
                + np.log(spread)
                + (squares - sigma**2 * total**2 / spread) / noise
            )
        out.append(own)
    return np.concatenate(out, axis=-1)


def guessing(task: Task, plan: Plan, variables: Variables) -> Array:
    """Of the program with a guessing floor."""
    parts: list[OfSubset] = []
    for grid in plan.constants:
        lucky = grid.answers.wrong.sum(axis=1) * np.log1p(
            -grid.answers.chance
        )  # which `log_joint` leaves out

        def own(theta: Array, sigma: float, grid=grid, lucky=lucky) -> Array:  # type: ignore[no-untyped-def]
            weight = node_weights(grid.node, grid.log_spacing, sigma)
            joint = log_joint(grid.answers, theta, grid.node) + weight
            return np.asarray((logsumexp(joint, axis=1) + lucky)[grid.answers.item_group])

        parts.append(own)
    return _every_draw(task, variables, variables["ability"], parts)


def paired(task: Task, plan: Plan, variables: Variables) -> Array:
    """Of the program of pairs: models have effects of an item each, and are independent given abilities."""
    out = []
    n = len(task.layout.models)
    for s, (answers, counts) in enumerate(zip(task.layout.answers, plan.constants, strict=True)):
        local, pivot = answers[:n], answers[n:]
        both = ~np.isnan(local)
        code = np.where(both, np.select([local + pivot == 2, local == 1, pivot == 1], [0, 1, 2], 3), 0)
        floor, row = counts.floor_of_item[None, :], np.arange(n)[:, None]
        ability = variables["ability"]
        own = np.empty((*ability.shape[:2], answers.shape[1]))
        for c, d in np.ndindex(*ability.shape[:2]):
            theta, sigma = ability[c, d, :, 2 * s : 2 * s + 2], float(variables["sigma_b"][c, d, s])
            p = np.log(pattern_probabilities(theta, sigma, counts.chance))
            own[c, d] = np.where(both, p[floor, row, code], 0.0).sum(axis=0)
        out.append(own)
    return np.concatenate(out, axis=-1)


def _of_margins(margins: Margins, node: Array, log_spacing: Array, answers: Array) -> OfSubset:
    """Right and wrong answers without a floor: one integral for every pattern and total."""
    right = np.nan_to_num(answers).T

    def own(theta: Array, sigma: float) -> Array:
        wrong = margins.seen @ np.logaddexp(0.0, theta[:, None] - node)
        exponent = node_weights(node, log_spacing, sigma) - wrong
        integral = logsumexp(exponent[margins.pattern] - np.outer(margins.item_total, node), axis=1)
        return np.asarray(integral[margins.item_group] + right @ theta)

    return own


def _against_population(task: Task, plan: Plan, variables: Variables) -> Array:
    """Abilities (…, J, 4) against the mean of the population of items instead of that of the items asked."""
    ability = variables["ability"].copy()
    shape = ability.shape[:2]
    mean = variables["facet_mean"].reshape(*shape, 2, 2).mean(axis=-1)
    for s, answers in enumerate(task.layout.answers):
        n = answers.shape[1]
        if not n:
            continue
        of_mean = (variables["sigma_b"][..., s] * _unanchored(n)) ** 2 / n
        level = task.priors.level**2
        rng = np.random.default_rng([plan.seed, 7, s])
        share = of_mean / (level + of_mean)
        shift = rng.normal(-share * mean[..., s], np.sqrt(level * share))
        ability[..., 2 * s : 2 * s + 2] += shift[..., None, None]
    return ability


def _every_draw(task: Task, variables: Variables, ability: Array, parts: list[OfSubset]) -> Array:
    out = []
    for s, own in enumerate(parts):
        values = np.empty((*ability.shape[:2], task.layout.answers[s].shape[1]))
        if values.shape[2]:
            for c, d, theta, sigma in _draws(task, variables, ability, s):
                values[c, d] = own(theta, sigma)
        out.append(values)
    return np.concatenate(out, axis=-1)


def _draws(
    task: Task, variables: Variables, ability: Array, s: int
) -> Iterator[tuple[int, int, Array, float]]:
    """Chain, draw, abilities (2J,) of a subset, and σ over the population of items."""
    n = task.layout.answers[s].shape[1]
    for c, d in np.ndindex(*ability.shape[:2]):
        theta = ability[c, d, :, 2 * s : 2 * s + 2].T.ravel()
        yield int(c), int(d), theta, float(variables["sigma_b"][c, d, s] * _unanchored(n))


def _unanchored(n: int) -> float:
    return float(np.sqrt(n / max(n - 1, 1)))
