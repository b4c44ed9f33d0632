"""Reliabilities: against Kuder and Richardson's formulas, and what the tables and the user say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import BadPairing, BadSetting, BadValue
from maskedadv.models_table import read_models
from maskedadv.validity import Settings, read_pairings
from maskedadv.validity.inputs import overview, prepare
from maskedadv.validity.measure import measure
from maskedadv.validity.pairings import Pairing, PairingFile
from maskedadv.validity.reliability import (
    ANSWERS,
    EXACT,
    GIVEN,
    ITEMS,
    STANDARD_ERRORS,
    UNKNOWN,
    Measured,
    binomial_error,
    item_error,
    reliability,
)
from maskedadv.validity.sampling import draw_sample
from maskedadv.validity.scores import read_scores


def answers(seed: int = 1, n_models: int = 25, n_items: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logit = rng.normal(size=(n_models, 1)) - rng.normal(size=n_items)
    return (rng.random((n_models, n_items)) < 1 / (1 + np.exp(-logit))).astype(float)


def test_answers_give_kuder_richardson_20() -> None:
    correct = answers()
    n_items = correct.shape[1]
    total = correct.sum(axis=1)
    kr20 = n_items / (n_items - 1) * (1 - correct.var(axis=0, ddof=1).sum() / total.var(ddof=1))
    assert reliability(correct.mean(axis=1), item_error(correct)) == pytest.approx(kr20, abs=1e-12)


def test_item_counts_give_kuder_richardson_21() -> None:
    """Its formula takes variances with n; ours, like all of the study, with n - 1."""
    correct = answers()
    n_models, n_items = correct.shape
    total = correct.sum(axis=1)
    mean = total.mean()
    # M(K - M) is over the mean score; the mean of x(K - x) is less by the variance of x.
    kr21 = n_items / (n_items - 1) * (1 - mean * (n_items - mean) / (n_items * total.var()))
    share = total / n_items
    error = binomial_error(share, np.full(n_models, float(n_items)))
    assert 1 - error.mean() / share.var() == pytest.approx(kr21, abs=1e-12)
    assert reliability(share, error) < reliability(share, item_error(correct))  # 21 is the lower


def test_errors_are_those_of_repeated_tests() -> None:
    """Variance of scores over fresh answers: on the same items for KR-20, on fresh ones for KR-21."""
    rng = np.random.default_rng(5)
    ability, n_items, repeats = rng.normal(size=40), 50, 400
    bank = rng.normal(size=5000)
    fixed = bank[:n_items]

    def take(items: np.ndarray) -> np.ndarray:
        chance = 1 / (1 + np.exp(-(ability[:, None] - items)))
        return (rng.random(chance.shape) < chance).astype(float)

    same = np.array([take(fixed).mean(axis=1) for _ in range(repeats)])
    expected = np.mean([item_error(take(fixed)).mean() for _ in range(50)])
    # the mean over 40 models of a variance over 400 repeats has a relative error of sqrt(2/400/40)
    assert expected == pytest.approx(same.var(axis=0, ddof=1).mean(), rel=0.08)
    each = [[take(rng.choice(bank, n_items))[j].mean() for j in range(40)] for _ in range(200)]
    fresh = np.array(each)
    binomial = np.mean([binomial_error(row, np.full(40, 50.0)).mean() for row in fresh])
    assert binomial == pytest.approx(fresh.var(axis=0, ddof=1).mean(), rel=0.06)
    assert binomial > 1.1 * expected


def test_a_single_item_has_no_error_to_tell() -> None:
    assert np.isnan(binomial_error(np.array([1.0]), np.array([1.0]))).all()


def test_a_stated_reliability_is_taken_of_these_models() -> None:
    values = np.random.default_rng(1).normal(size=30)
    stated = Measured("x", "control", values, given=0.9, basis=GIVEN)
    assert stated.errors().mean() == pytest.approx(0.1 * values.var(ddof=1))
    by_error = Measured("x", "control", values, variance=np.linspace(0, 0.2, 30), basis=ITEMS)
    assert by_error.at(0.8).reliability == pytest.approx(0.8)
    assert by_error.of(values > 0).errors().mean() == by_error.errors()[values > 0].mean()
    assert Measured("x", "control", values).errors().sum() == 0


PAIRING = Pairing("P", "sv", "native", "proxy", ("log(parameters)", "log(tokens)", "proficiency", "read@en"))


def table(correct: np.ndarray, benchmark: str, language: str = "sv") -> pd.DataFrame:
    n_models, n_items = correct.shape
    return pd.DataFrame(
        {
            "model": np.repeat([f"m{j:02d}" for j in range(n_models)], n_items),
            "benchmark": benchmark,
            "language": language,
            "item": np.tile([str(i) for i in range(n_items)], n_models),
            "correct": correct.reshape(-1).astype(int).astype(str),
        }
    )


@pytest.fixture
def sources() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers to native (complete) and proxy (with holes), accuracies of a reading test, a model table."""
    native, proxy = table(answers(1), "native"), table(answers(2), "proxy")
    proxy.loc[[3, 70], "correct"] = ""
    share = answers(3).mean(axis=1)
    names = [f"m{j:02d}" for j in range(25)]
    read = pd.DataFrame({"model": names, "benchmark": "read", "language": "en", "accuracy": share})
    models = pd.DataFrame(
        {
            "model": names,
            "family": [f"f{j % 6}" for j in range(25)],
            "parameters": [f"{j + 1}B" for j in range(25)],
            "tokens": [j * j + 3 for j in range(25)],
            "proficiency_sv": answers(4, n_items=100).mean(axis=1),
        }
    )
    return pd.concat([native, proxy, read.assign(n_items=60)]), models


def measured(sources: tuple[pd.DataFrame, pd.DataFrame], **stated: float) -> dict[str, Measured]:
    scores, models = read_scores(sources[0]), read_models(sources[1], ["family"])
    sample = draw_sample(PAIRING, scores, models, "ALL", PAIRING.controls)
    native, controls, proxy = measure(PAIRING, scores, models, sample, "ALL", Settings(reliability=stated))
    return {m.name: m for m in (native, proxy, *controls)}


def test_where_each_reliability_is_from(sources) -> None:
    found = measured(sources)
    assert {name: m.basis for name, m in found.items()} == {
        "native": ANSWERS,
        "proxy": ITEMS,  # models with holes answered different items
        "log(parameters)": EXACT,
        "log(tokens)": EXACT,
        "proficiency": UNKNOWN,
        "read@en": ITEMS,
    }
    assert found["native"].reliability == reliability(found["native"].values, item_error(answers(1)))
    assert found["log(tokens)"].reliability == 1
    assert np.isnan(found["proficiency"].reliability)


def test_columns_beside_a_control(sources) -> None:
    scores, models = sources
    share = models["proficiency_sv"].to_numpy()
    by_items = measured((scores, models.assign(proficiency_items=100)))["proficiency"]
    assert by_items.basis == ITEMS
    assert by_items.errors() == pytest.approx(share * (1 - share) / 99)
    by_error = measured((scores, models.assign(proficiency_items=100, proficiency_sv_se=0.03)))["proficiency"]
    assert by_error.basis == STANDARD_ERRORS
    assert by_error.errors() == pytest.approx(np.full(25, 0.0009))
    given = measured((scores, models.assign(proficiency_sv_se=0.03, proficiency_reliability=0.94)))
    assert (given["proficiency"].basis, given["proficiency"].reliability) == (GIVEN, 0.94)


def test_what_is_stated_comes_first(sources) -> None:
    found = measured(sources, native=0.9, **{"native@sv": 0.8, "read": 0.7, "proficiency_sv": 0.6})
    assert found["native"].reliability == 0.8
    assert found["read@en"].reliability == 0.7
    assert found["proficiency"].reliability == 0.6


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("proficiency_reliability", ["0.9"] * 24 + ["0.8"], "a reliability belongs to all models alike"),
        ("proficiency_reliability", ["97"] * 25, "25 values are not a share above 0"),
        ("proficiency_items", ["1"] * 25, "25 values are not a whole number of 2 or more"),
        ("proficiency_se", ["-1"] + ["0.1"] * 24, "1 values are not a standard error of 0 or more"),
    ],
)
def test_columns_that_cannot_be(sources, column: str, values: list[str], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        measured((sources[0], sources[1].assign(**{column: values})))


def test_item_counts_need_shares(sources) -> None:
    models = sources[1].assign(proficiency_sv=lambda m: 100 * m["proficiency_sv"], proficiency_items=100)
    with pytest.raises(BadValue, match="divide percentages by 100"):
        measured((sources[0], models))


def test_stated_in_the_file_or_by_setting_and_the_setting_counts(sources, tmp_path: Path) -> None:
    path = tmp_path / "pairings.toml"
    pair = '[[pairing]]\nname = "P"\nlanguage = "sv"\nnative = "native"\nproxy = "proxy"\n'
    path.write_text(f'{pair}controls = ["proficiency"]\n[reliability]\nproficiency = 0.9\nproxy = 0.8\n')
    plan = read_pairings(path)
    inputs = prepare(plan, *sources, Settings(reliability={"proxy": 0.7}))
    assert dict(inputs.settings.reliability) == {"proficiency": 0.9, "proxy": 0.7}
    (row,) = overview(inputs)
    assert "reliability of proficiency 0.900, given" in row["reliability"]
    path.write_text(f"{pair}[reliability]\nproficiency = 97\n")
    with pytest.raises(BadPairing, match=r"proficiency must be a number above 0 and up to 1, not 97"):
        read_pairings(path)


@pytest.mark.parametrize("value", [0, 1.2, -0.1, True, "0.9", float("nan")])
def test_values_that_are_no_reliability(value: float) -> None:
    with pytest.raises(BadSetting, match="must be above 0 and up to 1"):
        Settings(reliability={"proxy": value})


def test_a_name_that_is_in_no_pairing(sources) -> None:
    with pytest.raises(BadSetting, match="neither a benchmark nor a control"):
        prepare(PairingFile((PAIRING,)), *sources, Settings(reliability={"proxi": 0.9}))
