"""`check` says yes exactly where `fit` fits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv import errors
from maskedadv.cli.main import main
from tests.simulate import table


def fits(frame: pd.DataFrame, **arguments: object) -> bool:
    try:
        maskedadv.fit(frame, link="none", **arguments)  # type: ignore[arg-type]
    except errors.MaskedadvError:
        return False
    return True


def says(frame: pd.DataFrame, **arguments: object) -> bool:
    try:
        return maskedadv.check(frame, **arguments).fittable  # type: ignore[arg-type]
    except errors.InputError:
        return False


def agree(frame: pd.DataFrame, **arguments: object) -> bool:
    """What both say of a table with one locale."""
    verdict = says(frame, **arguments)
    assert verdict == fits(frame, **arguments), (verdict, arguments)
    return verdict


def soft(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return frame.assign(
        p_correct=np.clip(0.2 + 0.6 * frame["correct"] + rng.normal(0, 0.1, len(frame)), 0, 1)
    )


@pytest.mark.parametrize("response", ["binary", "soft", "crm"])
def test_a_good_table_passes_under_every_response(response: str):
    assert agree(soft(table(3, (20, 15), seed=1)), response=response, min_accuracy=0.0)


@pytest.mark.parametrize("response", ["soft", "crm"])
def test_a_table_without_probabilities_is_refused_by_both(response: str):
    assert not agree(table(3, (20, 15), seed=1), response=response, min_accuracy=0.0)


def test_answers_that_are_all_right_are_for_the_continuous_response_only():
    """Logits have a finite mean where right and wrong have none: `check` said no to what `fit` fits."""
    frame = table(2, (12, 10), seed=1)
    frame["correct"] = 1
    frame["p_correct"] = np.random.default_rng(1).uniform(0.6, 0.95, len(frame))
    assert agree(frame, response="crm", min_accuracy=0.0)
    assert not agree(frame, response="binary", min_accuracy=0.0)


def test_separated_answers_need_the_marginal_estimator():
    """One language never fails where the other succeeds: `check` said yes and `fit` ended with 1."""
    rows = [
        (model, subset, language, f"{subset}{i}", int(i < (4 if language == "zh" else 8)))
        for model in ("a", "b")
        for subset in ("CA", "CS")
        for language in ("zh", "en")
        for i in range(12)
    ]
    frame = pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])
    assert not agree(frame, min_accuracy=0.0)
    swapped = frame["item"].isin(["CA3", "CS3"]) & (frame["model"] == "a") & (frame["language"] == "en")
    frame.loc[swapped, "correct"] = 0
    assert agree(frame, estimator="marginal", min_accuracy=0.0)


def test_a_locale_without_local_answers_of_a_subset_is_told_alike():
    frame = table(3, (20, 15), seed=1)
    local = frame["language"] == "zh"
    assert agree(frame[~(local & (frame["subset"] == "CA"))], min_accuracy=0.0)
    apart = frame[~(local & (frame["subset"] == "CS"))].copy()
    cut = (apart["subset"] == "CA") & (apart["language"] == "zh")
    apart.loc[cut, "item"] = "other " + apart.loc[cut, "item"]
    assert not agree(apart, min_accuracy=0.0)


def test_an_item_with_two_numbers_of_options_is_refused_by_both():
    frame = table(3, (20, 15), seed=1).assign(n_options=4)
    frame.loc[0, "n_options"] = 5
    assert not agree(frame, min_accuracy=0.0)
    assert agree(frame, min_accuracy=0.0, guessing="none")
    assert not agree(frame.drop(columns="n_options"), min_accuracy=0.0, guessing="chance")


def test_a_locale_that_the_accuracy_filter_empties_is_named_and_the_others_pass():
    frame = table(3, (20, 20), locales=("fr", "zh"), gaps=(0, 0), seed=1)
    frame.loc[frame["language"] == "zh", "correct"] = 0
    found = maskedadv.check(frame)
    assert not found.locales()["fr"]
    assert "accuracy" in found.locales()["zh"]
    for locale, why in found.locales().items():
        assert fits(frame, locale=locale) == (not why)


def test_random_small_tables_are_judged_alike():
    rng = np.random.default_rng(11)
    verdicts = []
    for _ in range(60):
        models, items = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        frame = table(
            models, (items, items), missing=float(rng.choice([0.0, 0.4])), seed=int(rng.integers(1e6))
        )
        estimator = str(rng.choice(["joint", "marginal", "auto"]))
        verdicts.append(agree(frame, estimator=estimator, min_accuracy=0.0))
    assert 10 < sum(verdicts) < 55


def test_the_command_takes_the_options_of_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    frame = soft(table(3, (20, 15), seed=1)).drop(columns="correct")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for response in ("soft", "crm"):
        with pytest.raises(SystemExit) as left:
            main(["check", str(tmp_path / "t.csv"), "--response", response, "--min-accuracy", "0"])
        assert left.value.code == 0
        assert f"({response})" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["check", str(tmp_path / "t.csv"), "--response", "binary"])
    assert left.value.code == 2
