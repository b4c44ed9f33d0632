"""How often tests on draws fail by chance: `python -m tests.studies.false_alarms [SEEDS]`.

Joint and marginal sample one posterior, heavy-tailed where a model lacks a cell; differences between them
under many seeds are what chance does. If `tests.monte_carlo` is right, z has a standard deviation of 1 and no
seed comes near the bound. If the two programs are right, z of all seeds taken together is no larger either.
"""

from __future__ import annotations

import sys

import numpy as np

from maskedadv.engines import Sampler
from tests.monte_carlo import bound, compare
from tests.sampling.test_equality import EVERYTHING, posterior, small_table_with_holes


def differences(seed: int, sampler: Sampler) -> np.ndarray:
    """z of location and spread of every quantity that is known, shape (n, 2)."""
    layout = small_table_with_holes()
    one, other = (posterior(layout, estimator, sampler, seed) for estimator in ("joint", "forced"))
    found = [compare(one[n].values, other[n].values) for n in EVERYTHING]
    z = np.concatenate([np.stack([d.location.ravel(), d.spread.ravel()], axis=1) for d in found])
    return z[np.isfinite(z).all(axis=1)]


def main(seeds: int, draws: int) -> None:
    """Print a line a seed, then the sum."""
    every = []
    for seed in range(1, seeds + 1):
        z = differences(seed, Sampler(warmup=500, draws=draws))
        every.append(z)
        print(f"seed {seed}: largest |z| {np.abs(z).max():.2f}, bound {bound(z.size):.2f}", flush=True)
    z = np.array(every)
    worst = np.abs(z).max(axis=(1, 2))
    print(f"{seeds} seeds, {z[0].size} comparisons each: sd of z {z[..., 0].std():.3f} (location), ", end="")
    print(f"{z[..., 1].std():.3f} (spread); largest |z| {worst.max():.2f}, bound {bound(z[0].size):.2f}")
    together = np.abs(z.sum(axis=0) / np.sqrt(seeds)).max(axis=0)
    print(f"all seeds together: largest |z| {together[0]:.2f} (location), {together[1]:.2f} (spread)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
