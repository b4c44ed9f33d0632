"""Agreement coefficients against published worked examples, majority and bootstrap against hand counts."""

from __future__ import annotations

import sys

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from maskedadv.annotation.agreement import TIE, TOO_FEW, _alpha, _kappa, agreement, majority

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C: 4 observers, 12 units.
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
# Fleiss' kappa, the worked example with 14 raters, 10 subjects and 5 categories: 0.210.
FLEISS = np.array(
    [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]
)  # fmt: skip


def krippendorff_votes() -> np.ndarray:
    grid = np.array(
        [[0 if v == "." else int(v) for v in line.split()] for line in KRIPPENDORFF.strip().splitlines()]
    )
    return np.array([[(grid[:, unit] == label).sum() for label in range(1, 6)] for unit in range(12)])


def test_alpha_of_krippendorffs_example() -> None:
    found = agreement(krippendorff_votes(), np.random.default_rng(1), 200)
    assert round(found.alpha.value, 3) == 0.743
    assert found.n_items == 11  # one unit has a single label
    assert np.isnan(found.kappa.value)
    assert "different numbers of labels" in found.kappa.reason


def test_kappa_of_fleiss_example() -> None:
    found = agreement(FLEISS, np.random.default_rng(1), 200)
    assert round(found.kappa.value, 3) == 0.210
    assert found.kappa.lower < 0.210 < found.kappa.upper


def test_majority_keeps_ties_apart() -> None:
    votes = np.array([[3, 0, 0], [1, 2, 0], [1, 1, 1], [2, 2, 0], [2, 1, 1], [1, 0, 0], [0, 0, 0]])
    assert majority(votes).tolist() == [0, 1, TIE, TIE, TIE, TOO_FEW, TOO_FEW]


def test_interval_of_a_share_is_the_binomial_one() -> None:
    votes = np.array([[3, 0]] * 63 + [[2, 1]] * 37)
    found = agreement(votes, np.random.default_rng(1), 5000)
    half = 1.96 * np.sqrt(0.63 * 0.37 / 100)
    assert (found.unanimous.lower, found.unanimous.upper) == pytest.approx(
        (0.63 - half, 0.63 + half), abs=0.012
    )


def test_perfect_agreement() -> None:
    found = agreement(np.array([[3, 0]] * 20 + [[0, 3]] * 10), np.random.default_rng(1), 200)
    assert [e.value for e in (found.unanimous, found.pairwise, found.alpha, found.kappa)] == [1, 1, 1, 1]


def test_one_label_only_has_no_chance_corrected_agreement() -> None:
    found = agreement(np.array([[3, 0]] * 20), np.random.default_rng(1), 200)
    assert found.unanimous.value == 1
    assert np.isnan([found.alpha.value, found.kappa.value]).all()
    assert "only one label" in found.alpha.reason


def test_no_item_with_two_labels() -> None:
    found = agreement(np.array([[1, 0], [0, 0]]), np.random.default_rng(1), 200)
    assert found.n_items == 0
    assert found.unanimous.reason == "no item has two labels"


def test_the_coefficients_need_no_library_and_are_those_of_the_libraries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uneven = np.random.default_rng(3).multinomial(4, [0.5, 0.3, 0.2], size=40) + np.eye(3, dtype=int)[0]
    uneven[::3, 0] -= 1
    for votes in (FLEISS, uneven):
        alpha = krippendorff.alpha(value_counts=votes, level_of_measurement="nominal")
        kappa = fleiss_kappa(votes) if votes is FLEISS else np.nan
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "krippendorff", None)
            without.setitem(sys.modules, "statsmodels", None)
            found = agreement(votes, np.random.default_rng(1), 200)
        assert found.alpha.value == pytest.approx(alpha, abs=1e-12)
        assert found.kappa.value == pytest.approx(kappa, abs=1e-12, nan_ok=True)


def test_resampled_coefficients_are_the_libraries_on_the_resampled_items() -> None:
    rng = np.random.default_rng(2)
    for kinds, weights in (
        (krippendorff_votes()[:11], rng.multinomial(30, [1 / 11] * 11, size=5)),
        (FLEISS, rng.multinomial(25, [0.1] * 10, size=5)),
    ):
        for row, ours in zip(weights, _alpha(kinds, weights), strict=True):
            votes = np.repeat(kinds, row, axis=0)
            assert ours == pytest.approx(
                krippendorff.alpha(value_counts=votes, level_of_measurement="nominal")
            )
    for row, ours in zip(weights, _kappa(FLEISS, weights), strict=True):
        assert ours == pytest.approx(fleiss_kappa(np.repeat(FLEISS, row, axis=0)))
