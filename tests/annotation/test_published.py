"""Every rate that Thellmann et al. (2026) print, from their confusion matrices and agreement counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv.annotation import evaluate
from maskedadv.annotation.agreement import agreement
from maskedadv.annotation.classification import rates
from maskedadv.annotation.evaluation import DERIVED
from maskedadv.annotation.mapping import mapping_agreement

ORDER = ("cultural", "dialect", "none", "regional")
NATIVE_500 = np.array([[307, 12], [35, 146]])  # CS, CA
NATIVE_477 = np.array([[66, 1, 3, 44], [0, 3, 0, 0], [10, 0, 166, 7], [8, 0, 4, 165]])
LITE_217 = np.array([[25, 0, 8, 0], [0, 1, 1, 0], [14, 0, 102, 7], [3, 0, 23, 33]])
SPLITS = {"da": (63, 32, 5), "et": (81, 19, 0), "lt": (36, 51, 13), "nb": (37, 59, 4), "sv": (52, 47, 1)}


def percent(value: float) -> float:
    return round(100 * value, 1)


def test_native_500() -> None:
    found = rates(NATIVE_500)
    assert (percent(found.accuracy), percent(found.macro_f1)) == (90.6, 89.5)
    assert [percent(v) for v in found.precision] == [89.8, 92.4]
    assert [percent(v) for v in found.recall] == [96.2, 80.7]


def test_native_477() -> None:
    found = rates(NATIVE_477)
    assert NATIVE_477.sum() == 477
    assert (percent(found.accuracy), percent(found.macro_f1)) == (83.9, 82.4)


def test_lite_217() -> None:
    assert percent(rates(LITE_217).accuracy) == 74.2


def annotated(matrix: np.ndarray, ties: list[tuple[str, str, str, str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three annotators and a model whose confusion matrix, ties apart, is `matrix`.

    The third annotator of every item disagrees where that leaves the majority as it is.
    """
    humans, machine = [], []
    cells = [(r, c) for r in range(4) for c in range(4) for _ in range(matrix[r, c])]
    for number, (row, column) in enumerate(cells):
        other = ORDER[row] if number % 2 else ORDER[3 if row == 2 else (row + 1) % 4]
        humans += [
            (f"i{number}", name, label)
            for name, label in zip("abc", (ORDER[row], ORDER[row], other), strict=True)
        ]
        machine.append((f"i{number}", ORDER[column]))
    for number, (*labels, guess) in enumerate(ties):
        humans += [(f"tie{number}", name, label) for name, label in zip("abc", labels, strict=True)]
        machine.append((f"tie{number}", guess))
    return (
        pd.DataFrame(humans, columns=["item", "annotator", "required_knowledge"]),
        pd.DataFrame(machine, columns=["item", "required_knowledge"]),
    )


def score(matrix: np.ndarray, ties: list[tuple[str, str, str, str]], field: str) -> pd.Series:
    result = evaluate(*annotated(matrix, ties), n_resamples=100)
    return result.scores.loc[result.scores["field"] == field].iloc[0]


def test_ties_count_as_errors_in_the_conservative_bound() -> None:
    """477 of 500 items have a majority; 400 right of 500 are 80.0%."""
    row = score(NATIVE_477, [("cultural", "none", "regional", "none")] * 23, "required_knowledge")
    assert (row["n_evaluated"], row["n_ties"]) == (477, 23)
    assert percent(row["accuracy"]) == 83.9
    assert percent(row["conservative"]) == 80.0


def test_derived_labels_have_no_ties() -> None:
    """CS/CA from the 217 items of the matrix alone agree in 75.6%.

    The paper prints 73.3%. Reduced to two labels, items with a three-way tie have a majority too, so
    more items than the matrix shows count; 8 such items with one right give 165/225 = 73.3%.
    """
    assert percent(score(LITE_217, [], DERIVED)["accuracy"]) == 75.6
    ties = [("cultural", "none", "regional", "none")] * 7 + [("cultural", "none", "regional", "regional")]
    row = score(LITE_217, ties, DERIVED)
    assert (row["n_evaluated"], row["n_ties"]) == (225, 0)
    assert percent(row["accuracy"]) == 73.3


@pytest.mark.parametrize("language", SPLITS)
def test_agreement_structure(language: str) -> None:
    three, two, none = SPLITS[language]
    votes = np.array([[3, 0, 0, 0]] * three + [[2, 0, 1, 0]] * two + [[1, 1, 1, 0]] * none)
    found = agreement(votes, np.random.default_rng(1), n_resamples=200)
    printed = {"3": three, "2/1": two, "1/1/1": none}
    assert dict(found.patterns) == {pattern: n for pattern, n in printed.items() if n}
    assert found.unanimous.value == pytest.approx(three / 100)
    # Of three pairs, three agree at 3/3 and one at 2/1.
    assert found.pairwise.value == pytest.approx((three + two / 3) / 100)


def test_ties_of_the_five_languages_leave_477() -> None:
    assert 500 - sum(none for *_, none in SPLITS.values()) == NATIVE_477.sum()


def test_mapping_agreement_over_3044_items() -> None:
    """85.1% of 3,044 items: pooled over subjects by items, not the mean of subjects' shares."""
    sizes = {"history": (1500, 1400), "biology": (1044, 940), "driving": (500, 250)}
    rows = [
        ("sv", subject, "humanities" if number < agree else "other")
        for subject, (n, agree) in sizes.items()
        for number in range(n)
    ]
    items = pd.DataFrame(rows, columns=["language", "subject", "subject_category"])
    mapping = pd.DataFrame({"subject": list(sizes), "category": "humanities"})
    table = mapping_agreement(items, mapping).set_index("subject")
    assert table.loc["(all)", "n_items"] == 3044
    assert percent(table.loc["(all)", "agree"]) == 85.1
    assert percent(table["agree"].iloc[:-1].mean()) != 85.1
    assert table.loc["driving", "majority"] == "humanities | other"
