"""Samples: counts against an independent rule, the seed, the pivot's rows, and what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.cli.main import main
from maskedadv.errors import BadSetting, MissingColumn, OutputExists
from maskedadv.scoring.item_sets.allocation import allocate
from maskedadv.scoring.item_sets.sample import sample_items
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.sources import read_items

SIZES = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=2), st.integers(1, 300), min_size=1, max_size=9
)


def items_of(sizes: dict[str, int], language: str = "bn", subset: str = "CS") -> list[Item]:
    return [
        Item(f"{subject}-{n}", subset, language, f"{subject} {n}?", ("a", "b"), 0, "", {"subject": subject})
        for subject, size in sizes.items()
        for n in range(size)
    ]


@given(sizes=SIZES, cap=st.integers(1, 400))
def test_counts_are_proportional_and_every_subject_is_there(sizes: dict[str, int], cap: int) -> None:
    if cap < len(sizes) and cap < sum(sizes.values()):
        with pytest.raises(BadSetting, match="is less than"):
            allocate(sizes, cap)
        return
    taken = allocate(sizes, cap)
    total = sum(sizes.values())
    assert sum(taken.values()) == min(cap, total)
    assert all(1 <= taken[name] <= sizes[name] for name in sizes)
    if total <= cap:
        return
    shares = {name: cap * size / total for name, size in sizes.items()}
    small = [name for name in sizes if shares[name] < 1]
    for name in sizes:
        assert taken[name] <= np.ceil(shares[name]) or taken[name] == 1
        # Only the items that small subjects get beyond their share are taken from the others.
        assert taken[name] >= np.floor(shares[name]) - len(small)
    if not small:  # the quota rule, and the largest remainders: Hamilton's method, from its definition
        floors = {name: int(np.floor(share + 1e-12)) for name, share in shares.items()}
        left = cap - sum(floors.values())
        first = sorted(sizes, key=lambda name: (-round(shares[name] - floors[name], 9), name))[:left]
        assert taken == {name: floors[name] + (name in first) for name in sizes}


def test_an_example_by_hand() -> None:
    # Shares of 10: 6.0, 2.9, 0.6, 0.5; the last two get one each, which the first two pay for.
    assert allocate({"a": 60, "b": 29, "c": 6, "d": 5}, 10) == {"a": 6, "b": 2, "c": 1, "d": 1}


def test_the_seed_and_the_ids_decide_and_nothing_else() -> None:
    items = items_of({"law": 40, "food": 20})
    one = sample_items(items, 12)
    shuffled = random.Random(3).sample(items, len(items))
    assert {x.item for x in sample_items(shuffled, 12).items} == {x.item for x in one.items}
    assert {x.item for x in sample_items(items, 12, seed=2).items} != {x.item for x in one.items}
    more = {x.item for x in sample_items(items, 24).items}
    assert {x.item for x in one.items} < more
    assert Counter(x.extra["subject"] for x in one.items) == {"law": 8, "food": 4}
    assert [x for x in items if x in one.items] == list(one.items)
    # The same ids in another locale are the same sample.
    both = sample_items([*items, *items_of({"law": 40, "food": 20}, "el")], 12)
    assert {x.item for x in both.items if x.language == "el"} == {x.item for x in one.items}


def test_every_item_is_as_likely() -> None:
    """Inclusion over seeds: 12 of 60; the standard error of a share is 0.02 at 400 seeds."""
    items = items_of({"law": 40, "food": 20})
    counts = Counter(x.item for seed in range(400) for x in sample_items(items, 12, seed=seed).items)
    shares = np.array([counts[x.item] / 400 for x in items])
    assert abs(shares - 0.2).max() < 4.5 * 0.02
    assert shares.std() == pytest.approx(0.02, rel=0.35)


def test_pivot_rows_follow_and_other_subsets_stay() -> None:
    local = items_of({"law": 30})
    pivot = items_of({"law": 30}, "en")
    lonely = Item("only", "CA", "en", "?", ("a", "b"), 0)
    agnostic = items_of({"maths": 9}, subset="CA")
    sample = sample_items([*local, *pivot, lonely, *agnostic], 10, subset="CS")
    taken = {x.item for x in sample.items if x.language == "bn" and x.subset == "CS"}
    assert len(taken) == 10
    assert {x.item for x in sample.items if x.language == "en"} == taken | {"only"}
    assert sum(x.subset == "CA" for x in sample.items) == 10
    assert len(sample.items) + len(sample.left_out) == 70
    assert [(s.language, s.subject, s.available, s.taken) for s in sample.strata] == [("bn", "law", 30, 10)]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from maskedadv.scoring.item_sets.item_files import write_item_file

    def run(*arguments: object) -> int:
        try:
            main([str(a) for a in arguments])
        except SystemExit as stop:
            return int(stop.code or 0)
        return 0

    items = [*items_of({"law": 30, "food": 3}), *items_of({"law": 5}, "ar")]
    write_item_file(tmp_path / "in.jsonl", items)
    command = ("items", "sample", tmp_path / "in.jsonl", "--cap", 10)
    for name in ("out.jsonl", "out.parquet"):
        assert run(*command, "-o", tmp_path / name) == 0
        assert read_items([tmp_path / name]).items == sample_items(items, 10).items
    printed = capsys.readouterr().out
    assert "bn        law             30      9" in printed
    assert "15 of 38 items (seed 1)" in printed
    assert run(*command, "-o", tmp_path / "out.jsonl") == 2
    assert (
        run(*command, "-o", tmp_path / "x.csv") == run(*command, "-o", tmp_path / "x.jsonl", "--cap", 0) == 2
    )
    assert run(*command, "-o", tmp_path / "x.jsonl", "--subject", "topic") == 2
    assert "there are subject" in " ".join(capsys.readouterr().err.split())
    assert run(*command, "-o", tmp_path / "x.jsonl", "--subject", "topic", "--no-subject", "--json") == 0
    assert json.loads(capsys.readouterr().out)["items"] == 15


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_a_place_that_cannot_be_written_is_a_sentence(name: str, tmp_path: Path) -> None:
    from maskedadv.scoring.item_sets.item_files import write_item_file

    items = items_of({"law": 3})
    (tmp_path / "file").write_text("mine")
    (tmp_path / name).mkdir()
    for place in (tmp_path / "file" / name, tmp_path / name):
        with pytest.raises(OutputExists, match="cannot be written"):
            write_item_file(place, items)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", name]
    write_item_file(tmp_path / "new" / name, items)
    assert [x.item for x in read_items([tmp_path / "new" / name]).items] == [x.item for x in items]


def test_items_without_the_column_are_refused() -> None:
    items = [*items_of({"law": 3}), Item("x", "CS", "bn", "?", ("a", "b"), 0, where="f, row 4")]
    with pytest.raises(MissingColumn, match="1 items have no 'subject'"):
        sample_items(items, 2)
    assert len(sample_items(items, 2, subject=None).items) == 2
