"""The nodes are fine and wide enough, far from where they were laid too."""

from __future__ import annotations

import numpy as np
import pytest

from maskedadv.fitting.nuts.grid import TOLERANCE, build_grid, log_likelihood
from maskedadv.fitting.nuts.priors import Priors
from maskedadv.fitting.nuts.starts import flattened, rough
from tests import simulate
from tests.nuts.locales import real


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
    ]


@pytest.mark.parametrize("k", range(8))
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
