"""Joint and marginal are one posterior: of abilities, gaps, difficulties and hyperparameters."""

from __future__ import annotations

import pytest
import xarray as xr

from maskedadv.engines import Sampler
from maskedadv.sampling.layout import Layout
from maskedadv.sampling.sample import sample_locale
from tests import simulate
from tests.monte_carlo import assert_same
from tests.sampling.locales import layout_of, real, task

EVERYTHING = ("contrast", "mean_contrast", "ability", "difficulty", "sigma_b", "facet_mean")


def posterior(layout: Layout, estimator: str, sampler: Sampler, seed: int = 1) -> xr.Dataset:
    tree = sample_locale(task(layout, estimator, sampler=sampler, seed=seed))
    assert tree.attrs["estimator"] == ("joint" if estimator == "joint" else "marginal")
    return tree["posterior"].to_dataset()


def small_table_with_holes() -> Layout:
    """10 and 8 items, where the anchor and the factor n/(n − 1) matter; one model lacks CS zh."""
    table = simulate.table(3, (10, 8), missing=0.15, seed=6)
    lacks = (table["model"] == "m1") & (table["language"] == "zh") & (table["subset"] == "CS")
    return layout_of(table[~lacks], "zh")


def _agree(layout: Layout, names: tuple[str, ...], sampler: Sampler) -> None:
    one, other = (posterior(layout, estimator, sampler) for estimator in ("joint", "forced"))
    assert_same({n: one[n].values for n in names}, {n: other[n].values for n in names})


def test_joint_and_marginal_agree_on_a_small_table_with_a_missing_cell_and_holes():
    _agree(small_table_with_holes(), EVERYTHING, Sampler(warmup=500, draws=1500))


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "missing"), [("zh", 0.0), ("sw", 0.0), ("de", 0.3)])
def test_joint_and_marginal_agree_on_real_outcomes(locale: str, missing: float):
    _agree(real(locale, missing=missing), ("contrast", "mean_contrast", "ability"), Sampler(draws=4000))
