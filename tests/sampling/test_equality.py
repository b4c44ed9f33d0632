"""Joint and marginal are one posterior: of abilities, gaps, difficulties and hyperparameters."""

from __future__ import annotations

import arviz as az
import numpy as np
import pytest
import xarray as xr

from maskedadv.engines import Sampler
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.sample import sample_locale
from tests import simulate
from tests.sampling.locales import layout_of, real, task


def _posterior(layout: Layout, estimator: str, sampler: Sampler) -> xr.Dataset:
    tree = sample_locale(task(layout, estimator, sampler=sampler))
    assert tree.attrs["estimator"] == ("joint" if estimator == "joint" else "marginal")
    return tree["posterior"].to_dataset()


def _agree(layout: Layout, names: list[str], sampler: Sampler) -> None:
    a = _posterior(layout, "joint", sampler)[names]
    b = _posterior(layout, "forced", sampler)[names]
    at = ("chain", "draw")
    noise = np.sqrt(az.mcse(a, method="mean") ** 2 + az.mcse(b, method="mean") ** 2)
    off = abs(a.mean(at) - b.mean(at)) / noise
    ratio = a.std(at) / b.std(at)
    for name in names:
        z, r = off[name].values, ratio[name].values
        assert np.nanmax(z) < 3.0 + 0.25 * np.log10(z.size), (name, np.nanmax(z))
        assert np.nanmax(np.abs(r - 1)) < 0.05, (name, np.nanmax(np.abs(r - 1)))


def test_joint_and_marginal_agree_on_a_small_table_with_a_missing_cell_and_holes():
    """10 and 8 items: the anchor's prior and the factor n/(n − 1) would show if either were wrong."""
    table = simulate.table(3, (10, 8), missing=0.15, seed=6)
    lacks = (table["model"] == "m1") & (table["language"] == "zh") & (table["subset"] == "CS")
    names = ["contrast", "mean_contrast", "ability", "difficulty", "sigma_b", "facet_mean"]
    _agree(layout_of(table[~lacks], "zh"), names, Sampler(warmup=500, draws=5000))


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "missing"), [("zh", 0.0), ("sw", 0.0), ("de", 0.3)])
def test_joint_and_marginal_agree_on_real_outcomes(locale: str, missing: float):
    _agree(real(locale, missing=missing), ["contrast", "mean_contrast", "ability"], Sampler(draws=4000))
