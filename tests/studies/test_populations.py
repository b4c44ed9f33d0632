"""Coverage of "models like these": the population's mean and the gap in a new locale, from a known truth.

Families, models in them, locales and cells scatter about the population's mean; estimates have noise that
models of a locale share (they answer the same items) and locales share (the same English answers).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from maskedadv.gaps.population import Sample, describe

SETTINGS = {
    # families, models of each, locales; sds of families, models, locales, cells; of noise: own, shared
    "five families, alike": (5, 1, 1, 0.0, 0.0, 0.0, 0.0, 0.25, 0.15),
    "five families": (5, 1, 1, 0.3, 0.0, 0.0, 0.0, 0.25, 0.15),
    "five families, far apart": (5, 1, 1, 1.0, 0.0, 0.0, 0.0, 0.2, 0.1),
    "eight families of three": (8, 3, 1, 0.3, 0.15, 0.0, 0.0, 0.25, 0.15),
    "twenty models": (20, 1, 1, 0.3, 0.0, 0.0, 0.0, 0.25, 0.15),
    "six families, six locales": (6, 1, 6, 0.2, 0.0, 0.3, 0.1, 0.25, 0.15),
    "six families, six locales, alike": (6, 1, 6, 0.0, 0.0, 0.0, 0.0, 0.25, 0.15),
    "eight families of two, 13 locales": (8, 2, 13, 0.2, 0.1, 0.2, 0.1, 0.25, 0.15),
}


def simulate(rng: np.random.Generator, setting: Sequence[float]) -> tuple[Sample, float]:
    """A sample whose population's mean is 0, and the mean gap in a locale that is not in it."""
    families, each, locales = (int(v) for v in setting[:3])
    family_sd, model_sd, locale_sd, cell_sd, own, shared = setting[3:]
    locale, model = (v.ravel() for v in np.indices((locales, families * each)))
    family = model // each
    true = family_sd * rng.standard_normal(families)[family]
    true = true + model_sd * rng.standard_normal(families * each)[model]
    true = true + locale_sd * rng.standard_normal(locales)[locale]
    true = true + cell_sd * rng.standard_normal(len(model))
    covariance = own**2 * np.eye(len(model)) + shared**2 * (locale[:, None] == locale) + shared**2 / 2
    noise = np.linalg.cholesky(covariance) @ rng.standard_normal(len(model))
    sample = Sample(true + noise, covariance, None, family, model, locale)
    return sample, float(locale_sd * rng.standard_normal())


def coverage(name: str, sets: int, seed: int = 0) -> tuple[float, float, float]:
    """Shares of 95% intervals that cover the mean, and the new locale's; median half width over the sd."""
    rng = np.random.default_rng([seed, *name.encode()])
    hits, new, width = [], [], []
    for _ in range(sets):
        sample, fresh = simulate(rng, SETTINGS[name])
        found = describe(sample, 0.95)
        hits.append(found.lower <= 0 <= found.upper)
        width.append((found.upper - found.lower) / 2)
        if found.new is not None:
            new.append(found.new.lower <= fresh <= found.new.upper)
    return float(np.mean(hits)), float(np.mean(new)) if new else np.nan, float(np.median(width))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_intervals_cover_the_population_at_length(name: str) -> None:
    """2,000 sets, Monte Carlo error 0.5%. Too wide where nothing scatters: REML cannot go below zero."""
    mean, new, _ = coverage(name, 2000)
    assert 0.93 < mean < (0.999 if "alike" in name else 0.985)
    assert np.isnan(new) or 0.92 < new < 0.999


if __name__ == "__main__":
    import sys

    for name in SETTINGS:
        print(name, *(f"{v:.3f}" for v in coverage(name, int(sys.argv[1]))), flush=True)
