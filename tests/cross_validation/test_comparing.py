"""Who wins on data whose truth is known, and what a comparison refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.cross_validation import load_comparison, scores
from maskedadv.cross_validation.candidates import CANDIDATES
from maskedadv.cross_validation.saving import save_comparison
from maskedadv.errors import BadSetting, NoOptions, NotAResult, NotEstimable, WrongResponse
from maskedadv.responses import read_responses
from tests.cross_validation.simulate import answers
from tests.simulate import table


def test_binary_beats_probabilities_too_noisy_to_tell_more() -> None:
    """Noise of 4 logits: a logit then tells less of θ − b than right or wrong does."""
    found = maskedadv.compare(
        answers(24, 100, noise=4.0), candidates=["joint", "marginal", "crm", "soft"], min_accuracy=0
    )
    for binary in ("joint", "marginal"):
        assert found.difference(binary, "crm")["upper"] < 0
        assert found.difference(binary, "soft")["upper"] < 0


def test_probabilities_without_noise_tell_more_than_right_and_wrong() -> None:
    """The other way round, so that the test above is not won by a fault in `crm`."""
    found = maskedadv.compare(answers(24, 100, noise=0.1), candidates=["joint", "crm"], min_accuracy=0)
    assert found.difference("crm", "joint")["upper"] < 0


def test_pair_effects_win_where_there_are_some_and_tie_where_there_are_none() -> None:
    """Single answers held out: the model's other answer to the item is there to be learned from."""
    with_them, without = (
        maskedadv.compare(
            answers(12, 120, model_item=m, seed=3),
            scheme="random",
            candidates=["marginal", "pairs"],
            min_accuracy=0,
        ).difference("pairs", "marginal")
        for m in (1.5, 0.0)
    )
    assert with_them["upper"] < -0.005
    assert without["lower"] < 0 < without["upper"]
    assert abs(without["difference"]) < 0.002


def test_differences_are_not_clear_more_often_than_chance_has_it() -> None:
    """The truth, predicted twice with equal blur: the interval excludes zero in about one set of twenty."""
    clear = 0
    for seed in range(200):
        rng = np.random.default_rng([21, seed])
        eta = rng.normal(size=(12, 60)) + 1.5 * rng.normal(size=60)
        y = (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float)
        item = np.broadcast_to(np.arange(60), eta.shape)
        blur = [
            1 / (1 + np.exp(-eta - 0.5 * rng.normal(size=60))) for _ in range(2)
        ]  # shared by an item's answers
        one, other = (scores.losses(y, p).ravel() for p in blur)
        mean, sd = scores.clustered_difference(one, other, item.ravel())
        clear += abs(mean) > 2.0 * sd
    assert 2 <= clear <= 22, clear


def test_all_candidates_are_scored_on_the_same_answers_in_every_scheme() -> None:
    frame = answers(5, 12).assign(n_options=4)
    for scheme in ("block", "random", "item", "model"):
        found = maskedadv.compare(frame, scheme=scheme, folds=3, min_accuracy=0)
        lost = found.scores.set_index("candidate")["fallback"]
        assert (lost.drop("paired+floor") == 0).all(), "which has no finite estimate for so few pairs"
        ours = [c.name for c in CANDIDATES if c.method == "optimize" and (c.new_items or scheme != "item")]
        assert sorted(found.scores["candidate"]) == sorted(ours)
        assert found.predictions is not None
        p = found.predictions[ours]
        assert ((p > 0) & (p < 1)).all(axis=None)
        assert len(p) == found.info["answers"]
        keys = ["locale", "model", "language", "item"]
        assert not found.predictions[keys].duplicated().any()
        observed = frame.set_index(["model", "language", "item"])["correct"]
        again = observed.loc[list(zip(*(found.predictions[k] for k in keys[1:]), strict=True))]
        assert (again.to_numpy() == found.predictions["correct"].to_numpy()).all()


def test_what_is_held_out_does_not_reach_its_prediction() -> None:
    """Turning all answers of one fold round changes no prediction of that fold, by any candidate."""
    frame = answers(5, 15).assign(n_options=4)
    before = maskedadv.compare(frame, folds=3, min_accuracy=0)
    assert before.predictions is not None
    out = before.predictions[before.predictions["fold"] == 2]
    at = frame.set_index(["model", "language", "item"]).index.isin(
        list(zip(out["model"], out["language"], out["item"], strict=True))
    )
    assert 0 < at.sum() < len(frame)
    turned = frame.copy()
    turned.loc[at, "correct"] = 1 - turned.loc[at, "correct"]
    turned.loc[at, "p_correct"] = 1 - turned.loc[at, "p_correct"]
    after = maskedadv.compare(turned, folds=3, min_accuracy=0)
    assert after.predictions is not None
    names = list(before.scores["candidate"])
    mine = after.predictions["fold"] == 2
    np.testing.assert_allclose(
        after.predictions.loc[mine, names], before.predictions.loc[mine, names], atol=1e-9
    )
    assert (after.predictions.loc[~mine, "marginal"] != before.predictions.loc[~mine, "marginal"]).any()


def test_jobs_change_no_number() -> None:
    frame = answers(5, 20)
    names = ["joint", "marginal"]
    one, two = (maskedadv.compare(frame, folds=3, min_accuracy=0, candidates=names, jobs=n) for n in (1, 2))
    pd.testing.assert_frame_equal(one.by_fold, two.by_fold)


def test_a_comparison_comes_back_from_its_folder(tmp_path: Path) -> None:
    found = maskedadv.compare(answers(5, 20), folds=3, min_accuracy=0, candidates=["joint", "marginal"])
    save_comparison(found, tmp_path / "out")
    back = load_comparison(tmp_path / "out")
    for name in ("scores", "by_fold", "by_group", "calibration"):
        pd.testing.assert_frame_equal(getattr(back, name), getattr(found, name), check_dtype=False)
    assert dict(back.info) == dict(found.info)
    assert back.notes == found.notes
    assert back.difference("joint", "marginal") == pytest.approx(found.difference("joint", "marginal"))
    (tmp_path / "out" / "scores.csv").write_text("no,table\n")
    with pytest.raises(NotAResult, match="compare again"):
        load_comparison(tmp_path / "out")
    with pytest.raises(NotAResult, match="no comparison"):
        load_comparison(tmp_path)


def test_probabilities_of_some_answers_only() -> None:
    frame = answers(6, 25)
    frame.loc[::7, "p_correct"] = np.nan
    by_itself = maskedadv.compare(frame, folds=3, min_accuracy=0)
    assert "crm" not in set(by_itself.scores["candidate"])
    assert any("answers have no probability" in note for note in by_itself.notes)
    assert by_itself.info["answers"] == len(frame)
    named = maskedadv.compare(frame, folds=3, min_accuracy=0, candidates=["crm", "joint"])
    assert named.info["answers"] == frame["p_correct"].notna().sum()


def test_what_cannot_be_compared_is_said() -> None:
    frame = table(models=4, items=(10, 10))
    with pytest.raises(WrongResponse, match="p_correct"):
        maskedadv.compare(frame, candidates=["crm"])
    with pytest.raises(NoOptions, match="guessing floor"):
        maskedadv.compare(frame, candidates=["floor"])
    with pytest.raises(BadSetting, match="new items"):
        maskedadv.compare(frame, scheme="item", candidates=["joint"])
    with pytest.raises(BadSetting, match="is unknown; there are"):
        maskedadv.compare(frame, candidates=["rasch"])
    with pytest.raises(BadSetting, match="folds must be a whole number"):
        maskedadv.compare(frame, folds=1)
    with pytest.raises(BadSetting, match="3 folds or more"):
        maskedadv.compare(frame, folds=2)
    with pytest.raises(BadSetting, match="scheme must be one of"):
        maskedadv.compare(frame, scheme="latin")
    with pytest.raises(TypeError, match="unexpected keyword"):
        maskedadv.compare(frame, estimator="joint")
    only_p = frame.assign(p_correct=0.5).drop(columns="correct")
    with pytest.raises(WrongResponse, match="none in a column 'correct'"):
        maskedadv.compare(read_responses(only_p))
    with pytest.raises(NotEstimable, match="holds out no answer"):
        maskedadv.compare(table(models=1, items=(10, 10)), min_accuracy=0)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_hostile_tables_end_in_numbers(missing: float) -> None:
    """All right, all wrong, one subset, a model without one language, models that share no item."""
    frame = table(models=6, items=(12, 6), missing=missing, seed=4)
    frame.loc[frame["model"] == "m0", "correct"] = 1
    frame.loc[(frame["model"] == "m1") & (frame["language"] == "zh"), "correct"] = 0
    frame.loc[frame["item"].isin(["CA0", "CS0"]), "correct"] = 1
    frame = frame[~((frame["model"] == "m2") & (frame["language"] == "zh"))]
    apart = frame["model"].isin(["m3", "m4"])
    frame.loc[apart, "item"] = frame.loc[apart, "item"] + "x"
    frame = frame.assign(n_options=4)
    for own, scheme in ((frame, "block"), (frame, "model"), (frame[frame["subset"] == "CA"], "random")):
        found = maskedadv.compare(own, scheme=scheme, folds=3, min_accuracy=0)
        assert np.isfinite(found.scores[["bce", "brier", "accuracy"]].to_numpy()).all()
