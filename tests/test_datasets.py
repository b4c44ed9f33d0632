"""The data that come with the package are what their descriptions say."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd

import maskedadv
from maskedadv.datasets import DATA, truthfulqa_multi

CHECKSUM = "b2c945a78c9455e2432fce0d56e3df9c382204273a86ea14653c4b0ff222bd10"


def test_outcomes_on_truthfulqa_are_those_of_the_logs() -> None:
    """Counts and a checksum of the rows, taken from the table that was made of the logs."""
    table = truthfulqa_multi()
    assert len(table) == 60_458
    assert table["model"].nunique() == 15
    assert {name.split("/")[0] for name in table["model"]} == {"google", "meta-llama", "mistralai"}
    assert table.groupby("subset")["item"].nunique().to_dict() == {"CA": 288, "CS": 529}
    assert sorted(table["language"].unique()) == ["ca", "en", "es", "eu", "gl"]
    means = table.groupby(["subset", "language"])["correct"].mean().round(6)
    assert means["CA", "eu"] == 0.418651
    assert means["CS", "en"] == 0.438689
    rows = sorted(",".join(map(str, row)) for row in table.itertuples(index=False))
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest() == CHECKSUM


def test_outcomes_on_truthfulqa_equal_the_shared_table(shared: Path) -> None:
    source = pd.read_csv(shared / "data" / "truthfulqa_multi_outcomes.csv.gz", dtype={"item": "str"})
    keys = ["model", "subset", "language", "item"]
    pd.testing.assert_frame_equal(
        source.sort_values(keys).reset_index(drop=True),
        truthfulqa_multi().sort_values(keys).reset_index(drop=True),
        check_dtype=False,
    )


def test_outcomes_on_truthfulqa_can_be_fitted() -> None:
    found = maskedadv.check(truthfulqa_multi())
    assert sorted(found.blocks["locale"].unique()) == ["ca", "es", "eu", "gl"]


def test_what_is_bundled_is_described() -> None:
    described = (DATA / "README.md").read_text("utf-8")
    for path in DATA.iterdir():
        assert path.name in described or path.name in {"README.md", "locales.toml"}


def test_the_licences_of_what_is_bundled_come_with_it() -> None:
    """Apache-2.0 and MIT both ask that their text goes along."""
    described = (DATA / "README.md").read_text("utf-8")
    for licence, first in (("Apache-2.0", "Apache License"), ("BertaQA-MIT", "MIT License")):
        path = DATA / f"LICENSE-{licence}.txt"
        assert path.read_text("utf-8").strip().startswith(first)
        assert f"]({path.name})" in described
