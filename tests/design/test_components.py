"""Which differences are finite: strong connectivity against linear programming."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from maskedadv.design.components import find_components
from maskedadv.engines.embedded import Embedded
from maskedadv.maximum_likelihood.joint import fit_joint


def can_run_away(answers: np.ndarray, one: int, other: int) -> bool:
    """Whether moving cell `one` up against `other` without end never lowers the likelihood (either sign).

    A direction (d, e) of abilities and difficulties never lowers it if d_c ≥ e_i for every right answer and
    d_c ≤ e_i for every wrong one.
    """
    n_cells, n_items = answers.shape
    rows = []
    for c, i in zip(*np.nonzero(~np.isnan(answers)), strict=True):
        row = np.zeros(n_cells + n_items)
        row[c], row[n_cells + i] = 1.0, -1.0
        if answers[c, i] > 0:
            rows.append(-row)
        if answers[c, i] < 1:
            rows.append(row)
    for sign in (1.0, -1.0):
        aim = np.zeros(n_cells + n_items)
        aim[one], aim[other] = -sign, sign
        best = linprog(aim, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=(-1, 1))
        if best.fun < -1e-9:
            return True
    return False


@given(
    seed=st.integers(0, 100_000),
    cells=st.integers(2, 5),
    items=st.integers(1, 6),
    holes=st.sampled_from([0.0, 0.3, 0.6]),
    slope=st.sampled_from([0.0, 3.0, 20.0]),
)
@settings(max_examples=150, deadline=None)
def test_parts_are_where_no_direction_runs_away(
    seed: int, cells: int, items: int, holes: float, slope: float
) -> None:
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-slope * (rng.normal(size=(cells, 1)) - rng.normal(size=items))))
    answers = (rng.random((cells, items)) < p).astype(float)
    answers[rng.random(answers.shape) < holes] = np.nan
    answers = answers[~np.isnan(answers).all(axis=1)][:, ~np.isnan(answers).all(axis=0)]
    if not answers.size or len(answers) < 2:
        return
    found = find_components(answers)
    part = np.full(len(answers), -1)
    for label, (inside, _) in enumerate(found.finite_parts()):
        part[inside] = label
    for c in range(len(answers)):
        for d in range(c):
            together = part[c] == part[d] and part[c] >= 0
            assert together == (not can_run_away(answers, c, d)), (c, d)


def test_infinite_sides_and_separate_parts_are_told_apart() -> None:
    """Two cells swap items 0 and 1; a third is right wherever they are and on an item both miss."""
    answers = np.array([[1, 0, 0.0], [0, 1, 0.0], [1, 1, 0.0], [0, 0, 0.0], [np.nan, np.nan, 1.0]])
    found = fit_joint(answers, Embedded(), interval="robust", seed=1)
    assert list(found.part[:3]) == [0, 0, -1]
    assert found.ability[2] == np.inf
    assert found.ability[3] == -np.inf
    assert found.ability[4] == np.inf
    np.testing.assert_allclose(found.ability[:2], 0.0, atol=1e-9)


def test_two_separated_parts_keep_their_own_differences() -> None:
    """Strong cells are right on everything weak ones fail: finite inside, infinite between."""
    rng = np.random.default_rng(0)
    weak = (rng.random((3, 8)) < 0.5).astype(float)
    strong = (rng.random((3, 8)) < 0.5).astype(float)
    answers = np.block([[weak, np.zeros((3, 8))], [np.ones((3, 8)), strong]])
    found = fit_joint(answers, Embedded(), interval="robust", seed=1)
    assert len(set(found.part[:3])) == 1
    assert len(set(found.part[3:])) == 1
    assert found.part[0] != found.part[3]
    alone = fit_joint(weak, Embedded(), interval="robust", seed=1)
    np.testing.assert_allclose(np.diff(found.ability[:3]), np.diff(alone.ability), atol=1e-8)
