"""Uncertainty kept subset by subset is the same as in one array, whatever is asked of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from maskedadv.gaps.by_subset import BySubset
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.joint import Joint
from maskedadv.vocabulary import GAPS

KEYS = np.array([f"item {k}" for k in range(7)], dtype=object)


def both_kinds(*, shared: bool) -> tuple[BySubset, Uncertainty]:
    """Rows of two subsets in disorder, some under one key, as in linked gaps; and the same in one array."""
    rng = np.random.default_rng(5)
    places = np.array([6, 0, 3]), np.array([2, 1, 5, 4] + [3, 0] * shared)
    parts = [(place, rng.normal(size=(len(place), 4))) for place in places]
    values = np.zeros((7, 2, 4))
    for subset, (place, rows) in enumerate(parts):
        for at, row in zip(place, rows, strict=True):
            values[at, subset] = row
    return BySubset("robust", KEYS, parts), Uncertainty("robust", KEYS, values)


@pytest.mark.parametrize("shared", [False, True])
def test_the_array_is_made_when_asked_for(shared: bool) -> None:
    own, plain = both_kinds(shared=shared)
    used = np.array([True, False, True, True])
    np.testing.assert_array_equal(own.values, plain.values)
    np.testing.assert_array_equal(own.gaps(), plain.gaps())
    np.testing.assert_array_equal(own.of_models(used).values, plain.values[..., used])
    assert own.apart is not shared
    for (place, rows), (at, expected) in zip(own.parts(), plain.parts(), strict=True):
        order = np.argsort(place)
        np.testing.assert_array_equal(place[order], at)
        np.testing.assert_array_equal(rows[order], expected)


def test_the_one_row_has_the_gaps_standard_deviations() -> None:
    own, plain = both_kinds(shared=False)
    expected = np.sqrt((plain.gaps() ** 2).sum(axis=0))
    np.testing.assert_allclose(own.spread(), expected[None], rtol=1e-13)


@pytest.mark.parametrize("shared", [False, True])
def test_sums_over_models_and_locales_are_those_of_all_rows(shared: bool) -> None:
    own, plain = both_kinds(shared=shared)
    rng = np.random.default_rng(6)
    weights = rng.normal(size=(3, 2, 4, len(GAPS)))
    joint = Joint(("a", "b"), tuple("wxyz"), rng.normal(size=(2, 4, len(GAPS))), (own, own), 0.95)
    expected = np.einsum("kgj,fljg->kfg", plain.gaps(), weights)
    np.testing.assert_allclose(joint.rows_of(weights), expected, rtol=1e-12, atol=1e-13)
    same = replace(joint, uncertainty=(plain, plain))
    np.testing.assert_allclose(joint.contrast(weights).sd, same.contrast(weights).sd, rtol=1e-12)
