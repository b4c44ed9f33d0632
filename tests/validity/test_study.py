"""The whole study: known truth, what depends on what, aggregate input."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import BadSetting
from maskedadv.validity import Settings, Study, study
from maskedadv.validity.pairings import PairingFile
from maskedadv.validity.verdict import verdict

FAST = Settings(n_resamples=2000, repeats=20)


@pytest.fixture(scope="module")
def result(simulated) -> Study:
    """The simulated study, of answers."""
    return study(simulated.plan, simulated.scores, simulated.models, FAST)


def test_built_in_classes_are_recovered(simulated, result: Study) -> None:
    assert dict(result.evidence[["pairing", "evidence"]].to_numpy()) == simulated.truth


def test_the_family_that_carries_a_marginal_result_is_named(result: Study) -> None:
    evidence = result.evidence.set_index("pairing")
    assert evidence.loc["DanishCT", "breaks_without"] == "family 00"
    assert evidence.loc["DanishCT", "lofo_refits"] == 17


def test_the_extra_control_costs_one_degree_of_freedom(result: Study) -> None:
    df = result.incremental.groupby("variant")["df_resid"].unique()
    assert [df[variant].tolist() for variant in ("main", "CA", "CS", "extra")] == [[25], [25], [25], [24]]


def test_robust_slopes_cover_the_one_built_in(result: Study) -> None:
    """Native ability moves by 0.9 per unit of knowledge, the proxy by 1; both on accuracy."""
    main = result.incremental.loc[result.incremental["variant"] == "main"].set_index("pairing")
    for name in ("Skolprov", "Exam-ET", "INCLUDE-LT", "NRK-Quiz"):
        assert main.loc[name, "beta_lower"] < 0.9 < main.loc[name, "beta_upper"], name


def test_shares_of_cs_items_and_the_trend_without_open_ended(result: Study) -> None:
    shares = result.locality.set_index("pairing")
    assert shares["cs_share"].tolist() == pytest.approx([0.15, 0.95, 0.45, 0.4, 0.5, 0.6, 0.95])
    closed = shares.loc[~shares["open_ended"]]
    slope = np.polyfit(closed["cs_share"], closed["partial_r"], 1)[0]
    trend = result.trends.set_index("measure").loc["partial_r"]
    assert (trend["slope"], trend["n_pairings"]) == (pytest.approx(slope), 6)


def test_block_a_covers_both_sides_of_every_pairing_once(result: Study) -> None:
    keys = list(zip(result.block_a["benchmark"], result.block_a["language"], strict=True))
    assert len(keys) == len(set(keys)) == 12  # seven native ones, the proxy in five languages
    facts = result.block_a.set_index("benchmark").loc["swedishfacts"]
    assert not facts["interpretable"]
    assert "only 20 items" in facts["reason"]


def test_a_pairings_result_does_not_depend_on_the_others_or_on_order(simulated, result: Study) -> None:
    alone = PairingFile(simulated.plan.pairings[2:3])
    shuffled = simulated.scores.sample(frac=1, random_state=2)
    models = simulated.models.sample(frac=1, random_state=3)
    again = study(alone, shuffled, models, FAST)
    for name in ("ranking", "incremental", "refits", "evidence"):
        full: pd.DataFrame = getattr(result, name)
        own = full.loc[full["pairing"] == "Exam-ET"].reset_index(drop=True)
        pd.testing.assert_frame_equal(getattr(again, name), own, check_dtype=False, rtol=1e-9)


def test_the_seed_decides_the_intervals(simulated, aggregated: pd.DataFrame, result: Study) -> None:
    alone = PairingFile(simulated.plan.pairings[:1])
    runs = [
        study(alone, aggregated, simulated.models, Settings(2000, seed=seed, repeats=20)) for seed in (1, 2)
    ]
    lowers = [run.incremental.loc[0, "beta_lower"] for run in runs]
    assert lowers[0] == result.incremental.loc[0, "beta_lower"]
    assert lowers[0] != lowers[1]
    assert runs[0].fingerprint != runs[1].fingerprint


def test_accuracies_give_what_they_can_and_say_what_they_cannot(
    simulated, aggregated: pd.DataFrame, result: Study
) -> None:
    again = study(simulated.plan, aggregated, simulated.models, FAST)
    for name in ("ranking", "incremental", "evidence", "locality"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(result, name), check_dtype=False)
    assert again.block_a["tau"].isna().all()
    assert set(again.block_a["reason"]) == {"needs answers to single items; only aggregates are given"}


def test_without_numbers_of_items_the_share_of_cs_is_not_known(simulated, aggregated: pd.DataFrame) -> None:
    plan = PairingFile(simulated.plan.pairings[:1])
    again = study(plan, aggregated.drop(columns="n_items"), simulated.models, FAST)
    assert np.isnan(again.locality.loc[0, "cs_share"])
    assert "give n_items or cs_share" in again.locality.loc[0, "reason"]


def test_expanded_intervals_are_wider_than_plain_percentiles(
    simulated, aggregated: pd.DataFrame, result: Study
) -> None:
    two = PairingFile(simulated.plan.pairings[:2])
    plain = study(two, aggregated, simulated.models, replace(FAST, interval="percentile"))
    wide = result.incremental.iloc[: len(plain.incremental)]
    widths = [(rows["beta_upper"] - rows["beta_lower"]).to_numpy() for rows in (plain.incremental, wide)]
    assert (widths[1] > widths[0]).all()
    assert plain.ranking["lower"].tolist() == result.ranking["lower"].tolist()[:6]


def test_resampling_families_changes_intervals_only(
    simulated, aggregated: pd.DataFrame, result: Study
) -> None:
    two = PairingFile(simulated.plan.pairings[:2])
    families = study(two, aggregated, simulated.models, replace(FAST, resample="families"))
    estimates = ["tau", "p_value", "top5"]
    pd.testing.assert_frame_equal(families.ranking[estimates], result.ranking[estimates].iloc[:6])
    assert (families.ranking["lower"] != result.ranking["lower"].iloc[:6]).all()


def test_json_is_complete_and_without_nan(result: Study) -> None:
    content = json.loads(result.to_json())
    assert content["evidence"][0]["p_f"] == pytest.approx(result.evidence.loc[0, "p_f"], rel=1e-12)
    assert content["settings"]["n_resamples"] == 2000
    assert len(content["refits"]) == 7 * (17 + 29)


def test_verdicts_say_what_the_tables_say(simulated, result: Study) -> None:
    by_name = {pairing.name: verdict(result, pairing) for pairing in simulated.plan.pairings}
    assert by_name["Skolprov"].startswith(
        "Robust evidence that mmlu predicts skolprov beyond log(parameters)"
    )
    assert "without any one of the 17 model families" in by_name["Skolprov"]
    assert "it breaks without family 00" in by_name["DanishCT"]
    assert by_name["SwedishFacts"].startswith("No evidence")
    assert "open-ended" in by_name["SwedishFacts"]
    main = result.incremental.loc[0]
    assert f"{main['r2_base']:.3f} to {main['r2_ext']:.3f}" in by_name["Skolprov"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_resamples": 99}, {"level": 95}, {"alpha": 0}, {"seed": -1}, {"repeats": 0}, {"min_items": 0},
        {"resample": "items"}, {"scores": "logits"}, {"interval": "bca"},
    ],
)  # fmt: skip
def test_settings_out_of_range(wrong: dict) -> None:
    with pytest.raises(BadSetting, match=next(iter(wrong))):
        Settings(**wrong)
