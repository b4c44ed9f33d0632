"""The gaps as one matrix of contrasts."""

from __future__ import annotations

import numpy as np

from maskedadv.vocabulary import BY_SUBSET, CELLS, CONTRASTS, GAP_TABLE, GAPS, gaps_of, subsets_of


def test_the_matrix_holds_the_definitions_of_the_paper():
    ability = dict(zip(CELLS, np.random.default_rng(1).normal(size=4), strict=True))
    gap = dict(zip(GAPS, CONTRASTS @ np.array(list(ability.values())), strict=True))
    assert np.isclose(gap["global_gap"], ability["CA local"] - ability["CA pivot"])
    assert np.isclose(gap["local_gap"], ability["CS local"] - ability["CS pivot"])
    assert np.isclose(gap["knowledge_gap"], gap["local_gap"] - gap["global_gap"])


def test_no_gap_hangs_on_the_zeros_of_the_subsets():
    zeros = np.array([[3.0, 3.0, 0.0, 0.0], [0.0, 0.0, -7.0, -7.0]])
    assert (CONTRASTS @ zeros.T == 0).all()


def test_gaps_of_differences_are_the_contrasts_along_any_axis():
    ability = np.random.default_rng(2).normal(size=(5, 3, 2, 2))  # ..., subset, query
    expected = np.einsum("gc,...c->...g", CONTRASTS, ability.reshape(5, 3, 4))
    differences = ability[..., 0] - ability[..., 1]
    np.testing.assert_allclose(gaps_of(differences), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        gaps_of(np.moveaxis(differences, -1, 0), axis=0), np.moveaxis(expected, -1, 0), rtol=0, atol=1e-14
    )


def test_an_unknown_difference_costs_only_the_gaps_that_need_it():
    gaps = gaps_of(np.array([[np.nan, 1.0], [1.0, np.nan]]))
    for g in range(len(GAPS)):
        for row, lost in enumerate((0, 1)):
            assert np.isnan(gaps[row, g]) == bool(BY_SUBSET[g, lost]) == (lost in subsets_of(g))


def test_every_gap_has_its_words():
    for gap in GAP_TABLE:
        assert gap.heading.startswith(gap.title.capitalize())
        assert gap.short in gap.heading
