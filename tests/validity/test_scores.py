"""Reading score tables: answers, accuracies, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import (
    BadId,
    BadValue,
    DuplicateRows,
    EmptyTable,
    InputError,
    ItemInBothSubsets,
    MissingColumn,
    MissingId,
    UnknownSubset,
    UnreadableFile,
)
from maskedadv.validity.scores import join_scores, read_scores


def answers(text: str) -> pd.DataFrame:
    """Rows `model item subset correct`, '.' for empty; benchmark b, language sv."""
    rows = [["" if part == "." else part for part in line.split()] for line in text.strip().splitlines()]
    frame = pd.DataFrame(rows, columns=["model", "item", "subset", "correct"])
    return frame.assign(benchmark="b", language="sv")


def accuracies(text: str) -> pd.DataFrame:
    """Rows `model subset accuracy n_items`, '.' for empty."""
    rows = [["" if part == "." else part for part in line.split()] for line in text.strip().splitlines()]
    frame = pd.DataFrame(rows, columns=["model", "subset", "accuracy", "n_items"])
    return frame.assign(benchmark="b", language="sv")


def test_answers_become_accuracies_of_each_group() -> None:
    scores = read_scores(
        answers("m 1 CA 1\nm 2 CA 0\nm 3 CS 1\nm 4 . 1\nk 1 CA .\nk 2 CA 1\nk 3 CS 0\nk 4 . 0")
    )
    score = {group: scores.of("b", "sv", group)["score"].to_dict() for group in ("ALL", "CA", "CS")}
    assert score["ALL"] == {"k": pytest.approx(1 / 3), "m": 0.75}  # empty is not observed, never wrong
    assert score["CA"] == {"k": 1.0, "m": 0.5}
    assert score["CS"] == {"k": 0.0, "m": 1.0}
    assert [scores.n_items("b", "sv", group) for group in ("ALL", "CA", "CS")] == [4, 2, 1]
    assert scores.notes == (
        "b@sv: 1 models did not answer every item, so accuracies are over different items (k 3 of 4).",
    )


def test_accuracies_pool_by_numbers_of_items_and_only_with_them() -> None:
    scores = read_scores(
        accuracies("m CA 0.5 30\nm CS 0.8 10\nk CA 0.5 .\nk CS 0.8 10\nj ALL 0.4 40\nj CA 0.9 30")
    )
    pooled = scores.of("b", "sv", "ALL")["score"]
    assert pooled.to_dict() == {"j": 0.4, "m": pytest.approx(0.575)}  # k: unknown sizes, no guess
    assert scores.n_items("b", "sv", "ALL") == 40


def test_an_empty_subset_of_an_aggregate_is_all() -> None:
    assert read_scores(accuracies("m . 0.5 .")).of("b", "sv", "ALL")["score"].to_dict() == {"m": 0.5}


def test_awkward_files_keep_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(
        "extra;accuracy;language;benchmark;model\r\nx;0.5;no;001;NA\r\nx;0.25;NA;1e5;org/模型\r\n",
        encoding="utf-8-sig",
    )
    scores = read_scores(path)
    assert scores.known() == ["001@no", "1e5@NA"]
    assert scores.of("1e5", "NA", "ALL")["score"].to_dict() == {"org/模型": 0.25}


def test_parquet_and_numeric_columns(tmp_path: Path) -> None:
    frame = accuracies("m CA 0.5 30\nm CS 0.8 10").astype({"accuracy": float, "n_items": float})
    frame["subset"] = frame["subset"].astype("category")
    frame.to_parquet(tmp_path / "scores.parquet")
    scores = read_scores(tmp_path / "scores.parquet")
    assert scores.n_items("b", "sv", "CS") == 10


def test_two_benchmarks_may_be_of_different_kinds() -> None:
    other = accuracies("m ALL 0.5 .").assign(benchmark="c")
    scores = read_scores(pd.concat([answers("m 1 CA 1"), other]))
    assert scores.known() == ["b@sv", "c@sv"]


def test_joining_replaces_whole_benchmarks() -> None:
    first = read_scores(answers("m 1 CA 1\nk 1 CA 0"))
    second = read_scores(accuracies("m ALL 0.3 ."))
    joined = join_scores(first, second)
    assert joined.of("b", "sv", "ALL")["score"].to_dict() == {"m": 0.3}
    assert joined.of("b", "sv", "CA").empty
    assert len(joined.items) == 2


@pytest.mark.parametrize(
    ("frame", "error", "words"),
    [
        (answers("m 1 CA 0.5"), BadValue, "0.5"),
        (answers("m 1 CA NA"), BadValue, "row 1: 'NA'"),
        (answers("m 1 CA True"), BadValue, "'True'"),
        (answers("m 1 CA 2\nm 2 CA -1\nm 3 CA 9\nm 4 CA 8"), BadValue, r"4 values .* row 3: '9', \.\.\."),
        (answers("m 1 ALL 1"), UnknownSubset, "row 1: 'ALL'"),
        (answers("m 1 cs 1"), UnknownSubset, "'cs'"),
        (answers("m 1 CA 1\nm 1 CA 1"), DuplicateRows, "row 2: m / b / sv / 1"),
        (answers("m 1 CA 1\nk 1 CS 1"), ItemInBothSubsets, "'1'"),
        (answers("m 1 CA ."), MissingColumn, "both are absent or empty"),
        (answers("m . CA 1"), MissingId, "row 1: '1'"),
        (answers("m 1 CA 1").assign(model=""), MissingId, "column 'model'"),
        (answers("m 1 CA 1").assign(model="m "), BadId, "'m '"),
        (answers("m 1 CA 1").assign(accuracy="0.5"), BadValue, "carries 'correct'"),
        (accuracies("m CA 85.3 ."), BadValue, "divide percentages by 100"),
        (accuracies("m CA nan ."), BadValue, "'nan'"),
        (accuracies("m CA -0.1 ."), BadValue, "'-0.1'"),
        (accuracies("m CA 0.5 0"), BadValue, "n_items"),
        (accuracies("m ALL 0.5 .\nm . 0.5 ."), DuplicateRows, "row 2"),
        (accuracies("m ALL . .").assign(accuracy=""), MissingColumn, "both are absent or empty"),
        (pd.concat([answers("m 1 CA 1"), accuracies("k ALL 0.5 .")]), BadValue, "b@sv has rows with items"),
        (accuracies("m ALL 0.5 .").drop(columns="language"), MissingColumn, "'language'"),
        (accuracies("m ALL 0.5 .").iloc[:0], EmptyTable, "no rows"),
    ],
)
def test_refusals_name_column_count_and_rows(
    frame: pd.DataFrame, error: type[InputError], words: str
) -> None:
    with pytest.raises(error, match=words):
        read_scores(frame)


def test_row_numbers_are_those_of_the_file_when_kinds_are_mixed() -> None:
    frame = pd.concat([answers("m 1 CA 1\nm 2 CA 1"), accuracies("m ALL 1.5 .").assign(benchmark="c")])
    with pytest.raises(BadValue, match=r"row 3: '1\.5'"):
        read_scores(frame)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", EmptyTable),
        (b"model,benchmark\na,b,c\n", UnreadableFile),
        ("ö".encode("utf-16"), UnreadableFile),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, content: bytes, error: type[InputError]) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(content)
    with pytest.raises(error, match="score table"):
        read_scores(path)
    with pytest.raises(UnreadableFile, match=r"does not exist|not a file"):
        read_scores(tmp_path / "nowhere.csv")


def test_pooled_accuracies_tie_where_as_many_answers_are_right() -> None:
    """a right of CA and b of CS, or the other way round: the same share of all items, to the last digit."""
    for total in range(28, 58):
        table = "\n".join(
            f"m{first} {subset} {right / n!r} {n}"
            for first in range(total + 1)
            for subset, right, n in (("CA", first, 101), ("CS", total - first, 223))
        )
        assert len(set(read_scores(accuracies(table)).of("b", "sv", "ALL")["score"])) == 1
