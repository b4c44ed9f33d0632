"""Two-way equations solved on the smaller side: against the whole information matrix, inverted."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.engines.embedded import Embedded
from maskedadv.likelihoods.two_way import profiled_root, profiled_solution, solve_two_way
from maskedadv.maximum_likelihood.joint import fit_joint
from tests import simulate

Array = np.ndarray
SHAPES = [(23, 7), (7, 23), (12, 12), (1, 5), (5, 1)]


def _weight(cells: int, items: int) -> Array:
    """Weights of a block with holes, in which every cell and item is chained to every other."""
    rng = np.random.default_rng([cells, items])
    weight = rng.random((cells, items)) * (rng.random((cells, items)) > 0.3)
    weight[0], weight[:, 0] = rng.random(items), rng.random(cells)
    return weight


def _information(weight: Array) -> Array:
    """Of abilities and difficulties, shape (C + I, C + I)."""
    return np.block([[np.diag(weight.sum(axis=1)), -weight], [-weight.T, np.diag(weight.sum(axis=0))]])


def _covariance(weight: Array) -> Array:
    """Of the cells' contrasts: from the inverse of the whole."""
    cells = len(weight)
    whole = np.linalg.pinv(_information(weight), hermitian=True)[:cells, :cells]
    centre = np.eye(cells) - 1.0 / cells
    return np.asarray(centre @ whole @ centre)


@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_solve_the_whole_system(shape: tuple[int, int]):
    weight = _weight(*shape)
    right = np.random.default_rng(1).standard_normal((sum(shape), 2))
    right -= right.mean(axis=0)
    found = np.concatenate(solve_two_way(weight, right[: shape[0]], right[shape[0] :]))
    np.testing.assert_allclose(_information(weight) @ found, right, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_covariances_are_those_of_the_whole_inverse(shape: tuple[int, int]):
    weight = _weight(*shape)
    dense = _covariance(weight)
    root = profiled_root(weight)
    np.testing.assert_allclose(root.T @ root, dense, atol=1e-11)
    columns = np.random.default_rng(2).standard_normal((shape[0], 4))
    np.testing.assert_allclose(profiled_solution(weight, columns), dense @ columns, atol=1e-11)


@pytest.mark.parametrize("interval", ["robust", "information"])
@pytest.mark.parametrize(("models", "items", "holes"), [(30, 25, 0.0), (6, 40, 0.1), (20, 24, 0.1)])
def test_standard_errors_are_those_of_the_whole_information(
    models: int, items: int, holes: float, interval: str
):
    """More cells than items and the reverse, with and without holes: a covariance by one dense inverse."""
    rng = np.random.default_rng(models)
    answers = simulate.block(rng, -0.5, models, items)
    answers[rng.random(answers.shape) < holes] = np.nan
    found = fit_joint(answers, Embedded(), interval=interval, seed=1)
    use, told = np.flatnonzero(found.part == 0), np.isfinite(found.difficulty)
    inside = answers[np.ix_(use, told)]
    p = 1.0 / (1.0 + np.exp(found.difficulty[told] - found.ability[use, None]))
    seen = ~np.isnan(inside)
    covariance = _covariance(np.where(seen, p * (1 - p), 0.0))
    if interval == "robust":
        scores = np.where(seen, inside - p, 0.0)
        n = int(told.sum())
        covariance = covariance @ scores @ scores.T @ covariance * n / (n - 1)
    contrast = found.uncertainty[:, use] - found.uncertainty[:, use[:1]]
    expected = covariance - covariance[0] - covariance[:, :1] + covariance[0, 0]
    np.testing.assert_allclose(contrast.T @ contrast, expected, atol=1e-9)
