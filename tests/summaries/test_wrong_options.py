"""Equal wrong options: counted by hand, and 1/(K − 1) for models that err at random."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import MissingColumn
from maskedadv.summaries import equal_wrong_options


def table(rows: list[tuple[str, str, int, str]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["model", "item", "correct", "option"])
    return frame.assign(subset="CA", language="en")


def test_counts_by_hand() -> None:
    """Item 1: a and b wrong alike, c otherwise; item 2: a and c wrong alike, b right; item 3: b's unknown."""
    found = equal_wrong_options(
        table(
            [
                ("a", "1", 0, "B"), ("b", "1", 0, "B"), ("c", "1", 0, "C"), ("d", "1", 0, "C"),
                ("a", "2", 0, "D"), ("b", "2", 1, "A"), ("c", "2", 0, "D"), ("d", "2", 1, "A"),
                ("a", "3", 0, "B"), ("b", "3", 0, ""), ("c", "3", 0, "C"), ("d", "3", 0, "B"),
            ]
        )
    ).set_index(["model", "other"])  # fmt: skip
    assert found.loc[("a", "b"), ["both_wrong", "equal"]].tolist() == [1, 1]
    assert found.loc[("a", "c"), ["both_wrong", "equal"]].tolist() == [3, 1]
    assert found.loc[("a", "d"), ["both_wrong", "equal"]].tolist() == [2, 1]
    assert found.loc[("a", "b"), "share_others"] == 1.0  # c and d agree on item 1
    assert found.loc[("a", "c"), "share_others"] == 0.0  # b and d differ on item 1, alone elsewhere


def test_chance_and_copies() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.integers(1, 4, (4, 3000))
    drawn[1] = drawn[0]
    rows = [(f"m{j}", str(i), 0, "ABCD"[v]) for j, row in enumerate(drawn) for i, v in enumerate(row)]
    found = equal_wrong_options(table(rows)).set_index(["model", "other"])
    assert found.index[0] == ("m0", "m1")
    assert found.loc[("m0", "m1"), "share_equal"] == 1.0
    assert found.loc[("m2", "m3"), "share_equal"] == pytest.approx(1 / 3, abs=0.035)
    assert found.loc[("m0", "m1"), "share_others"] == pytest.approx(1 / 3, abs=0.035)


def test_a_table_without_options_is_refused() -> None:
    frame = table([("a", "1", 0, "B"), ("b", "1", 0, "B")])
    with pytest.raises(MissingColumn, match="no column 'choice'"):
        equal_wrong_options(frame, "choice")
