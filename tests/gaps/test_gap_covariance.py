"""The covariance of one gap over locales: against the rows of all by all."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.gap_covariance import gap_covariance
from maskedadv.gaps.joint import Joint
from maskedadv.vocabulary import GAPS


@pytest.mark.parametrize("gap", range(len(GAPS)))
@pytest.mark.parametrize("places", [[0], [0, 1, 2], [2, 0]])
def test_it_is_that_of_the_rows_of_all_by_all(gap: int, places: list[int]):
    """Items of one locale, of two and of all; models without a gap in some."""
    rng = np.random.default_rng(gap)
    asked = [range(8), range(4, 12), [0, 5, *range(12, 20)]]
    own = []
    estimate = rng.standard_normal((3, 6, len(GAPS)))
    for locale, items in enumerate(asked):
        values = rng.standard_normal((len(items), 2, 6))
        values[: len(items) // 2, 1], values[len(items) // 2 :, 0] = 0.0, 0.0
        values[:, :, locale], estimate[locale, locale] = np.nan, np.nan
        own.append(Uncertainty("robust", np.array([f"i{k}" for k in items], dtype=object), values))
    joint = Joint(("a", "b", "c"), tuple("uvwxyz"), estimate, tuple(own), 0.95)
    known = joint.known[places, :, gap]
    rows = joint.rows_of_gap(gap, places)[:, known.ravel()]
    np.testing.assert_allclose(gap_covariance(joint, gap, places, known), rows.T @ rows, atol=1e-12)
