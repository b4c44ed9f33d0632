"""Algebra of joint maximum likelihood on groups of items, against items one by one."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from maskedadv.likelihoods import rasch
from maskedadv.likelihoods.two_way import profiled_solution


def _problem() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What every cell saw of every item, probabilities, groups of exchangeable items; cells × items."""
    rng = np.random.default_rng(2)
    group = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3, 3])
    pattern = rng.random((5, 4)) < 0.8
    pattern[0] = True
    p = expit(rng.normal(size=(5, 1)) - rng.normal(size=4))
    return pattern[:, group].astype(float), p[:, group], group, np.bincount(group)


def test_one_item_stands_for_those_that_it_may_be_exchanged_with() -> None:
    seen, p, group, items = _problem()
    weight = seen * p * (1 - p)
    first = np.unique(group, return_index=True)[1]
    grouped = weight[:, first] * items
    single = np.ones(len(group), dtype=np.intp)
    residual = np.random.default_rng(0).normal(size=(len(seen), 3))
    assert np.allclose(profiled_solution(grouped, residual), profiled_solution(weight, residual))
    assert np.allclose(rasch.anchor_weights(grouped, items), rasch.anchor_weights(weight, single))
    variance = rasch.difficulty_variance(grouped, items)[group]
    assert np.allclose(variance, rasch.difficulty_variance(weight, single))


def test_they_are_the_inverse_of_the_whole_information() -> None:
    """Against the pseudo-inverse of the information of abilities and difficulties together."""
    seen, p, _, _ = _problem()
    n = len(seen)
    residual = np.random.default_rng(0).normal(size=(n, 3))
    centre = np.eye(n) - 1 / n
    for take in (slice(None), slice(0, 3)):  # more items than cells, and fewer
        weight = (seen * p * (1 - p))[:, take] + 1e-3
        rows, columns = np.diag(weight.sum(axis=1)), np.diag(weight.sum(axis=0))
        whole = np.linalg.pinv(np.block([[rows, -weight], [-weight.T, columns]]), hermitian=True)
        found = profiled_solution(weight, residual)
        assert np.allclose(found, centre @ whole[:n, :n] @ centre @ residual)
        single = np.ones(weight.shape[1], dtype=np.intp)
        assert np.allclose(rasch.difficulty_variance(weight, single), 1 / weight.sum(axis=0))
