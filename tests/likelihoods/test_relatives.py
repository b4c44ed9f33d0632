"""Residual correlations: 0 under the Rasch model, 1 for copies, the shared part for relatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv import datasets
from maskedadv.likelihoods.relatives import find_relatives, language_covariances
from tests.simulate import block, copies, expit, languages


def relatives_of(answers: np.ndarray):
    return find_relatives(language_covariances(*languages(answers)), answers.shape[1])


def test_no_model_is_a_relative_where_the_rasch_model_holds() -> None:
    for models in (2, 8, 30):
        found = relatives_of(block(np.random.default_rng(models), -0.8, models, 600))
        assert found.groups == ()
        off = found.correlation[np.triu_indices(models, 1)]
        assert abs(off.mean()) < 0.06
        assert off.std() < 1.6 * found.sd[0, 1] or models == 2


@pytest.mark.parametrize(
    ("models", "items", "spread", "locales"), [(200, 30, 1.0, 1), (20, 60, 2.0, 1), (20, 40, 1.5, 6)]
)
def test_no_model_is_a_relative_where_items_are_few(
    models: int, items: int, spread: float, locales: int
) -> None:
    """Many pairs, items that spread wide, English answers that stand in every locale's part: 6 tables."""
    false = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        ability = 0.7 + 0.5 * rng.standard_normal(models)
        parts = []
        for gap in (-0.8, -0.3):
            b = spread * rng.standard_normal(items)
            shifts = [0.0, *[gap] * locales]
            p = expit(ability[:, None] + np.array(shifts)[:, None, None] - b)
            pivot, *local = (rng.random(p.shape) < p).astype(float)
            for own in local:
                parts += language_covariances(own, pivot)
        false += bool(find_relatives(parts, 2 * items).groups)
    assert false == 0


def test_copies_correlate_at_one_and_are_named() -> None:
    found = relatives_of(copies(np.random.default_rng(0), -0.8, 6, 600, copied=3))
    assert found.groups == ((0, 1, 2),)
    assert found.correlation[0, 1] == pytest.approx(1.0, abs=0.1)
    assert np.abs(found.correlation[3:, :3]).max() < 0.2
    place = np.argsort(found.order)[:3]
    assert place.max() - place.min() == 2


def test_even_where_all_models_are_copies() -> None:
    """An item's estimated difficulty would have taken up all of it."""
    found = relatives_of(copies(np.random.default_rng(1), -2.0, 6, 600, copied=6))
    assert found.groups == (tuple(range(6)),)
    assert found.correlation[0, 1] == pytest.approx(1.0, abs=0.1)


def test_shared_answers_give_their_share_squared() -> None:
    """Two models that each copy 70% of a third's answers agree by that in 49% of them."""
    rng = np.random.default_rng(2)
    found = relatives_of(copies(rng, -0.8, 6, 4000, copied=6, share=0.7))
    assert np.nanmean(found.correlation) == pytest.approx(0.49, abs=0.04)


def test_missing_answers_change_nothing_but_precision() -> None:
    rng = np.random.default_rng(3)
    answers = copies(rng, -0.8, 6, 2000, copied=3)
    answers[rng.random(answers.shape) < 0.3] = np.nan
    found = relatives_of(answers)
    assert found.groups == ((0, 1, 2),)
    assert found.correlation[0, 1] == pytest.approx(1.0, abs=0.1)


def test_five_relatives_among_the_bundled_systems() -> None:
    table = datasets.global_mmlu_lite()
    names = sorted(pd.unique(table["model"]))
    parts = []
    for subset in ("CA", "CS"):
        own = table[table["subset"] == subset]
        answers = {
            k: rows.pivot_table(index="model", columns="item", values="correct").to_numpy(float)
            for k, rows in own.groupby("language")
        }
        for k in ("bn", "de", "fr", "ja", "sw", "zh"):
            parts += language_covariances(answers[k], answers["en"])
    found = find_relatives(parts, 400)
    assert [[names[j] for j in g] for g in found.groups] == [[n for n in names if n.startswith("s1.1")]]
