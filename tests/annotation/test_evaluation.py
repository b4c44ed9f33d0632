"""From annotation tables to results, and the refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv.annotation import evaluate
from maskedadv.errors import (
    BadId,
    BadSetting,
    BadValue,
    DuplicateRows,
    InputError,
    MissingColumn,
    MissingId,
    UnknownBenchmark,
)


def people(
    labels: dict[str, str], field: str = "cultural_sensitivity_label", language: str = "sv"
) -> pd.DataFrame:
    """Labels of annotators a, b, c per item: {"item": "CS CS CA"}; '.' for none."""
    rows = [
        (item, language, name, "" if label == "." else label)
        for item, given in labels.items()
        for name, label in zip("abc", given.split(), strict=False)
    ]
    return pd.DataFrame(rows, columns=["item", "language", "annotator", field])


def machine(
    labels: dict[str, str], field: str = "cultural_sensitivity_label", language: str = "sv"
) -> pd.DataFrame:
    rows = [(item, language, label) for item, label in labels.items()]
    return pd.DataFrame(rows, columns=["item", "language", field])


HUMANS = {"1": "CS CS CS", "2": "CS CS CA", "3": "CA CA CA", "4": "CA CS CA", "5": "CS ."}


def test_model_against_majority_by_hand() -> None:
    result = evaluate(people(HUMANS), machine({"1": "CS", "2": "CA", "3": "CA", "9": "CA"}), n_resamples=100)
    row = result.scores.iloc[0]
    assert (row["n_evaluated"], row["n_ties"], row["n_missing"]) == (3, 0, 1)  # item 4 has no prediction
    assert row["accuracy"] == pytest.approx(2 / 3)
    assert row["conservative"] == pytest.approx(2 / 4)  # item 5 has one label only
    cells = result.confusion.set_index(["reference", "predicted"])["n_items"]
    assert cells.to_dict() == {("CA", "CA"): 1, ("CA", "CS"): 0, ("CS", "CA"): 1, ("CS", "CS"): 1}
    classes = result.classes.set_index("label")
    assert classes.loc["CS", ["precision", "recall", "support"]].tolist() == [1, 0.5, 2]
    assert any("have no row from the model: 4 (sv), 5 (sv)" in note for note in result.notes)
    assert any("have no row from the annotators: 9 (sv)" in note for note in result.notes)


def test_languages_apart_and_pooled() -> None:
    both = pd.concat([people(HUMANS), people({"1": "CA CA CA"}, language="da")])
    result = evaluate(both, n_resamples=100)
    assert result.agreement["language"].tolist() == ["da", "sv", "all"]
    assert result.agreement["n_items"].tolist() == [1, 4, 5]
    assert result.scores.empty


def test_a_field_without_a_fixed_set_takes_the_labels_that_occur() -> None:
    frame = people({"1": "Sweden Sweden Norway", "2": "Norway Norway Norway"}, field="country")
    result = evaluate(frame, wanted=("country",), n_resamples=100)
    assert result.agreement.loc[0, "unanimous"] == 0.5


def test_order_of_rows_and_other_fields_change_nothing() -> None:
    frame = people(HUMANS)
    other = frame.sample(frac=1, random_state=1).assign(time_sensitive="no")
    first = evaluate(frame, n_resamples=200).agreement
    second = evaluate(other, n_resamples=200).agreement
    pd.testing.assert_frame_equal(
        first, second.loc[second["field"] == "cultural_sensitivity_label"].reset_index(drop=True)
    )


def test_ids_and_labels_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "humans.csv"
    path.write_text(
        "\ufeffitem;annotator;required_knowledge\r\n001;NA;none\r\n001;null;none\r\n1;NA;regional\r\n1;null;none\r\n",
        encoding="utf-8",
    )
    result = evaluate(path, n_resamples=100)
    row = result.agreement.set_index("field").loc["required_knowledge"]
    assert (row["n_items"], row["unanimous"]) == (2, 0.5)


def test_json_has_no_nan() -> None:
    result = evaluate(people({"1": "CS CS CS"}), n_resamples=100)
    assert json.loads(result.to_json())["agreement"][0]["alpha"] is None


@pytest.mark.parametrize(
    ("humans", "error", "words"),
    [
        (people({"1": "CS cs CA"}), BadValue, "row 2: 'cs'"),
        (people({"1": "CS"}).drop(columns="annotator"), MissingColumn, "annotator"),
        (people({"1": "CS"}, field="colour"), MissingColumn, "required_knowledge"),
        (pd.concat([people({"1": "CS"})] * 2), DuplicateRows, "row 2: sv / 1 / a"),
        (people({"": "CS"}), MissingId, "row 1"),
        (people({"x ": "CS"}), BadId, "'x '"),
    ],
)
def test_refusals(humans: pd.DataFrame, error: type[InputError], words: str) -> None:
    with pytest.raises(error, match=words):
        evaluate(humans, n_resamples=100)


def test_settings_out_of_range() -> None:
    with pytest.raises(BadSetting):
        evaluate(people(HUMANS), level=95)


def test_mapping() -> None:
    llm = pd.DataFrame(
        {
            "item": list("12345"),
            "language": ["sv"] * 3 + ["da"] * 2,
            "subject": ["history", "history", "law", "history", ""],
            "subject_category": ["humanities", "other", "other", "humanities", "other"],
        }
    )
    mapping = pd.DataFrame({"subject": ["history", "law"], "category": ["humanities", "social sciences"]})
    humans = people(HUMANS)
    table = evaluate(humans, llm, mapping, n_resamples=100).mapping
    assert table[["language", "subject", "n_items", "n_agree"]].to_numpy().tolist() == [
        ["da", "history", 1, 1],
        ["sv", "history", 2, 1],
        ["sv", "law", 1, 0],
        ["(all)", "(all)", 4, 2],
    ]
    with pytest.raises(UnknownBenchmark, match="lacks 1 subjects \\('law'\\)"):
        evaluate(humans, llm, mapping.iloc[:1], n_resamples=100)
    with pytest.raises(MissingColumn, match="--llm"):
        evaluate(humans, None, mapping, n_resamples=100)
    with pytest.raises(BadValue, match="sciences"):
        evaluate(humans, llm, mapping.replace("social sciences", "sciences"), n_resamples=100)


def test_a_field_the_model_lacks_is_noted() -> None:
    result = evaluate(people(HUMANS), machine({"1": "x"}, field="other"), n_resamples=100)
    assert result.scores.empty
    assert any("lack the field cultural_sensitivity_label" in note for note in result.notes)


def test_no_label_at_all_is_said_so() -> None:
    result = evaluate(people({"1": ". . ."}), machine({"1": "CA"}), n_resamples=100)
    assert result.agreement.loc[0, "n_items"] == 0
    assert "no item has two labels" in result.agreement.loc[0, "reason"]
    assert list(result.patterns.columns) == ["field", "language", "pattern", "n_items", "share"]
    assert np.isnan(result.scores.loc[0, ["accuracy", "conservative"]].astype(float)).all()


def test_full_agreement_has_no_interval() -> None:
    result = evaluate(
        people({"1": "CS CS CS", "2": "CA CA CA"}), machine({"1": "CS", "2": "CA"}), n_resamples=100
    )
    row = result.agreement.loc[0]
    assert row["unanimous"] == 1
    assert np.isnan(row["unanimous_lower"])
    assert "unanimous: no interval, the same in every resample" in row["reason"]
    assert np.isnan(result.scores.loc[0, "accuracy_lower"])


def test_languages_must_be_on_both_sides_and_not_be_the_pooled_one() -> None:
    with pytest.raises(MissingColumn, match="only one of"):
        evaluate(people(HUMANS).drop(columns="language"), machine({"1": "CS"}))
    with pytest.raises(BadValue, match="'all' means"):
        evaluate(people(HUMANS, language="all"))


@pytest.mark.parametrize("field", ["annotator", "item", "language", "colour"])
def test_ids_are_no_fields(field: str) -> None:
    with pytest.raises(MissingColumn, match=field):
        evaluate(people(HUMANS), wanted=(field,))


def test_nothing_usable_is_nan_not_a_number() -> None:
    result = evaluate(people({"1": "CS CA"}), machine({"1": "CS"}), n_resamples=100)
    row = result.scores.iloc[0]
    assert (row["n_evaluated"], row["n_ties"]) == (0, 1)
    assert np.isnan(row["accuracy"])
    assert row["conservative"] == 0


def test_a_field_asked_for_twice_is_evaluated_once() -> None:
    humans = pd.DataFrame(
        [(item, a, "yes" if item == "1" else a) for item in "12" for a in ("yes", "no")],
        columns=["item", "annotator", "time_sensitive"],
    )
    result = evaluate(humans, wanted=("time_sensitive",) * 2, n_resamples=100)
    assert result.agreement["field"].tolist() == ["time_sensitive"]
    assert result.agreement.loc[0, "unanimous"] == 0.5


def test_a_mapping_by_language_needs_annotations_by_language() -> None:
    llm = pd.DataFrame({"item": ["1"], "subject": ["s"], "subject_category": ["STEM"]})
    humans = pd.DataFrame({"item": ["1"] * 2, "annotator": ["a", "b"], "subject_category": ["STEM"] * 2})
    mapping = pd.DataFrame({"subject": ["s"], "category": ["STEM"], "language": ["sv"]})
    with pytest.raises(MissingColumn, match="the mapping has a column 'language'"):
        evaluate(humans, llm, mapping, n_resamples=100)
