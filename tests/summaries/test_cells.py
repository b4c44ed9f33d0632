"""Signs of cells and the agreement of ability with accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import xarray as xr

from maskedadv import summaries
from maskedadv.reports import figures
from maskedadv.settings import Settings
from tests.constructed import constructed_fit, with_variant


def test_share_positive_rule() -> None:
    """Positive by the estimate, clearly positive by the interval, unknown cells in neither count."""
    local = np.array([0.5, 0.1, -0.1, -0.5, 0.0, np.nan])
    gaps = np.stack([np.zeros(6), local], axis=1)[None]
    fit = constructed_fit(gaps, ["zh"], list("abcdef"))  # sd 0.1: clear beyond 0.196
    row = summaries.sign_shares(fit).set_index("gap").loc["local_gap"]
    assert row["known"] == 5
    assert (row["positive"], row["clearly_positive"], row["clearly_negative"]) == (2, 1, 1)
    assert row["share_positive"] == pytest.approx(0.4)
    assert row["share_clearly_positive"] == pytest.approx(0.2)
    assert (row["share_lower"], row["share_upper"]) == pytest.approx((0.2, 0.8))


def test_share_of_the_paper() -> None:
    """Knowledge gap positive in 98% of 13 × 80 cells, global gap in none."""
    rng = np.random.default_rng(1)
    gaps = np.stack([-0.79 - rng.uniform(0, 0.5, (13, 80)), np.zeros((13, 80))], axis=2)
    gaps[..., 1] = gaps[..., 0] + 0.3
    gaps.reshape(-1, 2)[rng.choice(1040, 21, replace=False), 1] -= 0.6
    fit = constructed_fit(gaps, [f"l{k}" for k in range(13)], [f"m{k}" for k in range(80)])
    shares = summaries.sign_shares(fit)
    overall = shares[shares["locale"] == "(all locales)"].set_index("gap")
    assert overall.loc["knowledge_gap", "known"] == 1040
    assert round(100 * overall.loc["knowledge_gap", "share_positive"]) == 98
    assert overall.loc["global_gap", "positive"] == 0


def test_bounds_of_the_share_hold_for_all_cells_at_once() -> None:
    """All 40 true gaps are 0.05, far under the noise; the bounds hold 100% in at least 95% of samples."""
    rng = np.random.default_rng(7)
    hits, runs = 0, 300
    for _ in range(runs):
        gaps = np.stack([0.1 * rng.normal(size=(4, 10)), 0.05 + 0.1 * rng.normal(size=(4, 10))], axis=2)
        shares = summaries.sign_shares(constructed_fit(gaps, list("abcd"), [f"m{k}" for k in range(10)]))
        row = shares[(shares["locale"] == "(all locales)") & (shares["gap"] == "local_gap")].iloc[0]
        hits += row["share_upper"] == 1.0
    assert hits / runs >= 0.95


def test_nothing_known() -> None:
    row = summaries.sign_shares(constructed_fit(np.full((1, 1, 2), np.nan), ["zh"], ["a"])).iloc[2]
    assert row["known"] == 0
    assert np.isnan(row[["share_positive", "share_lower", "share_upper"]].to_numpy(dtype=float)).all()


def test_ability_against_accuracy() -> None:
    fit = constructed_fit(np.zeros((1, 4, 2)), ["zh"], list("abcd"))
    ability = np.array([-1.0, 0.0, 1.0, np.inf])
    accuracy = np.array([0.2, 0.5, 0.9, 1.0])
    fit.cube["ability"].values[0, :, 1, 0] = ability
    fit.cube["accuracy"].values[0, :, 1, 0] = accuracy
    row = summaries.ability_accuracy(fit).set_index(["subset", "query"]).loc[("CS", "local")]
    assert row["pearson"] == pytest.approx(np.corrcoef(ability[:3], accuracy[:3])[0, 1])
    assert row["spearman"] == pytest.approx(1.0)
    assert (row["n_models"], row["n_infinite"], row["language"]) == (3, 1, "zh")
    two = summaries.ability_accuracy(constructed_fit(np.zeros((1, 2, 2)), ["zh"], ["a", "b"]))
    assert two["pearson"].isna().all()


def test_variants_stand_side_by_side() -> None:
    fit = constructed_fit(np.array([[[-0.5, 0.5], [-0.5, 0.2]]]), ["zh"], ["a", "b"])
    assert summaries.variant_shares(fit)["variant"].unique().tolist() == ["plain"]
    lower = constructed_fit(np.array([[[-1.3, -0.8], [-1.3, -1.6]]]), ["zh"], ["a", "b"])
    varied = with_variant(fit, "floor", lower)
    table = summaries.variant_shares(varied).set_index(["variant", "gap"])
    assert table.loc[("plain", "knowledge_gap"), "positive"] == 2
    assert table.loc[("floor", "knowledge_gap"), "positive"] == 1
    assert summaries.locale_means(varied)["estimate"].tolist() == pytest.approx([-0.5, 0.35, 0.85])


def test_intervals_of_abilities_have_the_level_of_the_fit() -> None:
    """Normal ends for maximum likelihood: sd 0.1, so ±0.0674 at 50% and ±0.196 at 95%."""
    gaps = np.zeros((1, 3, 2))
    for level, half in ((0.5, 0.0674490), (0.95, 0.1959964)):
        fit = constructed_fit(gaps, ["zh"], list("abc"), level=level)
        drawn = figures.ability_accuracy(summaries.abilities(fit)).data
        assert len(drawn) == 12
        above, below = drawn["upper"] - drawn["ability"], drawn["ability"] - drawn["lower"]
        assert np.allclose([above, below], half, rtol=0, atol=1e-6)


@dataclass(frozen=True)
class _Skewed:
    """Stands in for a posterior whose abilities are the cubes of 0, …, 100 hundredths, one chain."""

    def variable(self, name: str) -> xr.DataArray:
        assert name == "ability"
        draws = np.broadcast_to((np.arange(101) / 100)[:, None, None, None] ** 3, (101, 2, 2, 2))
        coords = {"model": ["b", "a"], "subset": ["CA", "CS"], "query": ["local", "pivot"]}
        shifted = draws + np.array([10.0, 0.0])[:, None, None]  # model b lies higher
        return xr.DataArray(shifted[None], dims=("chain", "draw", *coords), coords=coords)


def test_intervals_of_abilities_are_quantiles_of_the_posterior() -> None:
    fit = constructed_fit(np.zeros((1, 2, 2)), ["zh"], ["a", "b"], level=0.9)
    nuts = Settings(method="nuts", level=0.9)
    fit = replace(fit, settings=nuts, posteriors={"plain": {"zh": _Skewed()}})
    table = summaries.abilities(fit).set_index("model")
    assert table.loc["a", "lower"].tolist() == pytest.approx([0.05**3] * 4)
    assert table.loc["a", "upper"].tolist() == pytest.approx([0.95**3] * 4)
    assert table.loc["b", "upper"].tolist() == pytest.approx([10 + 0.95**3] * 4)
    assert table.loc["b", "query"].tolist() == ["local", "pivot", "local", "pivot"]
