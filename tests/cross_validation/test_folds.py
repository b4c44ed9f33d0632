"""Folds: the same for all, spread evenly, and never a parameter without an answer to learn from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.cross_validation.folds import NEVER, SCHEMES, Folds, assign_folds, spare
from maskedadv.design.prepare import Design, prepare
from maskedadv.responses import Responses, read_responses
from maskedadv.settings import Settings
from tests.simulate import table


def folds_of(
    frame: pd.DataFrame, scheme: str, count: int = 5, seed: int = 1
) -> tuple[Responses, Folds, Design]:
    responses = read_responses(frame)
    assert responses.correct is not None
    folds = assign_folds(responses, ~np.isnan(responses.correct), scheme, count, seed)
    return responses, folds, prepare(responses, Settings(min_accuracy=0))


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Few or many models, items and holes, and locales that share some items only."""
    frame = table(
        models=draw(st.integers(1, 9)),
        items=(draw(st.integers(2, 14)), draw(st.integers(2, 14))),
        locales=("fr", "zh"),
        missing=draw(st.sampled_from([0.0, 0.2, 0.6])),
        seed=draw(st.integers(0, 10**6)),
    )
    # so that a locale never shares nothing
    always = [("m0", "CA", language, "always there", 1) for language in ("zh", "en", "fr")]
    frame = pd.concat([frame, pd.DataFrame(always, columns=frame.columns)], ignore_index=True)
    if draw(st.booleans()):
        frame = frame[~((frame["language"] == "fr") & (frame["model"] == "m0") & (frame["subset"] == "CS"))]
    return frame


@given(tables(), st.sampled_from(sorted(SCHEMES)), st.integers(2, 7))
def test_no_fold_leaves_a_parameter_without_an_answer(frame: pd.DataFrame, scheme: str, count: int) -> None:
    """Every ability and every difficulty of every block, whatever is missing; new items and models aside."""
    _, folds, design = folds_of(frame, scheme, count)
    for block in design.blocks:
        fold = folds.of_block(block)
        seen = ~np.isnan(block.answers)
        assert (np.isnan(fold) == ~seen).all(), "every answer has a fold or is spared, and nothing else has"
        assert np.isin(fold[seen], [NEVER, *range(count)]).all()
        for k in range(count):
            left = seen & (fold != k)
            if scheme != "model":
                assert left.any(axis=1)[seen.any(axis=1)].all()
            if scheme != "item":
                assert left.any(axis=0)[seen.any(axis=0)].all()


def test_block_folds_are_a_latin_square() -> None:
    """Item groups × model groups: a model's answers to an item go together, and every fold has its share."""
    _, folds, design = folds_of(table(models=10, items=(50, 50), locales=("fr", "zh")), "block")
    for block in design.blocks:
        fold = folds.of_block(block)
        assert (fold != NEVER).all()
        by_model = {m: fold[block.model == m] for m in np.unique(block.model)}
        for own in by_model.values():
            assert (own == own[0]).all(), "both languages of an item are held out together"
            assert (np.bincount(own[0].astype(int), minlength=5) == 10).all()
        stacked = np.stack([own[0] for own in by_model.values()])
        for item in stacked.T:
            assert (np.bincount(item.astype(int), minlength=5) == 2).all(), "every fold has two of ten models"
        # Rows and columns of the square: the fold is a sum of a group of models and one of items.
        assert ((stacked - stacked[0]) % 5 == ((stacked[:, :1] - stacked[0, 0]) % 5)).all()


def test_whole_items_and_whole_models_go_together() -> None:
    frame = table(models=10, items=(40, 40), locales=("fr", "zh"))
    for scheme, axis in (("item", 0), ("model", 1)):
        _, folds, design = folds_of(frame, scheme)
        for block in design.blocks:
            fold = folds.of_block(block)
            if axis == 0:
                assert (fold == fold[0]).all()
            else:
                assert (fold == fold[:, :1]).all()


def test_random_folds_are_spread_over_every_cell() -> None:
    _, folds, design = folds_of(table(models=4, items=(50, 50)), "random")
    for block in design.blocks:
        for row in folds.of_block(block):
            assert (np.bincount(row.astype(int), minlength=5) == 10).all()


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_an_answer_has_one_fold_in_every_locale_and_order_of_rows(scheme: str) -> None:
    frame = table(models=6, items=(30, 30), locales=("fr", "zh"), missing=0.1)
    _, folds, design = folds_of(frame, scheme)
    _, shuffled, _ = folds_of(frame.sample(frac=1.0, random_state=3), scheme)
    assert (folds.fold == shuffled.fold).all()
    english: dict[tuple[str, str], float] = {}
    for block in design.blocks:
        rows = block.language == "en"
        for m, row in zip(block.model[rows], folds.of_block(block)[rows], strict=True):
            for i, k in zip(block.item, row, strict=True):
                if not np.isnan(k) and k != NEVER:
                    assert english.setdefault((m, i), k) == k


def test_another_seed_gives_other_folds() -> None:
    frame = table(models=6, items=(30, 30))
    assert (folds_of(frame, "block", seed=1)[1].fold != folds_of(frame, "block", seed=2)[1].fold).any()


def test_what_is_alone_in_its_fold_is_spared() -> None:
    """By hand: the second item is seen by cells of fold 1 only, the last cell saw one item."""
    fold = np.array([[0.0, 1.0, np.nan], [1.0, 1.0, 0.0], [np.nan, np.nan, 2.0]])
    expected = np.array([[0.0, NEVER, np.nan], [1.0, NEVER, 0.0], [np.nan, np.nan, NEVER]])
    np.testing.assert_array_equal(spare(fold, "block"), expected)
