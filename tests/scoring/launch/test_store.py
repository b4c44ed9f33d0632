"""Answer files: whole or absent, never another's, and the rows in them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import maskedadv
from maskedadv.files.alive import held
from maskedadv.files.atomic import write_whole
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.store import (
    Answer,
    answer_path,
    read_answers,
    table_of,
    write_answers,
    write_table,
)

KEY = {"model": "org/m", "language": "en", "set": "s", "revision": "1"}
ITEMS = [
    Item(f"q{k}", "CA", "en", "Who?", ("a", "b", "c"), k % 3, extra={"topic": f"t{k}"}) for k in range(3)
]


def test_rows_hold_what_the_log_probabilities_say() -> None:
    lp = [math.log(x) for x in (0.2, 0.1, 0.5)]
    answers = [Answer(lp, None, "", 1), Answer(lp, None, "", 2), Answer(None, None, "too_long")]
    rows = table_of("m", ITEMS, answers).to_pylist()
    first = rows[0]
    assert first["correct"] == 0
    assert first["p_correct"] == pytest.approx(0.25)
    assert first["crm_logit"] == pytest.approx(math.log(0.2 / 0.6))
    assert first["option_mass"] == pytest.approx(0.8)
    assert first["option_logprobs"] == pytest.approx(lp)
    assert (first["n_options"], first["n_tail_tokens"], first["topic"], first["tied"]) == (3, 1, "t0", False)
    assert rows[2] | {"item": ""} == {
        **dict.fromkeys(first, None),
        "model": "m",
        "subset": "CA",
        "language": "en",
        "item": "",
        "n_options": 3,
        "tied": False,
        "reason": "too_long",
        "topic": "t2",
    }


def test_ties_are_flagged_and_nan_is_not_observed() -> None:
    answers = [
        Answer([-1.0, -1.0, -2.0]),
        Answer([math.nan] * 3, None, "not_finite"),
        Answer([-9.0, -1.0, -700.0]),
    ]
    rows = table_of("m", ITEMS, answers).to_pylist()
    assert (rows[0]["tied"], rows[0]["correct"]) == (True, 1)
    assert (rows[1]["correct"], rows[1]["p_correct"], rows[1]["option_mass"]) == (None, None, None)
    assert rows[2]["crm_logit"] == pytest.approx(-699, abs=0.01)


def test_an_option_outside_the_top_leaves_the_answer_but_no_probability() -> None:
    answers = [
        Answer([-0.1, math.nan, -5.0], None, "option_not_in_top"),
        Answer([-0.1, math.nan, -5.0], None, "option_not_in_top"),
        Answer([math.nan] * 3, None, "option_not_in_top"),
    ]
    rows = table_of("m", ITEMS, answers).to_pylist()
    assert [r["correct"] for r in rows] == [1, 0, None]
    assert [r["p_correct"] for r in rows] == [None, None, None]
    assert rows[0]["option_logprobs"] == [-0.1, None, -5.0]


def test_rows_are_ordered_by_item_whatever_the_order_of_items() -> None:
    answers = [Answer([-1.0, -2.0, -3.0 - k]) for k in range(3)]
    forward = table_of("m", ITEMS, answers)
    assert table_of("m", ITEMS[::-1], answers[::-1]).equals(forward)


def test_files_of_different_fingerprints_never_meet(tmp_path: Path) -> None:
    others = [
        KEY | {"revision": "2"},
        KEY | {"model": "org_m"},
        KEY | {"model": "org%2Fm"},
        KEY | {"set": "s/../s"},
        KEY | {"language": "en-GB"},
        KEY | {"dtype": "bfloat16"},
    ]
    paths = [answer_path(tmp_path, key) for key in [KEY, *others]]
    assert len(set(paths)) == len(paths)
    assert all(p.resolve().is_relative_to(tmp_path.resolve()) for p in paths)
    table = table_of("org/m", ITEMS, [Answer([-1.0, -2.0, -3.0])] * 3)
    write_answers(paths[0], table, KEY)
    assert read_answers(paths[0], KEY, 3).equals(table)
    assert read_answers(paths[0], others[0], 3) is None  # a file moved to another's place
    assert read_answers(paths[0], KEY, 4) is None


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -20])
def test_a_truncated_file_counts_as_absent(tmp_path: Path, keep: int) -> None:
    path = answer_path(tmp_path, KEY)
    write_answers(path, table_of("org/m", ITEMS, [Answer([-1.0, -2.0, -3.0])] * 3), KEY)
    path.write_bytes(path.read_bytes()[:keep])
    assert read_answers(path, KEY, 3) is None


def test_a_bit_that_flipped_on_disk_is_noticed(tmp_path: Path) -> None:
    """Wherever it is: the file counts as absent, or gives what was written."""
    path = answer_path(tmp_path, KEY)
    table = table_of("org/m", ITEMS, [Answer([-1.25, -2.5, -3.75])] * 3)
    write_answers(path, table, KEY)
    whole = path.read_bytes()
    noticed = 0
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = read_answers(path, KEY, 3)
        noticed += found is None
        assert found is None or found.equals(table), place
    assert noticed > len(whole) / 7 / 4


def test_a_log_probability_of_minus_infinity_has_the_documented_reason() -> None:
    (row, *_) = table_of("m", ITEMS, [Answer([-1.0, -math.inf, -2.0])] * 3).to_pylist()
    assert (row["correct"], row["p_correct"], row["reason"]) == (None, None, "not_finite")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fail(partial: Path) -> None:
        partial.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(path, fail)
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert path.read_text() == "old"


def test_a_file_is_replaced_at_once_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with path.open() as reader:
        write_whole(path, lambda partial: partial.write_text("new, and longer"))
        assert reader.read() == "old"
    assert path.read_text() == "new, and longer"


def test_leftovers_of_killed_processes_are_swept_and_files_at_work_stay(tmp_path: Path) -> None:
    path = answer_path(tmp_path, KEY)
    path.parent.mkdir(parents=True)
    left, early = path.parent / ".a.1.2.partial", path.parent / f".{path.name}.1.2.partial.new"
    left.write_text("half")
    early.write_text("")
    at_work = path.parent / ".b.1.2.partial"
    with held(at_work):
        write_answers(path, table_of("org/m", ITEMS, [Answer([-1.0, -2.0, -3.0])] * 3), KEY)
        assert sorted(p.name for p in path.parent.iterdir()) == sorted([at_work.name, path.name])


def test_the_table_is_a_response_table_binary_and_crm(tmp_path: Path) -> None:
    """Accepted by check and fit unchanged, and the fit finds what went in."""
    rng = np.random.default_rng(4)
    tables = []
    for language, gap in (("en", 0.0), ("zh", -1.0)):
        for model in range(6):
            items = [
                Item(f"{s}{k}", s, language, "?", ("a", "b", "c", "d"), 0)
                for s in ("CA", "CS")
                for k in range(60)
            ]
            logits = rng.normal(-0.8 + gap * (np.arange(120) < 60) + 0.2 * model, 1.0, 120)
            answers = [Answer([x, 0.0, 0.0, 0.0]) for x in logits + math.log(3)]
            tables.append(table_of(f"m{model}", items, answers))
    import pyarrow as pa

    write_table(tmp_path / "responses.parquet", pa.concat_tables(tables))
    found = maskedadv.check(tmp_path / "responses.parquet")
    assert len(found.blocks) == 2
    for response in ("binary", "crm"):
        method = {"method": "optimize", "min_accuracy": 0.0, "response": response}
        gaps = maskedadv.fit(tmp_path / "responses.parquet", **method).gaps()
        means = gaps.groupby("gap")["estimate"].mean()
        assert means["global_gap"] < -0.6
        assert means["knowledge_gap"] > 0.6
