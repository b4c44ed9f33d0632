"""Outcomes from log-probabilities: identities, and what is not observed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskedadv.scoring.importers.outcomes import (
    NO_KEY,
    NOT_FINITE,
    UNPARSED,
    from_choice,
    from_logprobs,
    is_bfloat16,
)

LPS = st.lists(st.floats(-300, 0), min_size=2, max_size=10)


@settings(deadline=None)
@given(LPS, st.data())
def test_agrees_with_numpy_softmax(lps, data):
    right = data.draw(st.sets(st.integers(0, len(lps) - 1), min_size=1, max_size=len(lps) - 1))
    found = from_logprobs(lps, right)
    weights = np.exp(np.array(lps) - max(lps))
    share = weights[list(right)].sum() / weights.sum()
    assert found.p_correct == pytest.approx(share, rel=1e-9, abs=1e-300)
    assert found.correct == int(int(np.argmax(lps)) in right)
    assert found.tied == (lps.count(max(lps)) > 1)
    assert found.n_options == len(lps)


@settings(deadline=None)
@given(LPS, st.floats(-50, 50))
def test_does_not_depend_on_a_shift(lps, shift):
    one, other = from_logprobs(lps, {0}), from_logprobs([lp + shift for lp in lps], {0})
    assert one.crm_logit == pytest.approx(other.crm_logit, abs=1e-9)


def test_log_odds_stay_finite_where_the_share_is_not_0_or_1_any_more():
    sure = from_logprobs([-0.0, -900.0], {0})
    assert sure.p_correct == 1.0
    assert sure.crm_logit == pytest.approx(900)
    lost = from_logprobs([-900.0, 0.0], {0})
    assert lost.p_correct == pytest.approx(0, abs=1e-300)
    assert lost.crm_logit == pytest.approx(-900)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_not_finite_is_not_observed_even_if_numpy_would_pick_it(bad):
    assert from_logprobs([bad, -1.0], {0}).reason == NOT_FINITE
    assert from_logprobs([bad, -1.0], {0}).correct is None


@pytest.mark.parametrize("right", [set(), {5}, {-1}, {0, 1}])
def test_keys_that_name_no_option_or_all(right):
    assert from_logprobs([-1.0, -2.0], right).reason == NO_KEY


def test_stated_options():
    assert from_choice(1, {1}, 4).correct == 1
    assert from_choice(0, {1}, 4).correct == 0
    assert from_choice(None, {1}, 4) == from_choice(None, {1}, 4)._replace(correct=None, reason=UNPARSED)
    assert from_choice(1, set(), 4).reason == NO_KEY


def test_bfloat16():
    assert all(map(is_bfloat16, [0.0, -1.25, -3.5, -10.375, -0.0, 2.0**-100]))
    assert not any(map(is_bfloat16, [-1.2500001, -0.1, 1e300, -10.3751]))
