"""What is said of the variants: like with like, only of what was asked for, and why one is not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.show import variant_text
from maskedadv.errors import BadValue
from maskedadv.published_accuracies.gaps import gaps_from_accuracy
from maskedadv.result.fit_result import Fit
from maskedadv.result.in_words import absent_variants, read_variants
from tests.simulate import artefact_table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return artefact_table(10, 120, chance=0.25, seed=3).assign(n_options=4)


def fit(frame: pd.DataFrame, **arguments: object) -> Fit:
    return maskedadv.fit(frame, min_accuracy=0, **{"estimator": "marginal", **arguments})  # type: ignore[arg-type]


def with_one_at_chance(frame: pd.DataFrame) -> pd.DataFrame:
    low = frame.copy()
    at = (low["model"] == "m03") & (low["subset"] == "CS") & (low["language"] == "zh")
    low.loc[at, "correct"] = np.repeat([1, 0], [30, 90])
    return low


def test_a_variant_that_lost_gaps_is_compared_over_those_it_knows(frame: pd.DataFrame) -> None:
    result = fit(with_one_at_chance(frame), link="none")
    gaps = {v: result.gaps(gap="knowledge_gap", variant=v) for v in result.variants}
    known = gaps["floor"]["estimate"].notna()
    assert known.sum() < len(known)
    same = gaps["plain"][known]
    floor = read_variants(result)[1]
    assert (
        f"plain over the same: of {len(same)} gaps {(same['lower'] > 0).sum()} clearly above, "
        f"{(same['upper'] < 0).sum()} clearly below" in floor
    )
    assert f"zh 10/{known.sum()}" in " ".join(variant_text(result).split())


def test_verdicts_speak_of_the_interval_and_of_what_one_has_to_believe(frame: pd.DataFrame) -> None:
    result = fit(frame)
    words = read_variants(result)
    for name, sentence in zip(result.variants, words, strict=False):
        row = result.means(gap="knowledge_gap", variant=name).iloc[0]
        clear = "above zero" if row["lower"] > 0 else "below zero" if row["upper"] < 0 else "clear of zero"
        assert sentence.startswith(f"{name}: the mean is")
        assert clear in sentence.split("(")[0]
        assert "sign" not in sentence
    assert words[-1].startswith(
        "To take such a gap for access one has to believe: plain, that nobody guesses"
    )
    assert "missing" in words[-1]


def test_words_and_links_are_of_the_locales_and_models_asked_for(frame: pd.DataFrame) -> None:
    """Two locales whose gaps have opposite signs: filtering one away leaves the other's counts."""
    rng = np.random.default_rng(0)
    other = frame[frame["language"] == "zh"].assign(language="ja")
    up = (other["subset"] == "CA") & (rng.random(len(other)) < 0.5)
    other.loc[up, "correct"] = 1
    result = fit(pd.concat([frame, other]))
    for locale in ("zh", "ja"):
        alone = result.gaps(gap="knowledge_gap", locale=locale)
        words = read_variants(result, locale=[locale])
        assert f"of 10 gaps {(alone['lower'] > 0).sum()} clearly above" in words[0]
        assert all("locales" not in w for w in words)
        shown = variant_text(result, locale=[locale])
        assert ("ja" if locale == "zh" else "zh") not in shown.split()
    one = read_variants(result, locale=["zh"], model=["m02"])
    assert "of 1 gaps" in one[0]


def test_why_a_variant_is_not_there_is_said(frame: pd.DataFrame) -> None:
    bare = frame.drop(columns="n_options")
    few = fit(bare[bare["model"] < "m05"])
    assert few.variants == ["plain", "paired"]
    assert absent_variants(few) == [
        "No floor: the items' number of options is not known (column n_options, or --options).",
        "No linked gap: a link needs 8 models, here are 5.",
    ]
    assert "No linked gap" in variant_text(few)
    assert absent_variants(fit(frame)) == []
    assert absent_variants(fit(bare, variants="none")) == []
    assert absent_variants(fit(bare, guessing="none", link="none")) == []


def test_options_that_are_missing_or_of_no_use_are_said(frame: pd.DataFrame) -> None:
    hole = frame.assign(n_options=np.where(frame["item"].isin(["CS3", "CA5"]), np.nan, 4.0))
    assert any("2 of 240 items have no number of options" in w for w in fit(hole).warnings)
    filled = fit(hole, options=np.int64(5))
    assert "floor" in filled.variants
    assert not any("options" in w for w in filled.warnings)
    assert any("options 5 was used for no item" in w for w in fit(frame, options=5).warnings)
    pd.testing.assert_frame_equal(fit(frame, options=5).variant_gaps(), fit(frame).variant_gaps())
    clash = frame.assign(n_options=np.where(frame["language"] == "en", 4, 5))
    with pytest.raises(BadValue, match="--guessing"):
        fit(clash)


def test_options_fill_what_an_accuracy_table_leaves_open() -> None:
    """The table's own number counts, as in `fit`."""
    rows = [("m", s, q, 0.6, 100, k) for s, k in (("CA", 4.0), ("CS", np.nan)) for q in ("en", "eu")]
    table = pd.DataFrame(rows, columns=["model", "subset", "language", "accuracy", "n_items", "n_options"])
    assert gaps_from_accuracy(table, n_options=3).cells["n_options"].tolist() == [4, 4, 3, 3]
    assert gaps_from_accuracy(table).cells["n_options"].isna().sum() == 2
