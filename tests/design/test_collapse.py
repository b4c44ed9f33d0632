"""Collapsing: groups and counts against loops over cells and items."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.design.collapse import collapse, group_rows


def _answers(*, holes: bool, soft: bool) -> np.ndarray:
    rng = np.random.default_rng(5)
    answers = rng.integers(0, 2, size=(12, 30)).astype(float)
    if soft:
        answers = rng.integers(0, 5, size=answers.shape) / 4
    if holes:
        answers[rng.random(answers.shape) < 0.15] = np.nan
        answers[3, :] = np.nan  # a cell without answers
    return answers


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_rows_share_a_group_where_pattern_and_total_are_the_same(holes: bool, soft: bool) -> None:
    answers = _answers(holes=holes, soft=soft)
    for matrix in (answers, answers.T):
        group = group_rows(matrix)
        label = [(tuple(np.isnan(row)), np.nansum(row)) for row in matrix]
        assert [[a == b for b in group] for a in group] == [[a == b for b in label] for a in label]
        assert set(group) == set(range(len(set(label))))


def test_a_hole_elsewhere_does_not_change_the_order_of_groups() -> None:
    """Complete tables take a shorter way, which numbers the groups alike."""
    answers = _answers(holes=False, soft=True)
    with_hole = np.vstack([answers, np.full((1, answers.shape[1]), np.nan)])
    longer = group_rows(with_hole)[:-1]
    assert (group_rows(answers) == np.unique(longer, return_inverse=True)[1]).all()


@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("holes", [False, True])
def test_counts_are_sums_over_the_members(holes: bool, cells: bool) -> None:
    answers = _answers(holes=holes, soft=True)
    groups = collapse(answers, cells=cells)
    shape = (groups.cell_group.max() + 1, groups.item_group.max() + 1)
    trials, successes = np.zeros(shape), np.zeros(shape)
    for c, row in enumerate(answers):
        for i, value in enumerate(row):
            if not np.isnan(value):
                trials[groups.cell_group[c], groups.item_group[i]] += 1
                successes[groups.cell_group[c], groups.item_group[i]] += value
    assert (groups.trials == trials).all()
    assert np.allclose(groups.successes, successes, rtol=0, atol=1e-12)
    if not cells:
        assert (groups.cell_group == np.arange(len(answers))).all()
