"""Predictions from posteriors: the mean over draws of what each draw predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit

from maskedadv.cross_validation.from_estimates import expected_logistic, given_the_other
from maskedadv.cross_validation.training import Training
from maskedadv.design.blocks import Block
from maskedadv.engines import Engine
from maskedadv.likelihoods import guessing
from maskedadv.likelihoods.integrated import cover
from maskedadv.sampling.layout import Layout, build_layout
from maskedadv.sampling.locales import floors_of, make_task
from maskedadv.sampling.pairs import nodes as pair_nodes
from maskedadv.sampling.pairs import pairs_only
from maskedadv.sampling.sample import sample_locale
from maskedadv.settings import Settings

Array = NDArray[np.float64]

THINNED = 200
"""Draws that are used where every draw costs an integral over each item's difficulty."""


def sample(
    training: Mapping[int, Training],
    settings: Settings,
    engine: Engine,
    *,
    with_floor: bool = False,
    paired: bool = False,
) -> xr.Dataset:
    """The posterior of one locale given what one fold leaves of its subsets; the group `posterior`."""
    blocks = {s: t.left for s, t in training.items()}
    layout = _layout(blocks)
    task = make_task(pairs_only(layout) if paired else layout, settings, engine.name)
    task = replace(task, paired=paired, chance=floors_of(blocks) if with_floor else None)
    return sample_locale(task)["posterior"].to_dataset()


def _layout(blocks: Mapping[int, Block]) -> Layout:
    one = next(iter(blocks.values()))
    return build_layout(blocks, one.locale, one.pivot)


def from_difficulties(subset: int, t: Training, posterior: xr.Dataset) -> Array:
    """Programs whose draws hold difficulties, right and wrong or continuous; predictions (C, I).

    A new item is one of the population that the draw describes, a new model one of its population.
    """
    theta, spread = _abilities(subset, t, posterior)
    n_left = len(t.items)
    sigma = _flat(posterior["sigma_b"])[:, subset] * np.sqrt(n_left / max(n_left - 1, 1))
    names = posterior["item"].values[posterior["item_subset"].values == _name(posterior, subset)]
    drawn = _flat(posterior["difficulty"])[:, posterior["item_subset"].values == _name(posterior, subset)]
    place = {str(v): k for k, v in enumerate(names)}
    at = np.array([place.get(str(v), -1) for v in t.block.item])
    b = np.where(at >= 0, drawn[:, at], 0.0)
    # A new item's difficulty is told against the mean of the items left, which has an error of its own.
    b_variance = np.where(at >= 0, 0.0, (sigma**2 * (1.0 + 1.0 / n_left))[:, None])
    noise = _flat(posterior["noise"])[:, subset] if "noise" in posterior else np.zeros(len(theta))
    p = np.full(t.answers.shape, np.nan)
    for c, i in _held(t):
        variance = spread[:, c, None] ** 2 + b_variance[:, i] + noise[:, None] ** 2
        mean = theta[:, c, None] - b[:, i]
        p[c, i] = (expected_logistic(mean, np.sqrt(variance)) if variance.any() else expit(mean)).mean(axis=0)
    return p


def from_integrals(subset: int, t: Training, posterior: xr.Dataset) -> Array:
    """The program with a floor, which keeps no difficulties: integrated again, draw by draw; (C, I)."""
    theta, spread = _abilities(subset, t, posterior)
    chance = t.block.chance
    assert chance is not None
    n_left = len(t.items)
    sigma = _flat(posterior["sigma_b"])[:, subset] * np.sqrt(n_left / max(n_left - 1, 1))
    data = guessing.find_answers(t.answers[t.cells], chance)
    count = np.ones(len(data.chance))
    known = np.zeros(t.answers.shape)
    chosen = np.unique(np.linspace(0, len(theta) - 1, THINNED).astype(np.intp))
    own, s = theta[chosen[len(chosen) // 2], t.cells], float(sigma.max())
    nodes = cover(lambda n: guessing.expect(data, n, count, own, s).weights, own, s)
    b = s * nodes.z
    for d in chosen:
        # The same places in logits for every draw, in units of the draw's own σ.
        z = b / sigma[d]
        here = replace(nodes, z=z, log_weight=-0.5 * z**2 - 0.5 * np.log(2 * np.pi) + np.log(z[1] - z[0]))
        weights = guessing.expect(data, here, count, theta[d, t.cells], float(sigma[d])).weights
        curve = expected_logistic(theta[d, :, None] - b, spread[d, :, None])
        known += curve @ weights[data.item_group].T
    return np.asarray(chance + (1.0 - chance) * known / len(chosen))


def from_pairs(subset: int, t: Training, posterior: xr.Dataset, *, with_floor: bool = False) -> Array:
    """The program of pairs: a model's other answer to the item is all that is known of it; (C, I)."""
    theta, spread = _abilities(subset, t, posterior)
    sigma = _flat(posterior["sigma_b"])[:, subset]
    chance = t.block.chance if with_floor and t.block.chance is not None else np.zeros(t.answers.shape[1])
    models = np.unique(t.block.model)
    rows = t.block.cells(t.block.locale, models).T
    padded = np.vstack([t.answers, np.full((1, t.answers.shape[1]), np.nan)])
    local, pivot = padded[rows[0]], padded[rows[1]]
    floors, place = np.unique(chance, return_inverse=True)
    z, weight = pair_nodes()
    chosen = np.unique(np.linspace(0, len(theta) - 1, THINNED).astype(np.intp))
    total = np.zeros((2, *local.shape))
    for d in chosen:
        th, sp = (np.where(rows >= 0, v[d][rows], 0.0) for v in (theta, spread))
        know = expected_logistic(th[..., None] - sigma[d] * z, sp[..., None])  # (2, J, Q)
        q = []
        for c in floors:
            one, other = c + (1 - c) * know
            q.append(np.stack([(u * v) @ weight for u, v in _patterns(one, other)], axis=1))
        total += given_the_other(np.stack(q)[place.reshape(-1)].transpose(1, 0, 2), local, pivot)
    p = np.full(t.answers.shape, np.nan)
    for k in (0, 1):
        there = rows[k] >= 0
        p[rows[k, there]] = total[k, there] / len(chosen)
    return p


def _patterns(one: Array, other: Array) -> list[tuple[Array, Array]]:
    return [(one, other), (one, 1 - other), (1 - one, other), (1 - one, 1 - other)]


def _abilities(subset: int, t: Training, posterior: xr.Dataset) -> tuple[Array, Array]:
    """Mean and sd of every cell's ability in every draw, shapes (S, C); sd 0 for models that are known."""
    ability = _flat(posterior["ability"])[:, :, subset]  # (S, J, 2)
    place = {str(v): k for k, v in enumerate(posterior["model"].values)}
    model = np.array([place.get(str(v), -1) for v in t.block.model])
    query = (t.block.language == t.block.pivot).astype(np.intp)
    mean, spread = (_flat(posterior[name])[:, subset][:, query] for name in ("facet_mean", "facet_spread"))
    known = model >= 0
    return np.where(known, ability[:, model, query], mean), np.where(known, 0.0, spread)


def _held(t: Training) -> list[tuple[int, NDArray[np.intp]]]:
    """Items held out of every cell."""
    held = ~np.isnan(t.block.answers) & np.isnan(t.answers)
    return [(int(c), np.flatnonzero(held[c])) for c in np.flatnonzero(held.any(axis=1))]


def _flat(values: xr.DataArray) -> Array:
    """Draws of all chains in one row, shape (S, ...)."""
    return np.asarray(values.values.reshape(-1, *values.shape[2:]), dtype=np.float64)


def _name(posterior: xr.Dataset, subset: int) -> str:
    return str(posterior["subset"].values[subset])
