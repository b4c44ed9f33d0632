"""Leave-one-out refits where the answer is known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.errors import NotEstimable
from maskedadv.validity.stability import leave_one_out


def one_family_carries_it(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Twenty models; proxy and native go together in family a only."""
    rng = np.random.default_rng(seed)
    families = ["a"] * 4 + [f"b{j}" for j in range(16)]
    proxy = np.concatenate([[-4, -2, 2, 4], rng.normal(0, 0.3, 16)])
    native = np.concatenate([proxy[:4], rng.normal(0, 0.3, 16)])
    return native, rng.normal(size=(20, 2)), proxy, families


def test_the_family_that_carries_the_result_is_found() -> None:
    native, controls, proxy, families = one_family_carries_it(1)
    refits = leave_one_out(native, controls, proxy, families)
    assert [refit.left_out for refit in refits if not refit.passes] == ["a"]
    assert refits[0].n_models == 16
    assert refits[0].p > 0.05


def test_a_negative_coefficient_never_passes() -> None:
    native, controls, proxy, families = one_family_carries_it(1)
    assert not any(refit.passes for refit in leave_one_out(-native, controls, proxy, families))


def test_a_refit_that_cannot_be_done_does_not_pass_and_says_why() -> None:
    native, controls, proxy, _ = one_family_carries_it(1)
    families = ["big"] * 15 + ["small"] * 5
    refits = leave_one_out(native, controls, proxy, families)
    assert not refits[0].passes
    assert refits[0].reason == "5 models, but at least 6 are needed"
    assert np.isnan(refits[0].p)


def test_one_family_is_refused() -> None:
    native, controls, proxy, _ = one_family_carries_it(1)
    with pytest.raises(NotEstimable, match=r"one family \(only\)"):
        leave_one_out(native, controls, proxy, ["only"] * 20)
