"""Tables as people read them, and as LaTeX compiles them."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.reports.tables import display, latex, to_latex, write_csv


def test_gaps_become_columns() -> None:
    frame = pd.DataFrame(
        {
            "locale": ["zh", "zh", "fr"],
            "n_models": [2, 5, 1],
            "gap": ["global_gap", "local_gap", "local_gap"],
            "estimate": [-0.654, 0.1, math.nan],
            "lower": [-1.0, -0.1, math.nan],
            "upper": [-0.3, 0.3, math.nan],
        }
    )
    table = display(frame)
    assert table.columns == ("locale", "number of models", "global gap", "local gap")
    assert table.numeric == (False, True, True, True)
    assert [c.text for c in table.rows[0]] == ["zh", "2 to 5", "−0.65 [−1.00, −0.30]", "0.10 [−0.10, 0.30]"]
    assert [c.text for c in table.rows[1]] == ["fr", "1", "n/a", "n/a"]
    assert table.rows[0][2].sort == -0.654


def test_differences_show_what_they_were_made_from() -> None:
    frame = pd.DataFrame(
        {
            "locale": ["zh", "zh"],
            "n_home": [2, 2],
            "gap": ["local_gap", "knowledge_gap"],
            "home": [0.5, math.nan],
            "others": [-0.25, math.nan],
            "estimate": [0.75, math.nan],
            "lower": [0.5, math.nan],
            "upper": [1.0, math.nan],
        }
    )
    table = display(frame)
    assert table.columns == ("locale", "number of home", "gap", "home", "others", "home − others")
    assert table.numeric == (False, True, False, True, True, True)
    shown = [[c.text for c in row] for row in table.rows]
    assert shown[0] == ["zh", "2", "local gap", "0.50", "−0.25", "0.75 [0.50, 1.00]"]
    assert shown[1] == ["zh", "2", "knowledge gap", "n/a", "n/a", "n/a"]


def test_other_tables() -> None:
    frame = pd.DataFrame(
        {"gap": ["local_gap"], "p": [0.0003], "share_positive": [0.98], "pearson": [0.9961], "known": [36]}
    )
    assert [c.text for c in display(frame).rows[0]] == ["local_gap", ".0003", "98%", "0.9961", "36"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b", r"a\_b"),
        ("$x$ & 5%", r"\$x\$ \& 5\%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a\nb", "a b"),
        ("−0.65 [−1]", "$-$0.65 {[}$-$1{]}"),
    ],
)
def test_latex_is_escaped(text: str, escaped: str) -> None:
    assert latex(text) == escaped


def test_latex_table_has_as_many_cells_as_columns() -> None:
    frame = pd.DataFrame({"model": ["a&b", "c\\\\d"], "value": [1.5, math.nan]})
    text = to_latex(display(frame), "Caption.", "tab:x")
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [line.count(" & ") for line in rows] == [1, 1, 1]
    assert r"a\&b & 1.50 \\" in rows


def test_csv_keeps_all_digits(tmp_path: Path) -> None:
    frame = pd.DataFrame({"model": ["001", "NA"], "value": [1 / 3, -1e-9]})
    write_csv(frame, tmp_path / "t.csv")
    again = pd.read_csv(tmp_path / "t.csv", dtype={"model": str}, keep_default_na=False)
    pd.testing.assert_frame_equal(again, frame.astype({"model": again["model"].dtype}), rtol=1e-15)
