"""The nodes are fine and wide enough, far from where they were laid too."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.errors import BadSetting
from maskedadv.likelihoods.moments import flattened
from maskedadv.sampling.grid import TOLERANCE, build_grid, log_likelihood
from maskedadv.sampling.priors import Priors
from maskedadv.sampling.sample import make_plan
from maskedadv.sampling.starts import rough
from tests import simulate
from tests.sampling.locales import layout_of, real, task


def _subsets() -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [
        *real("zh").answers,
        real("de", missing=0.3).answers[0],
        simulate.block(rng, -0.8, 1, 200),
        simulate.block(rng, -0.8, 60, 300),
        simulate.block(rng, -0.8, 4, 3),
        np.ones((4, 10)),
        simulate.block(rng, -0.8, 40, 200, sd=0.02),
        # every cell answers an item like all others, as copies of one model do: σ is near 40, and may be 100
        np.tile(np.arange(60) % 2.0, (12, 1)),
    ]


@pytest.mark.parametrize("k", range(9))
def test_doubling_and_widening_the_nodes_moves_no_log_density(k: int):
    """A grid four times finer and half again as wide, at abilities and σ that differ from the start's."""
    answers = _subsets()[k]
    start = rough(answers, continuous=False)
    grid = build_grid(answers, start, Priors())
    raw = start.ability / flattened(start.sigma)
    rng = np.random.default_rng(k)
    fine = np.linspace(1.5 * grid.node[0], 1.5 * grid.node[-1], 12 * len(grid.node))
    assert 0.6 * grid.sigma > 0.03
    for factor in (0.8, 1.0, 1.2):
        sigma = grid.sigma * factor
        ability = raw * flattened(sigma) + rng.normal(0, 0.2, len(raw)) + rng.normal(0, 0.2)
        ours = log_likelihood(grid.margins, grid.count, ability, sigma, grid.node, grid.log_spacing)
        right = log_likelihood(grid.margins, grid.count, ability, sigma, fine, np.zeros(len(fine)))
        assert abs(ours - right) < 1e-6
    assert TOLERANCE <= 1e-6


def test_spreads_that_no_grid_can_hold_are_refused_or_sampled_otherwise():
    layout = layout_of(simulate.table(2, (6, 5)), "zh")
    wide = Priors(difficulty=1000.0, difficulty_log_sd=0.01)
    plan = make_plan(task(layout, "auto", priors=wide))
    assert plan.estimator == "joint"
    assert "too wide for marginal" in plan.why
    chance = (np.full(6, 0.25), np.full(5, 0.25))
    with pytest.raises(BadSetting, match=r"difficulty=1000.*give a narrower one"):
        make_plan(task(layout, "auto", priors=wide, chance=chance))
