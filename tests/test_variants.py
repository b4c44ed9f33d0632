"""The four knowledge gaps side by side: when each is there, what it says, and that plain never changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import maskedadv
from maskedadv import errors
from maskedadv.reading import read_variants
from tests.simulate import artefact_table as simulated
from tests.simulate import table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return simulated(20, 200, chance=0.25, slope=0.7, seed=1)


def fit(frame: pd.DataFrame, **arguments: object) -> maskedadv.results.Fit:  # type: ignore[name-defined]
    return maskedadv.fit(frame, min_accuracy=0, **{"estimator": "marginal", **arguments})  # type: ignore[arg-type]


def test_what_is_known_decides_which_variants_are_there(frame: pd.DataFrame) -> None:
    assert fit(frame).variants == ["plain", "linked"]
    assert fit(frame.assign(n_options=4)).variants == ["plain", "floor", "linked", "floor+linked"]
    assert fit(frame, options=4).variants == ["plain", "floor", "linked", "floor+linked"]
    assert fit(frame, options=4, link="none").variants == ["plain", "floor"]
    assert fit(frame, options=4, guessing="none").variants == ["plain", "linked"]
    alone = fit(frame, options=4, variants="none")
    assert alone.variants == ["plain"]
    assert "variant" not in alone.cube.dims
    few = frame[frame["model"] < "m07"]
    assert fit(few, options=4).variants == ["plain", "floor"]


def test_plain_is_the_same_with_and_without_the_others(frame: pd.DataFrame) -> None:
    alone, beside = fit(frame, variants="none"), fit(frame, options=4)
    pd.testing.assert_frame_equal(alone.gaps(), beside.gaps())
    pd.testing.assert_frame_equal(alone.means(), beside.means())
    xr.testing.assert_identical(alone.cube, beside.cube.sel(variant="plain", drop=True))


def test_a_number_and_chance_of_the_same_value_agree(frame: pd.DataFrame) -> None:
    number, chance = fit(frame, guessing=0.25), fit(frame, guessing="chance", options=4)
    pd.testing.assert_frame_equal(number.gaps(variant="floor"), chance.gaps(variant="floor"))
    zero = fit(frame, guessing=0)
    np.testing.assert_allclose(zero.gaps(variant="floor")["estimate"], zero.gaps()["estimate"], atol=1e-8)
    np.testing.assert_allclose(zero.gaps(variant="floor")["sd"], zero.gaps()["sd"], atol=1e-8)


@pytest.mark.parametrize("interval", ["robust", "information", "bootstrap"])
@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_linked_gaps_are_local_over_lambda_less_global(
    frame: pd.DataFrame, estimator: str, interval: str
) -> None:
    result = fit(frame, estimator=estimator, interval=interval, replicates=40, options=4)
    cube = result.cube
    ratio = {(v["locale"], v["variant"]): v["ratio"] for v in result.info["links"]}
    for base, name in (("plain", "linked"), ("floor", "floor+linked")):
        before, after = cube["estimate"].sel(variant=base), cube["estimate"].sel(variant=name)
        np.testing.assert_allclose(after.sel(gap="global_gap"), before.sel(gap="global_gap"))
        np.testing.assert_allclose(
            after.sel(gap="local_gap"), before.sel(gap="local_gap") / ratio[("zh", name)]
        )
        np.testing.assert_allclose(
            after.sel(gap="knowledge_gap"), after.sel(gap="local_gap") - after.sel(gap="global_gap")
        )
    wider = cube["sd"].sel(gap="knowledge_gap", variant="linked") > cube["sd"].sel(
        gap="knowledge_gap", variant="plain"
    )
    assert wider.mean() > 0.9, "what is uncertain in the ratio is carried"


def test_delta_method_and_bootstrap_agree_on_the_linked_mean() -> None:
    frame = simulated(20, 500, slope=0.7, seed=4)
    robust, boot = (
        fit(frame, interval=i, replicates=300).means(gap="knowledge_gap", variant="linked")["sd"].iloc[0]
        for i in ("robust", "bootstrap")
    )
    assert boot == pytest.approx(robust, rel=0.25)


def test_the_artefacts_are_taken_out(frame: pd.DataFrame) -> None:
    """Both at once: plain is far from the true zero, floor+linked covers it."""
    result = fit(frame, options=4)
    plain = result.means(gap="knowledge_gap").iloc[0]
    both = result.means(gap="knowledge_gap", variant="floor+linked").iloc[0]
    assert plain["lower"] > 0.3
    assert both["lower"] < 0 < both["upper"]


def test_results_survive_the_disk(frame: pd.DataFrame, tmp_path: Path) -> None:
    result = fit(frame, options=4)
    again = maskedadv.load(result.save(tmp_path / "out"))
    xr.testing.assert_identical(again.cube, result.cube)
    pd.testing.assert_frame_equal(again.variant_gaps(), result.variant_gaps())
    assert read_variants(again) == read_variants(result)
    assert len(pd.read_csv(tmp_path / "out" / "variants.csv")) == 4 * 20


def test_cells_at_chance_have_no_value_and_a_note(frame: pd.DataFrame) -> None:
    low = frame.copy()
    at = (low["model"] == "m03") & (low["subset"] == "CS") & (low["language"] == "zh")
    low.loc[at, "correct"] = np.random.default_rng(0).permutation(np.repeat([1, 0], [52, 148]))
    result = fit(low, options=4)
    row = result.gaps(model="m03", gap="knowledge_gap", variant="floor").iloc[0]
    assert np.isnan(row["estimate"])
    assert row["note"] == "at_chance: CS zh is not above guessing"
    assert np.isfinite(result.gaps(model="m03", gap="knowledge_gap")["estimate"].iloc[0])
    assert any("under the guessing floor" in w for w in result.warnings)


def test_links_that_rest_on_little_are_said(frame: pd.DataFrame) -> None:
    few = frame[frame["model"] < "m10"]
    assert any("rests on 10 models" in w for w in fit(few).warnings)
    assert not any("rests on" in w for w in fit(frame).warnings)


def test_what_was_asked_for_and_cannot_be_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(errors.NoOptions, match="n_options, or give --options"):
        fit(frame, guessing="chance")
    part = frame.assign(n_options=np.where(frame["item"] == "CA3", np.nan, 4.0))
    with pytest.raises(errors.NoOptions, match=r"1 have none .'CA3'"):
        fit(part, guessing="chance")
    assert fit(part).variants == ["plain", "linked"]
    mixed = frame.assign(n_options=np.where(frame["language"] == "en", 4, 5))
    with pytest.raises(errors.BadValue, match="different numbers of options"):
        fit(mixed)
    with pytest.raises(errors.NotEstimable, match="a link needs 8 models, here are 5"):
        fit(frame[frame["model"] < "m05"], link="english")
    for bad in (
        {"guessing": "lots"},
        {"guessing": 1.0},
        {"guessing": -0.1},
        {"options": 1},
        {"link": "french"},
    ):
        with pytest.raises(errors.BadSetting):
            fit(frame, **bad)
    with pytest.raises(errors.BadSetting, match="excludes"):
        fit(frame, variants="none", link="english")
    soft = frame.rename(columns={"correct": "p_correct"})
    with pytest.raises(errors.BadSetting, match="binary"):
        fit(soft, response="soft", guessing=0.25)


def test_floors_that_differ_by_item_are_used_item_by_item() -> None:
    mixed = simulated(8, 120, chance=0.0, seed=2)
    number = mixed["item"].str[2:].astype(int)
    mixed["n_options"] = np.where(number % 2 == 0, 2, 5)
    apart = fit(mixed, link="none").gaps(variant="floor")["estimate"]
    for options in (2, 5):
        same = fit(mixed.drop(columns="n_options"), options=options, link="none").gaps(variant="floor")[
            "estimate"
        ]
        assert (apart - same).abs().max() > 1e-3


def test_scope_joint_has_variants_too() -> None:
    two = table(9, (80, 80), locales=("fr", "zh"), seed=3).assign(n_options=4)
    assert fit(two, scope="joint").variants == ["plain", "floor", "linked", "floor+linked"]


def test_a_locale_that_cannot_be_linked_stays_beside_one_that_can(frame: pd.DataFrame) -> None:
    fewer = frame[(frame["language"] == "zh") & (frame["model"] < "m04")].assign(language="fr")
    result = fit(pd.concat([frame, fewer]), link="english")
    rows = result.gaps(gap="knowledge_gap", variant="linked")
    assert rows.loc[rows["locale"] == "zh", "estimate"].notna().all()
    assert np.isfinite(result.means(locale="zh", gap="knowledge_gap", variant="linked")["sd"]).all()
