"""Who is in an analysis, and where controls come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import BadValue, InputError, NoCommonModel, NotEstimable, UnknownBenchmark
from maskedadv.models_table import read_models
from maskedadv.validity.pairings import Pairing
from maskedadv.validity.sampling import check_common_models, check_pairing, draw_sample
from maskedadv.validity.scores import Scores, read_scores

PAIRING = Pairing("P", "sv", "n", "p")


def score_table(scores: dict[str, dict[str, float]], language: str = "sv") -> pd.DataFrame:
    rows = [(m, b, language, a) for b, part in scores.items() for m, a in part.items()]
    return pd.DataFrame(rows, columns=["model", "benchmark", "language", "accuracy"])


@pytest.fixture
def scores() -> Scores:
    """a, b, c on both sides; d native only; e proxy only; f on both but in no model table."""
    native = {"a": 0.5, "b": 0.6, "c": 0.7, "d": 0.8, "f": 0.1}
    proxy = {"c": 0.3, "b": 0.2, "a": 0.1, "e": 0.4, "f": 0.1}
    english = score_table({"p": {"a": 0.9, "b": 0.8}}, "en")
    return read_scores(pd.concat([score_table({"n": native, "p": proxy}), english]))


@pytest.fixture
def models() -> pd.DataFrame:
    return read_models(
        pd.DataFrame(
            {
                "model": list("cbade"),
                "family": ["x", "y", "x", "z", "z"],
                "parameters": ["7B", "2000000000", "", "1e6", "1M"],
                "tokens": ["1e12", "2e12", "", "1", "1"],
                "proficiency": ["0.1", "0.2", "0.3", "0.4", "0.5"],
                "proficiency_sv": ["0.6", "0.7", "0.8", "0.9", "1"],
            }
        ),
        ["family"],
    )


def test_models_meet_by_id_not_by_place(scores: Scores, models: pd.DataFrame) -> None:
    sample = draw_sample(PAIRING, scores, models, "ALL")
    assert sample.models == ("a", "b", "c")
    assert sample.families == ("x", "y", "x")
    assert sample.native.tolist() == [0.5, 0.6, 0.7]
    assert sample.proxy.tolist() == [0.1, 0.2, 0.3]
    assert sample.family_codes.tolist() == [0, 1, 0]
    assert sample.controls.shape == (3, 0)
    assert sample.dropped == (
        ("d", "no proxy score"),
        ("e", "no native score"),
        ("f", "not in the model table"),
    )


def test_controls_are_found(scores: Scores, models: pd.DataFrame) -> None:
    sample = draw_sample(PAIRING, scores, models, "ALL", ("log(parameters)", "proficiency"))
    assert sample.models == ("b", "c")
    assert sample.controls == pytest.approx(np.array([[np.log(2e9), 0.7], [np.log(7e9), 0.6]]))
    assert ("a", "no value of log(parameters)") in sample.dropped
    english = draw_sample(PAIRING, scores, models, "ALL", ("p@en",))
    assert (english.models, english.controls[:, 0].tolist()) == (("a", "b"), [0.9, 0.8])


def test_a_column_without_the_language_serves_every_language(scores: Scores, models: pd.DataFrame) -> None:
    sample = draw_sample(PAIRING, scores, models.drop(columns="proficiency_sv"), "ALL", ("proficiency",))
    assert sample.controls[:, 0].tolist() == [0.3, 0.2, 0.1]


def test_a_group_without_scores_is_a_reason(scores: Scores, models: pd.DataFrame) -> None:
    with pytest.raises(NotEstimable, match="native benchmark n has no CS scores in sv"):
        draw_sample(PAIRING, scores, models, "CS")


@pytest.mark.parametrize(
    ("pairing", "words"),
    [
        (Pairing("P", "sv", "nn", "p"), "native benchmark nn@sv has no scores; known are n@sv, p@en, p@sv"),
        (Pairing("P", "da", "n", "p"), "n@da has no scores"),
        (Pairing("P", "sv", "n", "p", ("size",)), "control 'size' is neither a column"),
        (Pairing("P", "sv", "n", "p", ("family",)), "control 'family'"),
        (Pairing("P", "sv", "n", "p", ("log(size)",)), "control"),
        (Pairing("P", "sv", "n", "p", (), ("p@fr",)), "control 'p@fr'"),
    ],
)
def test_unknown_names_are_refused(
    scores: Scores, models: pd.DataFrame, pairing: Pairing, words: str
) -> None:
    with pytest.raises(UnknownBenchmark, match=words):
        check_pairing(pairing, scores, models)


@pytest.mark.parametrize("value", ["0", "-7", "7B", "inf"])
def test_values_without_a_logarithm_are_refused(scores: Scores, models: pd.DataFrame, value: str) -> None:
    models.loc["b", "tokens"] = value
    with pytest.raises(BadValue, match=f"row 2: '?{value}"):
        check_pairing(Pairing("P", "sv", "n", "p", ("log(tokens)",)), scores, models)


def test_tables_that_share_no_model(scores: Scores, models: pd.DataFrame) -> None:
    other = models.set_index(models.index + "-instruct")
    with pytest.raises(NoCommonModel, match=r"'a', 'b', 'c'.*'a-instruct'"):
        check_common_models(scores, other)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"model": ["a"]}),
        pd.DataFrame({"model": ["a", "a"], "family": ["x", "x"]}),
        pd.DataFrame({"model": ["a"], "family": [""]}),
    ],
)
def test_model_tables_that_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="model table"):
        read_models(frame, ["family"])


def test_a_column_called_log_is_taken_as_it_is(scores: Scores, models: pd.DataFrame) -> None:
    ready = models.assign(**{"log(parameters)": ["3", "2", "1", "0", "0"]})
    for table in (ready, ready.drop(columns="parameters")):
        assert draw_sample(PAIRING, scores, table, "ALL", ("log(parameters)",)).controls.tolist() == [
            [1],
            [2],
            [3],
        ]
