"""One mean has one interval, also where bootstrap replicates have no finite value."""

from __future__ import annotations

import numpy as np
import pytest

import maskedadv
from maskedadv import summaries
from maskedadv.gaps.joint import Joint
from maskedadv.result.cube import NUMBERS
from maskedadv.result.fit_result import Fit
from tests import simulate
from tests.constructed import constructed_fit


def replicates(n: int, models: int, seed: int = 1) -> np.ndarray:
    """Bootstrap rows (n, 2, models) of gaps near (-1, -0.5), errors half shared by the models."""
    rng = np.random.default_rng(seed)
    errors = rng.normal(0, 0.5, (n, 2, 1)) + rng.normal(0, 0.5, (n, 2, models))
    return np.array([-1.0, -0.5])[:, None] + errors


def fit_of(rows: np.ndarray, unknown: int = 0) -> Fit:
    """A fit with these replicates; the last `unknown` models have no gaps."""
    gaps = np.broadcast_to(np.array([-1.0, -0.5]), (1, rows.shape[2], 2)).copy()
    gaps[:, rows.shape[2] - unknown :] = np.nan
    keys = [[f"replicate {k}" for k in range(len(rows))]]
    names = [f"m{j}" for j in range(rows.shape[2])]
    return constructed_fit(gaps, ["zh"], names, rows=[rows], keys=keys, kind="bootstrap")


@pytest.mark.parametrize("models", [1, 2, 5])
def test_means_gaps_and_tables_agree_where_replicates_are_not_finite(models: int):
    rows = replicates(400, models)
    rows[:120, 1, 0] = np.nan  # the replicates that cost a model its local gap are those with small gaps
    fit = fit_of(rows)
    ours, theirs = fit.means(), summaries.locale_means(fit)
    for name in NUMBERS:
        np.testing.assert_array_equal(ours[name], theirs[name])
    if models == 1:  # a mean over one model is that model, with its interval
        single = fit.gaps()
        for name in NUMBERS:
            np.testing.assert_allclose(ours[name], single[name], rtol=0, atol=1e-12)


def test_replicates_lost_at_random_do_not_move_the_interval_of_a_mean():
    rows = replicates(20000, 4)
    whole = fit_of(rows).means().set_index("gap")
    lost = rows.copy()
    lost[np.random.default_rng(2).random(len(rows)) < 0.4, 1, 0] = np.nan
    holed = fit_of(lost).means().set_index("gap")
    # sd of a replicate's mean: 0.5 sqrt(1 + 1/4), or with the fourth model's place filled 0.5 sqrt(1 + 1/3)
    expected = 0.5 * np.sqrt(0.6 * (1 + 1 / 4) + 0.4 * (1 + 1 / 3))
    assert holed.loc["local_gap", "sd"] == pytest.approx(expected, rel=0.02)
    assert whole.loc["local_gap", "sd"] == pytest.approx(0.5 * np.sqrt(5 / 4), rel=0.02)
    assert holed.loc["global_gap", "sd"] == whole.loc["global_gap", "sd"]


def test_a_side_of_a_difference_without_any_value_leaves_the_replicate_out():
    rows = replicates(1000, 3)
    rows[:300, 1, 0] = np.nan
    joint = Joint.of(fit_of(rows))
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, :, 1] = [1.0, -0.5, -0.5]
    found = joint.contrast(weights)
    kept = rows[300:, 1] @ np.array([1.0, -0.5, -0.5])
    assert found.sd[0, 1] == pytest.approx(kept.std(ddof=1))


def test_many_models_each_lacking_some_replicates_keep_their_mean_s_interval():
    rows = replicates(300, 40)
    rng = np.random.default_rng(3)
    rows[:, 1][rng.random((300, 40)) < 0.05] = np.nan
    assert np.isfinite(fit_of(rows).means()["sd"]).all()
    assert np.isfinite(fit_of(rows, unknown=3).means()["sd"]).all()


def test_information_gives_no_interval_over_locales_and_says_so():
    """Locales share the pivot's answers, of which directions of one locale know nothing (covered 73%)."""
    table = simulate.table(4, (60, 60), (-0.5, -0.3), seed=3, locales=("zh", "sw"))
    fit = maskedadv.fit(table, interval="information", min_accuracy=0, variants="none")
    within, over = summaries.locale_means(fit), summaries.overall_means(fit)
    assert np.isfinite(within["sd"]).all()
    assert np.isfinite(over["estimate"]).all()
    assert over[["sd", "lower", "upper", "p_positive"]].isna().all(axis=None)
    assert sum("--interval robust" in w for w in fit.warnings) == 1


@pytest.mark.parametrize("kind", ["robust", "information", "bootstrap"])
def test_means_of_locales_are_the_sums_with_weights_of_one_locale(kind: str):
    rng = np.random.default_rng(5)
    gaps = rng.normal(-0.5, 0.4, (4, 3, 2))
    gaps[1, 0, 1] = gaps[2, :, 0] = gaps[3] = np.nan
    rows = [rng.normal(0, 0.3, (n, 2, 3)) for n in (40, 50, 60, 40)]
    rows[0][:10, 1, 2] = np.nan if kind == "bootstrap" else 0.0
    joint = Joint.of(constructed_fit(gaps, list("abcd"), list("xyz"), rows=rows, kind=kind))
    members = np.broadcast_to(np.eye(4, dtype=bool)[:, :, None], (4, 4, 3))
    expected, found = joint.contrast(joint.average(members)), joint.locale_means()
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-14)
    assert np.isnan(found.estimate[3]).all()
    assert np.isfinite(found.sd[0]).all()
