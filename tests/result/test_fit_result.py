"""The cube, its means and its file form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import norm

import maskedadv
from maskedadv import errors
from tests.simulate import table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table(4, (50, 40), locales=("fr", "zh"), missing=0.1, seed=6)


@pytest.mark.parametrize("interval", ["robust", "information", "bootstrap"])
@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_load_gives_what_fit_returned(
    frame: pd.DataFrame, tmp_path: Path, estimator: str, interval: str
) -> None:
    fit = maskedadv.fit(frame, estimator=estimator, interval=interval, replicates=30, min_accuracy=0)
    again = maskedadv.load(fit.save(tmp_path / "out"))
    xr.testing.assert_identical(again.cube, fit.cube)
    assert again.settings == fit.settings
    assert again.info == fit.info
    pd.testing.assert_frame_equal(again.items, fit.items, check_dtype=False)
    pd.testing.assert_frame_equal(again.means(), fit.means())
    assert again.uncertainty.keys() == fit.uncertainty.keys()
    for variant, by_locale in fit.uncertainty.items():
        for locale, own in by_locale.items():
            loaded = again.uncertainty[variant][locale]
            np.testing.assert_array_equal(loaded.values, own.values)
            assert list(loaded.key) == list(own.key)


def test_gaps_are_contrasts_of_the_cube(frame: pd.DataFrame) -> None:
    cube = maskedadv.fit(frame, min_accuracy=0).cube.sel(variant="plain")
    ability = cube["ability"]
    gap = ability.sel(query="local") - ability.sel(query="pivot")
    np.testing.assert_allclose(cube["estimate"].sel(gap="global_gap"), gap.sel(subset="CA"))
    np.testing.assert_allclose(cube["estimate"].sel(gap="local_gap"), gap.sel(subset="CS"))
    np.testing.assert_allclose(
        cube["estimate"].sel(gap="knowledge_gap"), gap.sel(subset="CS") - gap.sel(subset="CA")
    )
    np.testing.assert_allclose(cube["p_positive"], norm.cdf(cube["estimate"] / cube["sd"]))
    z = norm.ppf(0.975)
    np.testing.assert_allclose(cube["upper"] - cube["lower"], 2 * z * cube["sd"])
    assert cube["language"].sel(locale="zh", query="local").item() == "zh"
    for name in cube.data_vars:
        assert cube[name].attrs["long_name"]
        assert "units" in cube[name].attrs


def test_accuracy_and_counts_are_those_of_the_table(frame: pd.DataFrame) -> None:
    cube = maskedadv.fit(frame, min_accuracy=0).cube
    rows = frame[(frame["model"] == "m1") & (frame["subset"] == "CS")]
    zh = rows[rows["language"] == "zh"]
    asked = set(frame[frame["language"] == "zh"]["item"])
    en = rows[(rows["language"] == "en") & rows["item"].isin(asked)]
    at = cube.sel(locale="zh", model="m1", subset="CS")
    assert at["accuracy"].sel(query="local").item() == pytest.approx(zh["correct"].mean())
    assert at["accuracy"].sel(query="pivot").item() == pytest.approx(en["correct"].mean())
    assert at["n_items"].values.tolist() == [len(zh), len(en)]
    assert at["n_paired"].item() == len(set(zh["item"]) & set(en["item"]))


def test_the_knowledge_gap_of_disjoint_items_has_summed_variance(frame: pd.DataFrame) -> None:
    for interval in ("robust", "information"):
        sd = maskedadv.fit(frame, interval=interval, min_accuracy=0).cube["sd"]
        np.testing.assert_allclose(
            sd.sel(gap="knowledge_gap") ** 2, sd.sel(gap="global_gap") ** 2 + sd.sel(gap="local_gap") ** 2
        )


def test_mean_rows_use_the_joint_covariance(frame: pd.DataFrame) -> None:
    """For one item-clustered sandwich the mean's variance is the covariance matrix averaged, cell by cell."""
    fit = maskedadv.fit(frame, estimator="marginal", min_accuracy=0)
    own = fit.uncertainty["plain"]["zh"]
    rows = own.values[:, 0]
    covariance = rows.T @ rows
    mean = fit.means(locale="zh", gap="global_gap").iloc[0]
    assert mean["sd"] == pytest.approx(np.sqrt(covariance.mean()))
    single = fit.gaps(locale="zh", gap="global_gap")
    assert mean["estimate"] == pytest.approx(single["estimate"].mean())
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), single["sd"])
    independent = np.sqrt((single["sd"] ** 2).sum()) / len(single)
    assert mean["sd"] != pytest.approx(independent, rel=0.02), (
        "models share items, so they are not independent"
    )


def test_a_mean_over_one_model_is_that_model(frame: pd.DataFrame) -> None:
    for interval in ("robust", "information", "bootstrap"):
        fit = maskedadv.fit(frame, interval=interval, replicates=50, min_accuracy=0)
        columns = ["estimate", "sd", "lower", "upper", "p_positive"]
        one, mean = fit.gaps(model="m2"), fit.means(model="m2")
        np.testing.assert_allclose(one[columns], mean[columns])


def test_means_of_other_models_asked_one_after_the_other_are_each_their_own(frame: pd.DataFrame) -> None:
    """Means are kept once computed; what was kept for some models is not given out for others."""
    fit = maskedadv.fit(frame, min_accuracy=0)
    for chosen in (["m0"], ["m1", "m2"], ["m0", "m1", "m2"], ["m1"], ["m0"]):
        mean = fit.means(model=chosen, gap="global_gap", locale="zh")["estimate"].item()
        single = fit.gaps(model=chosen, gap="global_gap", locale="zh")["estimate"]
        assert mean == pytest.approx(single.mean())


def test_bootstrap_is_reproducible_and_near_the_sandwich() -> None:
    frame = table(3, (300, 300), seed=9)
    a, b, c = (
        maskedadv.fit(frame, estimator="marginal", interval="bootstrap", replicates=300, seed=s).gaps()
        for s in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(a, b)
    assert (a["sd"] - c["sd"]).abs().max() > 0
    robust = maskedadv.fit(frame, estimator="marginal").gaps()
    np.testing.assert_allclose(a["sd"], robust["sd"], rtol=0.2)
    assert (a["sd"] / robust["sd"]).mean() == pytest.approx(1, abs=0.06)


def test_results_of_unknown_names_are_refused(frame: pd.DataFrame) -> None:
    fit = maskedadv.fit(frame, min_accuracy=0)
    for arguments in ({"locale": "xx"}, {"model": ["m0", "zz"]}, {"gap": "gap"}):
        with pytest.raises(errors.BadSetting, match="is not in this result"):
            fit.gaps(**arguments)


def test_few_cells_are_warned_about_with_the_remedy(frame: pd.DataFrame) -> None:
    joint = " ".join(maskedadv.fit(frame, min_accuracy=0).warnings)
    assert (
        7 / 6 < float(joint.split("inflates gaps, here to ")[1].split()[0]) < 1.35
    )  # 7 cells an item, and more
    assert "marginal" in joint
    assert "inflates" not in " ".join(maskedadv.fit(frame, estimator="marginal", min_accuracy=0).warnings)
    auto = maskedadv.fit(frame, estimator="auto", min_accuracy=0)
    assert {b["estimator"] for b in auto.info.blocks} == {"marginal"}
    assert "inflates" not in " ".join(auto.warnings)


def test_many_cells_are_not_warned_about() -> None:
    frame = table(24, (25, 25), seed=2)
    fit = maskedadv.fit(frame, estimator="auto", min_accuracy=0)
    assert {b["estimator"] for b in fit.info.blocks} == {"joint"}
    assert "inflates" not in " ".join(fit.warnings)


def test_a_fit_shows_as_a_sentence_not_as_its_arrays(frame: pd.DataFrame) -> None:
    shown = repr(maskedadv.fit(frame, estimator="marginal", min_accuracy=0))
    assert shown == (
        "<maskedadv.Fit: optimize, marginal; 4 models, locales fr, zh; "
        "variants plain, paired; headline plain>"
    )
