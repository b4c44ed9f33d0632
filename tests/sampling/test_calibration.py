"""Slow studies: calibration over simulated locales; the short ones check the study's own tools."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv.sampling.priors import Priors
from tests.monte_carlo import ALARM, assert_moments
from tests.sampling.calibration import KEPT, PROGRAMS, p_values, study
from tests.sampling.prior import draw_locale, lkj


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_ranks_of_the_truth_are_uniform(program: str):
    """200 locales of 5 models drawn from the priors; 17 quantities, chi-square over ten bins of 20."""
    p = p_values(study(program, 200))
    assert p.min() > ALARM / len(p), p


def test_the_study_would_notice_a_shift():
    rng = np.random.default_rng(0)
    ranks = pd.DataFrame({"right": rng.integers(0, KEPT + 1, 200), "off": rng.binomial(KEPT, 0.6, 200)})
    p = p_values(ranks)
    assert p["right"] > ALARM
    assert p["off"] < 1e-10


def test_simulated_correlations_have_the_lkj_distribution():
    """Each is a shifted beta: variance 1 / (2 (shape + 1) + 1) in four dimensions."""
    rng = np.random.default_rng(1)
    draws = np.array([lkj(rng, 2.0)[np.triu_indices(4, 1)] for _ in range(4000)])
    assert_moments(draws, mean=0.0, sd=np.sqrt(1 / 7), independent=True)


def test_simulated_answers_follow_their_parameters():
    rng = np.random.default_rng(2)
    right = []
    for _ in range(50):
        layout, truth = draw_locale(rng, Priors(), 30, (40, 40))
        eta = truth.ability[:, 0].mean()
        right.append((eta, np.nanmean(layout.answers[0][:30])))
    eta, share = np.array(right).T
    assert np.corrcoef(eta, share)[0, 1] > 0.9
