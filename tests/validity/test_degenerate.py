"""Inputs that break statistics: a clear refusal, or NA with a reason; never a silent number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import NoCommonModel, NotEstimable
from maskedadv.validity import Settings, Study, study
from maskedadv.validity.analyses import balance_row
from maskedadv.validity.pairings import Pairing, PairingFile
from maskedadv.validity.scores import read_scores
from maskedadv.validity.verdict import verdict

FAST = Settings(n_resamples=500, repeats=5)
PAIRING = Pairing("P", "sv", "native", "proxy", ("log(parameters)", "proficiency"))


def tables(n: int = 20, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracies of native and proxy (ALL, CA, CS) and a model table, well behaved."""
    rng = np.random.default_rng(seed)
    names = [f"m{j:02d}" for j in range(n)]
    size, proficiency, knowledge = rng.normal(size=(3, n))
    models = pd.DataFrame(
        {"model": names, "family": [f"f{j % 10}" for j in range(n)], "parameters": np.exp(20 + size)}
    ).assign(proficiency=proficiency)
    parts = []
    for benchmark, slope in (("native", 0.9), ("proxy", 1.0)):
        for subset in ("ALL", "CA", "CS"):
            score = 0.5 + 0.04 * (size + proficiency + slope * 2 * knowledge) + 0.01 * rng.normal(size=n)
            parts.append(
                pd.DataFrame({"model": names, "subset": subset, "accuracy": score, "n_items": 100}).assign(
                    benchmark=benchmark
                )
            )
    return pd.concat(parts, ignore_index=True).assign(language="sv"), models


def run(scores: pd.DataFrame, models: pd.DataFrame, pairing: Pairing = PAIRING) -> Study:
    return study(PairingFile((pairing,)), scores, models, FAST)


def main(result: Study) -> pd.Series:
    return result.incremental.set_index("variant").loc["main"]


def of(scores: pd.DataFrame, benchmark: str) -> pd.Series:
    return scores["benchmark"] == benchmark


def test_the_well_behaved_case_is_robust() -> None:
    assert run(*tables()).evidence.loc[0, "evidence"] == "robust"


@pytest.mark.parametrize("benchmark", ["native", "proxy"])
def test_constant_scores_everywhere_cannot_be_estimated(benchmark: str) -> None:
    scores, models = tables()
    scores.loc[of(scores, benchmark), "accuracy"] = 0.5
    with pytest.raises(NotEstimable, match=f"all 20 models have the same score on the {benchmark} benchmark"):
        run(scores, models)


def test_constant_scores_on_one_group_leave_the_others() -> None:
    scores, models = tables()
    scores.loc[of(scores, "native") & (scores["subset"] == "CS"), "accuracy"] = 0.5
    result = run(scores, models)
    ranking = result.ranking.set_index("group")
    assert np.isnan(ranking.loc["CS", "tau"])
    assert "same score" in ranking.loc["CS", "reason"]
    assert np.isfinite(ranking.loc["ALL", "tau"])
    assert (
        result.incremental.set_index("variant").loc["CS", "reason"]
        == "all 20 models have the same native score"
    )


def test_five_models_are_ranked_but_not_regressed() -> None:
    result = run(*tables(5))
    assert main(result)["reason"] == "5 models, but at least 6 are needed"
    assert np.isfinite(result.ranking.loc[0, "tau"])
    assert np.isnan(result.ranking.loc[0, "top5"])
    assert "the top 5 of 5 models is all of them" in result.ranking.loc[0, "reason"]
    assert result.evidence.loc[0, "evidence"] == "undetermined"
    assert "cannot be done: 5 models" in verdict(result, PAIRING)


@pytest.mark.parametrize("n", [3, 4, 6, 7])
def test_few_models_never_give_a_bare_number(n: int) -> None:
    result = run(*tables(n))
    row = main(result)
    assert np.isfinite(row["beta_lower"]) or row["reason"]
    assert result.evidence.loc[0, "evidence"] in ("null", "undetermined", "marginal")


def test_one_or_two_models_are_refused() -> None:
    with pytest.raises(NotEstimable, match="1 of 1 models"):
        run(*tables(1))
    with pytest.raises(NotEstimable, match="2 models, but a ranking needs 3"):
        run(*tables(2))


def test_one_family_leaves_the_class_undetermined() -> None:
    scores, models = tables()
    result = run(scores, models.assign(family="only"))
    evidence = result.evidence.loc[0]
    assert evidence["evidence"] == "undetermined"
    assert evidence["reason"] == "all models are of one family (only), so none can be left out"
    assert "Stability over families is not fully known: all models are of one family" in verdict(
        result, PAIRING
    )
    assert np.isnan(main(result)["cv_r2_ext_family"])


def test_collinear_controls_are_named() -> None:
    scores, models = tables()
    models["proficiency"] = 3 - 2 * np.log(models["parameters"])
    result = run(scores, models)
    assert main(result)["reason"] == "the control proficiency is a linear combination of the other predictors"
    assert result.evidence.loc[0, "evidence"] == "undetermined"


def test_a_control_that_is_the_proxy_is_named() -> None:
    scores, models = tables()
    result = run(scores, models, replace(PAIRING, controls=("proxy@sv",)))
    assert main(result)["reason"] == "the proxy score is a linear combination of the other predictors"


def test_a_constant_control_is_named() -> None:
    scores, models = tables()
    assert (
        "control log(parameters) is the same for every model"
        in main(run(scores, models.assign(parameters="7B")))["reason"]
    )


def test_tied_ranks_everywhere() -> None:
    """Three distinct scores only: tau_b is defined, the top is shared by chance, nothing depends on order."""
    scores, models = tables()
    for benchmark in ("native", "proxy"):
        rows = of(scores, benchmark)
        scores.loc[rows, "accuracy"] = (scores.loc[rows, "accuracy"] * 12).round() / 12
    first = run(scores, models)
    names = dict(zip(models["model"], reversed(list(models["model"])), strict=True))
    renamed = run(scores.replace({"model": names}), models.replace({"model": names}))
    row, other = first.ranking.loc[0], renamed.ranking.loc[0]
    assert (row["tau"], row["top3"], row["top5"]) == pytest.approx(
        (other["tau"], other["top3"], other["top5"])
    )
    assert row["top3"] % 1 != 0
    assert -1 < row["lower"] < row["tau"] < row["upper"] <= 1


def test_two_distinct_scores_leave_resamples_undefined_and_are_said_so() -> None:
    scores, models = tables(8)
    rows = of(scores, "native")
    scores.loc[rows, "accuracy"] = np.where(scores.loc[rows, "model"] == "m00", 0.9, 0.1)
    row = run(scores, models).ranking.loc[0]
    assert np.isfinite(row["tau"])
    assert np.isnan(row["lower"])
    assert "resamples" in row["reason"]


def test_no_cs_items() -> None:
    scores, models = tables()
    scores = scores.loc[~(of(scores, "native") & (scores["subset"] == "CS"))]
    result = run(scores, models)
    ranking = result.ranking.set_index("group")
    assert ranking.loc["CS", "reason"] == "the native benchmark native has no CS scores in sv"
    assert result.evidence.loc[0, "evidence"] == "robust"
    assert result.locality.loc[0, "cs_share"] == 0


def test_models_on_one_side_only_are_listed() -> None:
    scores, models = tables()
    gone = of(scores, "proxy") & (scores["model"] == "m03")
    nowhere = models.loc[models["model"] != "m05"].copy()
    nowhere["proficiency"] = nowhere["proficiency"].astype(object)
    nowhere.loc[nowhere["model"] == "m07", "proficiency"] = None
    result = run(scores.loc[~gone], nowhere)
    assert main(result)["n_models"] == 17
    assert result.ranking.loc[0, "n_models"] == 18
    assert dict(result.dropped[["model", "reason"]].to_numpy()) == {
        "m03": "no proxy score",
        "m05": "not in the model table",
        "m07": "no value of proficiency",
    }


def test_no_model_on_both_sides() -> None:
    scores, models = tables()
    rows = of(scores, "proxy")
    scores.loc[rows, "model"] = "x" + scores.loc[rows, "model"]
    with pytest.raises(NotEstimable, match="0 of 40 models have all that is needed"):
        run(scores, models)


def test_ids_that_differ_throughout() -> None:
    scores, models = tables()
    with pytest.raises(NoCommonModel, match="'m00'"):
        run(scores.assign(model=scores["model"] + "-it"), models)


def test_a_proxy_that_is_the_native_benchmark_under_another_name() -> None:
    scores, models = tables()
    copy = scores.loc[of(scores, "native")].assign(benchmark="copy")
    result = run(pd.concat([scores, copy]), models, replace(PAIRING, proxy="copy"))
    assert "copy of the native benchmark" in main(result)["reason"]
    assert result.ranking.loc[0, "tau"] == 1
    assert np.isnan(result.ranking.loc[0, "lower"])
    assert "the same in every resample" in result.ranking.loc[0, "reason"]


def test_a_negative_coefficient_is_never_robust_and_is_called_negative() -> None:
    scores, models = tables()
    rows = of(scores, "native")
    scores.loc[rows, "accuracy"] = 1 - scores.loc[rows, "accuracy"]
    result = run(scores, models, replace(PAIRING, controls=()))
    assert result.evidence.loc[0, "evidence"] == "marginal"
    assert "coefficient is negative" in verdict(result, replace(PAIRING, controls=()))


def test_families_too_large_to_be_left_out_are_named() -> None:
    scores, models = tables()
    large = models.assign(family=["big"] * 16 + ["small"] * 4)
    result = run(scores, large)
    evidence = result.evidence.loc[0]
    assert (evidence["evidence"], evidence["lofo_passed"], evidence["lofo_refits"]) == ("undetermined", 1, 2)
    assert evidence["reason"] == "1 of 2 refits cannot be done (big: 4 models, but at least 6 are needed)"
    assert "not fully known: 1 of 2 refits" in verdict(result, PAIRING)


def test_scores_that_differ_by_a_billionth_are_regressed_all_the_same() -> None:
    scores, models = tables()
    tiny = run(scores.assign(accuracy=0.5 + 1e-9 * scores["accuracy"]), models)
    plain = run(scores, models)
    assert main(tiny)["r2_ext"] == pytest.approx(main(plain)["r2_ext"], rel=1e-5)
    assert main(tiny)["beta_lower"] == pytest.approx(main(plain)["beta_lower"], rel=1e-4)


def test_few_families_cannot_be_resampled() -> None:
    scores, models = tables()
    few = models.assign(family=[f"f{j % 5}" for j in range(len(models))])
    result = study(PairingFile((PAIRING,)), scores, few, Settings(500, repeats=5, resample="families"))
    assert np.isnan(main(result)["beta_lower"])
    assert main(result)["reason"] == "no interval: 5 families, but resampling them needs 6"
    assert result.evidence.loc[0, "evidence"] == "undetermined"
    assert "no interval: 5 families" in verdict(result, PAIRING)


def test_one_bad_pairing_does_not_spoil_the_others() -> None:
    scores, models = tables()
    flat = scores.loc[of(scores, "native")].assign(benchmark="flat", accuracy=0.5)
    plan = PairingFile((PAIRING, replace(PAIRING, name="Q", native="flat")))
    result = study(plan, pd.concat([scores, flat]), models, FAST)
    assert result.evidence["evidence"].tolist() == ["robust", "undetermined"]


def test_a_share_of_cs_items_is_not_made_from_half_the_counts() -> None:
    scores, models = tables()
    scores["n_items"] = scores["n_items"].astype(object)
    scores.loc[of(scores, "native") & (scores["subset"] == "CS"), "n_items"] = ""
    row = run(scores, models).locality.loc[0]
    assert np.isnan(row["cs_share"])
    assert row["reason"] == "number of CA and CS items not known; give n_items or cs_share"


def test_block_a_says_which_part_of_the_benchmark_is_constant() -> None:
    rows = [
        (f"m{j}", item, subset, int(j > item) if subset == "CA" else 1)
        for j in range(6)
        for item, subset in enumerate(["CA", "CA", "CA", "CS", "CS"])
    ]
    answers = pd.DataFrame(rows, columns=["model", "item", "subset", "correct"])
    scores = read_scores(answers.assign(benchmark="b", language="sv"))
    models = pd.DataFrame({"family": "f"}, index=sorted(set(answers["model"])))
    row = balance_row("b", "sv", scores, models, FAST)
    assert np.isnan(row["tau"])
    assert row["reason"] == "all 6 models have the same score on the CS part of this benchmark"


def test_given_accuracies_tie_whatever_the_noise_of_their_last_digit() -> None:
    scores, models = tables()
    clean = scores.assign(accuracy=scores["accuracy"].round(1))  # many ties
    noise = np.where(np.arange(len(clean)) % 2, 4e-16, -3e-16)
    pd.testing.assert_frame_equal(
        run(clean.assign(accuracy=clean["accuracy"] + noise), models).ranking, run(clean, models).ranking
    )
