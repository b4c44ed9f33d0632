"""Missing answers at both ends: left out, and counted wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.errors import BadSetting
from tests.cli.test_commands import run
from tests.simulate import table


def holes(*, uneven: bool, seed: int = 1) -> pd.DataFrame:
    """True gaps −1 in both subsets; a share of the answers is empty, or of the wrong local CS ones."""
    rng = np.random.default_rng(seed)
    answers = table(5, (150, 150), (-1.0, -1.0), seed=seed)
    hard = (answers["subset"] == "CS") & (answers["language"] == "zh") & (answers["correct"] == 0)
    chosen = hard & (rng.random(len(answers)) < 0.4) if uneven else rng.random(len(answers)) < 0.05
    return answers.assign(correct=answers["correct"].where(~chosen))


@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_wrong_is_what_zeros_in_the_table_give(estimator: str) -> None:
    answers = holes(uneven=False)
    ours = maskedadv.fit(answers, estimator=estimator, min_accuracy=0, missing="wrong")
    filled = maskedadv.fit(answers.fillna({"correct": 0}), estimator=estimator, min_accuracy=0)
    dropped = maskedadv.fit(answers.dropna(), estimator=estimator, min_accuracy=0)
    assert ours.other is not None
    assert filled.other is None
    for variant in ("plain", "paired"):
        for one, other in ((ours, filled), (ours.at_end("left-out"), dropped)):
            a, b = one.gaps(variant=variant), other.gaps(variant=variant)
            assert a["estimate"].to_numpy() == pytest.approx(b["estimate"].to_numpy(), abs=1e-6)
            assert a["sd"].to_numpy() == pytest.approx(b["sd"].to_numpy(), abs=1e-6)


def test_rows_that_are_not_there_are_missing_too() -> None:
    answers = holes(uneven=False)
    empty = maskedadv.fit(answers, estimator="marginal", min_accuracy=0, missing="wrong")
    absent = maskedadv.fit(answers.dropna(), estimator="marginal", min_accuracy=0, missing="wrong")
    pd.testing.assert_frame_equal(empty.gaps(), absent.gaps())


def test_both_ends_where_answers_are_missing_unevenly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The truth 0 lies between: plain is drawn up by left-out answers, and right if they were wrong."""
    answers = holes(uneven=True)
    answers.to_csv(tmp_path / "answers.csv", index=False)
    fit = maskedadv.fit(answers, estimator="marginal", min_accuracy=0)
    assert fit.other is not None
    left, wrong = (
        end.means(gap="knowledge_gap").iloc[0] for end in (fit.at_end("left-out"), fit.at_end("wrong"))
    )
    assert left["estimate"] > wrong["estimate"] + 0.2
    assert abs(wrong["estimate"]) < 3 * wrong["sd"]
    about = [w for w in fit.warnings if "missing" in w]
    assert len(about) == 1
    assert "--missing wrong" in about[0]

    fit.save(tmp_path / "result")
    again = maskedadv.load(tmp_path / "result")
    pd.testing.assert_frame_equal(again.at_end("wrong").gaps(), fit.at_end("wrong").gaps())
    code, out, _ = run(capsys, "gaps", tmp_path / "result")
    assert code == 0
    shown = " ".join(out.split())
    assert "With missing answers counted wrong, plain: the mean" in shown
    assert "change their sign" in shown
    code, out, _ = run(capsys, "gaps", tmp_path / "result", "--missing", "wrong", "--variant", "plain")
    assert code == 0
    assert f"{wrong['estimate']:.2f}" in out


def test_one_end_only_where_it_is_asked_for() -> None:
    fit = maskedadv.fit(holes(uneven=True), estimator="marginal", min_accuracy=0, missing="left-out")
    assert fit.other is None
    assert fit.at_end("left-out") is fit
    with pytest.raises(BadSetting, match="--missing wrong to have both"):
        fit.at_end("wrong")
    even = maskedadv.fit(holes(uneven=False), estimator="marginal", min_accuracy=0)
    assert even.other is None
    with pytest.raises(BadSetting, match="log-odds"):
        maskedadv.Settings(missing="wrong", response="crm")


def test_accuracy_in_the_pivot_alone_keeps_who_is_poor_in_the_local_language() -> None:
    answers = table(4, (80, 80), (-4.0, -4.0), seed=2)
    assert not maskedadv.check(answers).fittable
    assert maskedadv.check(answers, min_accuracy_on="pivot").fittable
    fit = maskedadv.fit(answers, estimator="marginal", min_accuracy_on="pivot", variants="none")
    assert fit.cube.sizes["model"] == 4
    weak = table(4, (80, 80), (0.0, 0.0), seed=2)
    weak.loc[(weak["model"] == "m1") & (weak["language"] == "en"), "correct"] = 0
    for on in ("all", "pivot"):
        assert {d.model for d in maskedadv.check(weak, min_accuracy_on=on).dropped} == {"m1"}


@pytest.mark.parametrize("spread", [0.0, 2.5])
def test_inflation_is_measured_and_not_less_than_the_formula(spread: float) -> None:
    """Joint estimation inflates more than C/(C − 1) where items spread; the gaps' ratio says how much."""
    rng = np.random.default_rng(3)
    rows = []
    for subset in ("CA", "CS"):
        b = spread * rng.standard_normal(400)
        for j in range(2):
            for language, shift in (("en", 0.5), ("zh", -1.5)):
                right = rng.random(400) < 1 / (1 + np.exp(b - shift))
                rows += [(f"m{j}", subset, language, f"{subset}{i}", int(v)) for i, v in enumerate(right)]
    answers = pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])
    joint = maskedadv.fit(answers, min_accuracy=0, variants="none")
    (told,) = [w for w in joint.warnings if "inflates" in w]
    printed = float(told.split("here to ")[1].split()[0])
    means = joint.means()["estimate"][:2] / -2.0
    assert printed == pytest.approx(means.mean(), rel=0.12)
    assert printed > 1.3
    if spread:
        assert printed > 1.34
