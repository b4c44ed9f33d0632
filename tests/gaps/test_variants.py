"""The four knowledge gaps side by side: when each is there, what it says, and that plain never changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import chi2

import maskedadv
from maskedadv import errors
from maskedadv.result.in_words import read_variants
from maskedadv.summaries import variant_means
from maskedadv.vocabulary import VARIANTS
from tests.simulate import artefact_table as simulated
from tests.simulate import table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return simulated(20, 200, chance=0.25, slope=0.7, seed=1)


def fit(frame: pd.DataFrame, **arguments: object) -> maskedadv.result.fit_result.Fit:  # type: ignore[name-defined]
    return maskedadv.fit(frame, min_accuracy=0, **{"estimator": "marginal", **arguments})  # type: ignore[arg-type]


def test_what_is_known_decides_which_variants_are_there(frame: pd.DataFrame) -> None:
    assert fit(frame).variants == ["plain", "paired", "linked", "paired+linked"]
    assert fit(frame.assign(n_options=4)).variants == list(VARIANTS)
    assert fit(frame, options=4).variants == list(VARIANTS)
    assert fit(frame, options=4, link="none").variants == ["plain", "floor", "paired", "paired+floor"]
    assert fit(frame, options=4, guessing="none").variants == ["plain", "paired", "linked", "paired+linked"]
    alone = fit(frame, options=4, variants="none")
    assert alone.variants == ["plain"]
    assert alone.cube.sizes["variant"] == 1
    few = frame[frame["model"] < "m07"]
    assert fit(few, options=4).variants == ["plain", "floor", "paired", "paired+floor"]


def test_plain_is_the_same_with_and_without_the_others(frame: pd.DataFrame) -> None:
    alone, beside = fit(frame, variants="none"), fit(frame, options=4)
    pd.testing.assert_frame_equal(alone.gaps(), beside.gaps())
    pd.testing.assert_frame_equal(alone.means(), beside.means())
    xr.testing.assert_identical(alone.cube, beside.cube.sel(variant=["plain"]))


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
    ratio = {(v["locale"], v["variant"]): v["ratio"] for v in result.info.links}
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
    assert len(pd.read_csv(tmp_path / "out" / "variants.csv")) == 8 * 20


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
    assert fit(part).variants == ["plain", "paired", "linked", "paired+linked"]
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
    assert fit(two, scope="joint").variants == list(VARIANTS)


def test_a_locale_that_cannot_be_linked_stays_beside_one_that_can(frame: pd.DataFrame) -> None:
    fewer = frame[(frame["language"] == "zh") & (frame["model"] < "m04")].assign(language="fr")
    result = fit(pd.concat([frame, fewer]), link="english")
    rows = result.gaps(gap="knowledge_gap", variant="linked")
    assert rows.loc[rows["locale"] == "zh", "estimate"].notna().all()
    assert np.isfinite(result.means(locale="zh", gap="knowledge_gap", variant="linked")["sd"]).all()


def test_models_on_other_items_are_no_part_of_a_link() -> None:
    """Two halves of the models on halves of the CA items, one half of items 4 logits harder, levels unknown.

    Over all models the CA abilities would seem to spread by the 4 logits too, and λ to be far below 1.
    """
    frame = simulated(24, 200, harder=0.0, seed=5)
    rng = np.random.default_rng(6)
    half = frame["model"].str[1:].astype(int) % 2
    frame = frame[half == frame["item"].str[2:].astype(int) % 2].copy()
    harder = (frame["subset"] == "CA") & (frame["model"].str[1:].astype(int) % 2 == 1)
    frame.loc[harder & (rng.random(len(frame)) < 0.6), "correct"] = 0
    frame = frame[(frame["model"] != "m01") & (frame["model"] != "m03")]
    link = fit(frame, estimator="joint").links().iloc[0]
    alone = fit(frame[frame["model"].str[1:].astype(int) % 2 == 0], estimator="joint").links().iloc[0]
    assert link["models"] == 12
    for name in ("ratio", "lower", "upper", "common_ratio"):
        assert link[name] == pytest.approx(alone[name], rel=0.02)


def test_replicates_take_the_ratio_over_the_models_that_the_link_rests_on() -> None:
    """A model far off on CA that was not asked CS in English changes λ in no replicate."""
    frame = simulated(12, 150, slope=0.8, seed=7)
    odd = frame["model"] == "m00"
    frame = frame[~(odd & (frame["subset"] == "CS") & (frame["language"] == "en"))].copy()
    frame.loc[(frame["model"] == "m00") & (frame["item"].str[2:].astype(int) > 3), "correct"] = 0
    found = fit(frame, interval="bootstrap", replicates=60, link="english")
    rows = found.uncertainty["linked"]["zh"].values[:, 1, 1:]
    ratio = found.uncertainty["plain"]["zh"].values[:, 1, 1:] / rows
    assert np.nanmedian(ratio) == pytest.approx(found.links()["ratio"].iloc[0], rel=0.15)


@pytest.mark.parametrize("interval", ["robust", "bootstrap"])
def test_a_locale_told_twice_makes_no_mean_more_certain(frame: pd.DataFrame, interval: str) -> None:
    """The luck of having these models and these English answers is one, however many locales share them."""
    twice = pd.concat([frame, frame[frame["language"] == "zh"].assign(language="yue")])
    result = fit(twice, options=4, interval=interval, replicates=40)
    means = variant_means(result)
    means = means[means["gap"] == "knowledge_gap"].set_index(["variant", "locale"])["sd"]
    for variant in result.variants:
        assert means[variant, "(all locales)"] == pytest.approx(means[variant, "zh"], rel=1e-6)


def test_a_result_without_links_keeps_none_of_an_older_one(frame: pd.DataFrame, tmp_path: Path) -> None:
    fit(frame).save(tmp_path / "out")
    assert (tmp_path / "out" / "links.csv").is_file()
    fit(frame, variants="none").save(tmp_path / "out", overwrite=True)
    assert not (tmp_path / "out" / "links.csv").exists()


def test_a_result_of_an_earlier_format_is_refused_with_the_remedy(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    folder = fit(frame).save(tmp_path / "out")
    content = json.loads((folder / "fit.json").read_text())
    (folder / "fit.json").write_text(json.dumps(content | {"format": 1}))
    with pytest.raises(maskedadv.errors.NotAResult, match=r"another version .* \(format 1, .*\); fit again"):
        maskedadv.load(folder)


def test_pools_that_do_not_go_together_are_said() -> None:
    turned = simulated(20, 200, seed=8)
    cs = turned["subset"] == "CS"
    turned.loc[cs, "model"] = "m" + (19 - turned.loc[cs, "model"].str[1:].astype(int)).astype(str).str.zfill(
        2
    )
    assert any("hardly go together" in w for w in fit(turned).warnings)
    assert not any("hardly go together" in w for w in fit(simulated(20, 200, seed=8)).warnings)


@pytest.mark.parametrize("arguments", [{"interval": "bootstrap", "replicates": 30}, {"interval": "robust"}])
def test_covariances_told_from_few_replicates_or_items_reject_less(
    frame: pd.DataFrame, arguments: dict[str, object]
) -> None:
    told = fit(frame, **arguments).info.links[0]
    assert told["common_p"] > 1.05 * chi2.sf(told["common_misfit"], told["common_df"])
    exact = fit(frame, interval="information").info.links[0]
    assert exact["common_p"] == pytest.approx(chi2.sf(exact["common_misfit"], exact["common_df"]))
