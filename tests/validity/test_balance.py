"""Block A: balanced halves of one benchmark."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from maskedadv.errors import NotEstimable
from maskedadv.validity.balance import balanced_tau


def block(seed: int, n_ca: int, n_cs: int, n_models: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ability = np.linspace(-1.5, 1.5, n_models)
    difficulty = rng.normal(size=n_ca + n_cs)
    right = rng.random((n_models, n_ca + n_cs)) < 1 / (1 + np.exp(difficulty - ability[:, None]))
    return right.astype(float), np.arange(n_ca + n_cs) >= n_ca


def test_equal_subsets_need_no_draw() -> None:
    correct, is_cs = block(1, 60, 60)
    result = balanced_tau(correct, is_cs, np.random.default_rng(1), repeats=5)
    expected = stats.kendalltau(correct[:, ~is_cs].mean(axis=1), correct[:, is_cs].mean(axis=1)).statistic
    assert (result.tau, result.lower, result.upper, result.tau_all) == pytest.approx([expected] * 4)
    assert result.n_balanced == 60


def test_balancing_lowers_tau_as_fewer_items_must() -> None:
    correct, is_cs = block(2, 600, 60)
    result = balanced_tau(correct, is_cs, np.random.default_rng(1))
    assert result.n_balanced == 60
    assert result.lower < result.tau < result.upper
    assert result.tau < result.tau_all


def test_31_items_are_reported_but_not_interpreted() -> None:
    correct, is_cs = block(3, 31, 637)
    result = balanced_tau(correct, is_cs, np.random.default_rng(1))
    assert not result.interpretable
    assert np.isfinite(result.tau)
    assert balanced_tau(correct, is_cs, np.random.default_rng(1), min_items=31).interpretable


def test_same_seed_same_result() -> None:
    correct, is_cs = block(4, 100, 60)
    first, second = (balanced_tau(correct, is_cs, np.random.default_rng(7)) for _ in range(2))
    assert first == second


def test_models_that_saw_one_subset_only_are_left_out() -> None:
    correct, is_cs = block(5, 80, 60)
    correct[0, is_cs] = np.nan
    correct[1, ::2] = np.nan
    assert balanced_tau(correct, is_cs, np.random.default_rng(1)).n_models == 19


@pytest.mark.parametrize(("value", "message"), [("none", "no CS items"), ("flat", "same score")])
def test_what_cannot_be_done(value: str, message: str) -> None:
    correct, is_cs = block(6, 60, 60)
    if value == "none":
        correct, is_cs = correct[:, ~is_cs], is_cs[~is_cs]
    else:
        correct[:, is_cs] = 1
    with pytest.raises(NotEstimable, match=message):
        balanced_tau(correct, is_cs, np.random.default_rng(1))
