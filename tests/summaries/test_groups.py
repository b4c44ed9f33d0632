"""Groups of models against hand calculations and the paper's tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv import summaries
from maskedadv.errors import MissingFacts
from tests.constructed import constructed_fit

LOCALES = summaries.locale_facts()


def _models(**columns: list[str]) -> pd.DataFrame:
    return summaries.model_facts(pd.DataFrame(columns))


def test_home_less_others_is_the_papers_table_2() -> None:
    """In-region minus all others: local +0.79 zh, +0.94 ar, +0.32 fr; knowledge +0.70, +0.60, +0.30."""
    local = {"zh": 0.79, "ar": 0.94, "fr": 0.32}
    knowledge = {"zh": 0.70, "ar": 0.60, "fr": 0.30}
    models = ["qwen", "yi", "falcon", "fanar", "croissant", "llama", "gemma", "unknown"]
    origin = ["China", "china", "UAE", "Qatar", "France", "USA", "USA", ""]
    home = {"zh": [0, 1], "ar": [2, 3], "fr": [4]}
    rng = np.random.default_rng(2)
    gaps = np.empty((3, 8, 2))
    for k, name in enumerate(local):
        noise = rng.normal(0, 0.3, (8, 2))
        others = [j for j in range(7) if j not in home[name]]
        for members in (home[name], others):
            noise[members] -= noise[members].mean(axis=0)
        gaps[k] = noise + np.array([-0.8, -0.2])
        gaps[k, home[name], 1] += local[name]
        gaps[k, home[name], 0] += local[name] - knowledge[name]
        gaps[k, 7] = 99.0  # of unknown origin: on neither side
    fit = constructed_fit(gaps, list(local), models)
    table = summaries.home_versus_others(fit, _models(model=models, origin=origin), LOCALES)
    table = table.set_index(["locale", "gap"])
    for name in local:
        assert table.loc[(name, "local_gap"), "estimate"] == pytest.approx(local[name])
        assert table.loc[(name, "knowledge_gap"), "estimate"] == pytest.approx(knowledge[name])
        assert table.loc[(name, "local_gap"), "home"] == pytest.approx(-0.2 + local[name])
        assert table.loc[(name, "local_gap"), "others"] == pytest.approx(-0.2)
    assert table.loc[("zh", "local_gap"), ["n_home", "n_others"]].tolist() == [2, 5]
    assert table.loc[("zh", "local_gap"), "sd"] == pytest.approx(0.1 * np.sqrt(1 / 2 + 1 / 5))


def test_noise_that_all_models_share_cancels_in_a_difference() -> None:
    shared, own = np.full((1, 2, 3), 0.5), 0.1 * np.eye(6).reshape(6, 2, 3)
    rows = [np.concatenate([shared, own])]
    fit = constructed_fit([[[0.0, 1.0], [0.0, 0.2], [0.0, 0.4]]], ["zh"], ["q", "l", "g"], rows)
    table = summaries.home_versus_others(
        fit, _models(model=["q", "l", "g"], origin=["China", "USA", "USA"]), LOCALES
    )
    row = table[table["gap"] == "local_gap"].iloc[0]
    assert row["estimate"] == pytest.approx(0.7)
    assert row["sd"] == pytest.approx(0.1 * np.sqrt(1 + 1 / 2))


def test_adapted_less_general_by_hand() -> None:
    """Table 3: Δ from the mean of the general-purpose models of the locale, adapted ones not among them."""
    gaps = np.zeros((2, 4, 2))
    gaps[0, :, 1] = [0.9, 0.1, 0.3, 0.5]  # el: krikri, meltemi (adapted to el), llama, gemma
    gaps[0, :, 0] = [-0.2, -0.9, -1.0, -0.6]
    gaps[1, :, 1] = [5.0, 5.0, 5.0, 5.0]  # pl
    models = ["krikri", "meltemi", "llama", "gemma"]
    fit = constructed_fit(gaps, ["el", "pl"], models)
    facts = _models(model=models, adapted_for=["el", "el; grc", "", ""])
    table = summaries.adapted_versus_general(fit, facts)
    assert set(table["locale"]) == {"el"}
    table = table.set_index(["model", "gap"])
    assert table.loc[("krikri", "local_gap"), "estimate"] == pytest.approx(0.9 - 0.4)
    assert table.loc[("krikri", "knowledge_gap"), "estimate"] == pytest.approx(1.1 - 1.2)
    assert table.loc[("meltemi", "local_gap"), "estimate"] == pytest.approx(-0.3)
    assert table.loc[("meltemi", "local_gap"), ["adapted", "general", "n_general"]].tolist() == pytest.approx(
        [0.1, 0.4, 2]
    )
    assert table.loc[("meltemi", "local_gap"), "sd"] == pytest.approx(0.1 * np.sqrt(1.5))


def test_family_and_kind_by_hand() -> None:
    gaps = np.zeros((2, 4, 2))
    gaps[0, :, 1] = [0.0, 1.0, 2.0, 3.0]
    gaps[1, :, 1] = [1.0, 1.0, np.nan, 5.0]
    models = ["a1", "a2", "b1", "c"]
    fit = constructed_fit(gaps, ["zh", "fr"], models)
    facts = _models(model=models, family=["A", "A", "B", ""], kind=["open", "open", "open", "closed"])
    family = summaries.by_family(fit, facts).set_index(["family", "gap"])
    assert family.loc[("A", "local_gap"), "estimate"] == pytest.approx((0.5 + 1.0) / 2)
    assert family.loc[("B", "local_gap"), ["estimate", "n_locales"]].tolist() == pytest.approx([2.0, 1])
    kind = summaries.by_kind(fit, facts).set_index(["kind", "gap"])
    assert kind.loc[("open", "local_gap"), "estimate"] == pytest.approx((1.0 + 1.0) / 2)
    assert kind.loc[("closed − open", "local_gap"), "estimate"] == pytest.approx((3 - 1 + 5 - 1) / 2)


def test_size_and_slopes_by_hand() -> None:
    models = ["s", "m", "l", "moe", "api", "x1", "x2"]
    facts = _models(
        model=models,
        family=["A", "A", "A", "A", "G", "X", "X"],
        parameters=["1B", "10B", "100e9", "100B", "", "1B", "10b"],
        active_parameters=["", "10B", "", "10B", "", "", ""],
    )
    local = np.array([-1.0, -0.4, -0.2, 9.0, 0.3, 0.0, 1.0])
    gaps = np.stack([np.zeros(7), local], axis=1)[None]
    fit = constructed_fit(gaps, ["zh"], models)
    size = summaries.by_size(fit, facts)
    size = size[size["gap"] == "local_gap"].set_index("model")
    assert size["architecture"].to_dict() == {
        "s": "dense", "m": "dense", "l": "dense", "moe": "mixture of experts", "api": "size not known",
        "x1": "dense", "x2": "dense",
    }  # fmt: skip
    assert size["estimate"].tolist() == pytest.approx(local.tolist())
    slopes = summaries.size_slopes(fit, facts).set_index(["family", "gap"])
    assert slopes.loc[("A", "local_gap"), "estimate"] == pytest.approx(0.4)  # (−.2 + 1) / 2
    assert slopes.loc[("A", "local_gap"), "sd"] == pytest.approx(0.1 / np.sqrt(2))
    # within families: Σxy / Σx² = (0.8 + 0.5) / (2 + 0.5)
    assert slopes.loc[("(within families)", "local_gap"), "estimate"] == pytest.approx(1.3 / 2.5)
    assert ("X", "local_gap") not in slopes.index


def test_missing_facts_say_what_to_add() -> None:
    fit = constructed_fit(np.zeros((1, 2, 2)), ["zh"], ["a", "b"])
    bare = _models(model=["a", "other"])
    for call, word in (
        (lambda: summaries.by_family(fit, bare), "family"),
        (lambda: summaries.by_kind(fit, bare), "kind"),
        (lambda: summaries.by_size(fit, bare), "parameters"),
        (lambda: summaries.home_versus_others(fit, bare, LOCALES), "origin"),
        (lambda: summaries.adapted_versus_general(fit, bare), "adapted_for"),
    ):
        with pytest.raises(MissingFacts, match=rf"{word}.*models.csv"):
            call()
    with pytest.raises(MissingFacts, match="home_origins"):
        summaries.home_versus_others(fit, _models(model=["a", "b"], origin=["China", "China"]), LOCALES)
