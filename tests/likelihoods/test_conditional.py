"""Conditional maximum likelihood: against sums over all answers, eRm's numbers, and draws."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv.likelihoods import conditional
from tests.assumptions.r_numbers import numbers, several, table


def test_symmetric_functions_are_sums_over_subsets() -> None:
    theta = np.array([0.3, -1.2, 2.0, 0.7, -0.4])
    gamma = np.exp(conditional.symmetric_functions(theta[None])[0])
    for s in range(6):
        expected = sum(np.exp(theta[list(c)].sum()) for c in combinations(range(5), s))
        assert gamma[s] == pytest.approx(expected, rel=1e-12)
    tail = conditional.tail_functions(theta[None])[0]
    assert tail[0] == pytest.approx(np.log(gamma), abs=1e-12)
    own = conditional.symmetric_functions(theta[None, 3:])[0]
    assert tail[3, :3] == pytest.approx(own, abs=1e-12)


def test_many_columns_do_not_overflow() -> None:
    gamma = conditional.symmetric_functions(np.linspace(-9, 9, 400)[None])
    assert np.isfinite(gamma).all()


def test_gradient_is_the_expected_totals_given_the_rows_totals() -> None:
    rows = np.array([[1, 0, 1, 0], [0, 1, 1, np.nan], [0, 0, 1, 0], [1, np.nan, 0, 1.0]])
    theta = np.array([0.4, -0.9, 1.1, 0.2])
    totals = conditional.group_totals(rows)
    _, expected = conditional.expected_totals(totals, theta)
    brute = np.zeros(4)
    for row in rows:
        seen = ~np.isnan(row)
        ways = [np.array(w) for w in product((0, 1), repeat=int(seen.sum())) if sum(w) == np.nansum(row)]
        weight = np.array([np.exp(w @ theta[seen]) for w in ways])
        brute[seen] += (weight @ np.array(ways)) / weight.sum()
    assert expected == pytest.approx(brute, abs=1e-12)


def test_erm() -> None:
    found = conditional.fit(table())
    assert found.log_likelihood == pytest.approx(numbers()["loglik"], abs=1e-6)
    assert found.ability == pytest.approx(several("ability"), abs=2e-4)  # eRm stops early
    assert found.gradient < 1e-5


def test_published_estimates(shared: Path) -> None:
    known = pd.read_csv(shared / "reference" / "rasch_estimates.csv")
    for name in ("erm_raschdat1", "ltm_LSAT6", "lme4_VerbAgg_r2"):
        own = known[known["dataset"] == name]
        found = conditional.fit(pd.read_csv(shared / "reference" / f"{name}.csv").to_numpy(float))
        assert -found.ability == pytest.approx(own["cml_difficulty_sumzero_psychotools"].to_numpy(), abs=2e-4)
        assert found.log_likelihood == pytest.approx(own["cml_loglik"].iloc[0], abs=1e-4)


def test_one_model_in_two_languages_is_the_paired_gap() -> None:
    rows = np.array([[1, 0]] * 7 + [[0, 1]] * 19 + [[1, 1]] * 5 + [[0, 0]] * 3, dtype=float)
    found = conditional.fit(rows)
    assert found.ability[0] - found.ability[1] == pytest.approx(np.log(7 / 19), abs=1e-8)


def test_columns_without_a_finite_difference_are_left_out() -> None:
    rows = table()
    rows = np.column_stack([rows, np.ones(len(rows)), np.zeros(len(rows))])
    found = conditional.fit(rows)
    assert found.finite.tolist() == [True] * 8 + [False] * 2
    assert found.ability[:8] == pytest.approx(conditional.fit(table()).ability, abs=1e-9)
    nothing = conditional.fit(np.ones((5, 3)))
    assert not nothing.finite.any()


def test_draws_have_the_totals_and_the_expected_columns() -> None:
    rng = np.random.default_rng(1)
    rows = table()
    rows[rng.random(rows.shape) < 0.1] = np.nan
    totals = conditional.group_totals(rows)
    theta = np.linspace(-1.5, 1.5, 8)
    drawn = conditional.draw_rows(totals, theta, rng, 2000)
    assert (np.isnan(drawn) == np.isnan(rows)).all()
    assert (np.nansum(drawn, axis=2) == np.nansum(rows, axis=1)).all()
    _, expected = conditional.expected_totals(totals, theta)
    sums = np.nansum(drawn, axis=1)
    error = sums.std(axis=0, ddof=1) / np.sqrt(len(sums))
    assert (np.abs(sums.mean(axis=0) - expected) < 4.5 * error).all()


def test_levels_solve_their_equation() -> None:
    totals = conditional.group_totals(table())
    theta = np.linspace(-4, 5, 8)
    level = conditional.row_levels(totals, theta)
    inner = np.isfinite(level)
    p = 1 / (1 + np.exp(-(theta - level[inner, None])))
    assert p.sum(axis=1) == pytest.approx(totals.total[inner].astype(float), abs=1e-9)
    assert set(level[~inner]) <= {-np.inf, np.inf}
