"""Which rows belong to a locale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv import errors
from maskedadv.design.accuracy_filter import filter_models
from maskedadv.design.answered import Answered
from maskedadv.design.blocks import build_block, choose_locales, observed_values
from maskedadv.responses import read_responses
from tests.simulate import table


def test_a_locale_takes_pivot_answers_to_its_own_items_only() -> None:
    """English answers to French-only items serve fr, not zh; shared English answers serve both."""
    rows = []
    for item, languages in {
        "both": ("en", "fr", "zh"),
        "only-fr": ("en", "fr"),
        "only-zh": ("en", "zh"),
        "only-en": ("en",),
    }.items():
        rows += [("m", "CA", language, item, 1) for language in languages]
    read = read_responses(pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"]))
    answered = Answered(read, observed_values(read, "binary"))
    for locale, expected in {"fr": {"both", "only-fr"}, "zh": {"both", "only-zh"}}.items():
        block = build_block(answered, subset=0, locales=[locale], pivot="en")
        assert block is not None
        assert set(block.item) == expected
        assert {str(k) for k in block.language} == {"en", locale}
    together = build_block(answered, subset=0, locales=["fr", "zh"], pivot="en")
    assert together is not None
    assert set(together.item) == {"both", "only-fr", "only-zh"}
    assert together.answers.shape == (3, 3)


def test_blocks_hold_every_answer_once() -> None:
    frame = table(3, (20, 15), locales=("fr", "zh"), missing=0.3, seed=1)
    read = read_responses(frame)
    answered = Answered(read, observed_values(read, "binary"))
    for s, subset in enumerate(("CA", "CS")):
        block = build_block(answered, subset=s, locales=["zh"], pivot="en")
        assert block is not None
        asked = set(frame[(frame["language"] == "zh") & (frame["subset"] == subset)]["item"])
        own = frame[
            (frame["subset"] == subset) & frame["language"].isin(["zh", "en"]) & frame["item"].isin(asked)
        ]
        assert np.nansum(block.answers) == own["correct"].sum()
        assert (~np.isnan(block.answers)).sum() == len(own)


def test_locales_are_chosen_or_refused() -> None:
    read = read_responses(table(1, (4, 4), locales=("fr", "zh")))
    assert choose_locales(read, None, "en") == ["fr", "zh"]
    assert choose_locales(read, ["zh"], "en") == ["zh"]
    assert choose_locales(read, None, "fr") == ["en", "zh"]
    for bad, words in (
        (["xx"], "choose from fr, zh"),
        (["en"], "pivot itself"),
        (["zh", "zh"], "twice"),
        ([], "no locale"),
    ):
        with pytest.raises(errors.UnknownLocale, match=words):
            choose_locales(read, bad, "en")
    with pytest.raises(errors.PivotMissing, match="found: en, fr, zh"):
        choose_locales(read, None, "de")


def test_the_floor_is_exclusive_and_per_locale() -> None:
    """A model at exactly 0.35 in one cell goes, in that locale only (the paper keeps accuracy > 0.35)."""
    frame = table(3, (20, 20), locales=("fr", "zh"), gaps=(0, 0), seed=1)
    at = (frame["model"] == "m1") & (frame["subset"] == "CS") & (frame["language"] == "zh")
    frame.loc[at, "correct"] = [1] * 7 + [0] * 13
    read = read_responses(frame)
    answered = Answered(read, observed_values(read, "binary"))
    keep, dropped = filter_models(answered, ["fr", "zh"], "en", 0.35)
    assert keep.tolist() == [[True, True, True], [True, False, True]]
    (only,) = dropped
    seen = (only.locale, only.model, only.subset, only.language, only.accuracy)
    assert seen == ("zh", "m1", "CS", "zh", 0.35)
    keep, dropped = filter_models(answered, ["fr", "zh"], "en", 0.3499)
    assert keep.all()
    fit = maskedadv.fit(frame)
    assert fit.info.dropped[0].model == "m1"
    assert "m1 in zh" in " ".join(fit.warnings)
    assert set(fit.gaps(locale="zh")["model"]) == {"m0", "m2"}
    assert set(fit.gaps(locale="fr")["model"]) == {"m0", "m1", "m2"}
    assert "gaps are not known" not in " ".join(fit.warnings)
    note = fit.cube["note"].sel(locale="zh", model="m1", variant="plain")
    assert set(note.values) == {"left out: accuracy at or under 0.35 in some cell"}


def test_answers_that_enter_are_counted_once() -> None:
    """Empty answers, those of other locales and those of models left out are not."""
    frame = table(3, (20, 20), locales=("fr", "zh"), seed=1)
    frame["correct"] = frame["correct"].astype("Int64")
    frame.loc[::7, "correct"] = pd.NA
    observed = frame[frame["correct"].notna()]
    fit = maskedadv.fit(frame, min_accuracy=0)
    assert fit.info.answers == maskedadv.check(frame, min_accuracy=0).answers == len(observed)
    assert fit.info.rows == len(frame)
    assert (
        maskedadv.fit(frame, min_accuracy=0, locale="zh").info.answers == (observed["language"] != "fr").sum()
    )
    nobody = (frame["language"] == "zh") & (frame["model"] == "m1")
    frame.loc[nobody & frame["correct"].notna(), "correct"] = 0
    assert maskedadv.fit(frame).info.answers == (~nobody & frame["correct"].notna()).sum()


def test_a_floor_that_leaves_nobody_is_refused_and_zero_keeps_all() -> None:
    frame = table(2, (20, 20), seed=1)
    frame["correct"] = (np.arange(len(frame)) % 4 == 0).astype(int)
    with pytest.raises(errors.NothingLeft, match=r"'zh'.*--min-accuracy"):
        maskedadv.fit(frame)
    rare = table(2, (20, 20), seed=1)
    rare.loc[(rare["model"] == "m0") & (rare["language"] == "zh"), "correct"] = 0
    assert maskedadv.fit(rare, min_accuracy=0).info.dropped == ()


def test_uninformative_items_are_set_aside_counted_and_reported() -> None:
    frame = table(2, (30, 30), seed=1)
    frame.loc[frame["item"] == "CA0", "correct"] = 1
    fit = maskedadv.fit(frame, min_accuracy=0)
    item = fit.items.set_index("item").loc["CA0"]
    assert not item["informative"]
    assert item["difficulty"] == -np.inf
    counted = fit.items.groupby("subset")["informative"].apply(lambda v: int((~v).sum()))
    assert {b["subset"]: b["uninformative_items"] for b in fit.info.blocks} == counted.to_dict()
    for _, rows in fit.items[np.isfinite(fit.items["difficulty"])].groupby("subset"):
        assert abs(rows["difficulty"].sum()) < 1e-8


def test_blocks_are_the_same_however_sparse_a_language_is(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(5, (30, 25), locales=("fr", "zh"), missing=0.3, seed=3)
    read = read_responses(frame)
    values = observed_values(read, "binary")
    whole = [
        build_block(Answered(read, values), subset=s, locales=["fr", "zh"], pivot="en", wrong_if_missing=w)
        for s in (0, 1)
        for w in (False, True)
    ]
    monkeypatch.setattr("maskedadv.design.answered._ROOM", 0)
    apart = Answered(read, values)
    for block, (s, w) in zip(whole, [(s, w) for s in (0, 1) for w in (False, True)], strict=True):
        again = build_block(apart, subset=s, locales=["fr", "zh"], pivot="en", wrong_if_missing=w)
        assert block is not None
        assert again is not None
        np.testing.assert_array_equal(block.answers, again.answers)
        assert (block.model.tolist(), block.item.tolist()) == (again.model.tolist(), again.item.tolist())
