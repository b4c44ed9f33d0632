"""Batches: every row once, within the budget, never across a break."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.scoring.models.batch import PADDING, Budget, run_batches, take

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=40)


def collect(lengths: list[int], budget: int, **options: object) -> list[list[int]]:
    batches: list[list[int]] = []
    run_batches(
        range(len(lengths)),
        lengths,
        Budget(budget),
        batches.append,
        is_out_of_memory=lambda _: False,
        give_up=lambda _: None,
        **options,  # type: ignore[arg-type]
    )
    return batches


@given(LENGTHS, st.integers(1, 300))
def test_every_row_once_and_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = collect(lengths, budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        positions = len(batch) * max(lengths[row] for row in batch)
        assert len(batch) == 1 or positions <= budget
        assert positions - sum(lengths[row] for row in batch) <= PADDING * positions


@given(LENGTHS, st.integers(1, 300))
def test_equal_batches_hold_one_length(lengths: list[int], budget: int) -> None:
    for batch in collect(lengths, budget, equal=True):
        assert len({lengths[row] for row in batch}) == 1


@given(LENGTHS, st.integers(1, 300), st.integers(1, 60))
def test_no_batch_straddles_a_break(lengths: list[int], budget: int, limit: int) -> None:
    for batch in collect(lengths, budget, breaks=[limit]):
        assert len({lengths[row] > limit for row in batch}) == 1


def test_the_longest_come_first() -> None:
    assert take([99, 98, 98, 1], 0, 300) == 3
    assert take([99, 80], 0, 300) == 1  # padding
    assert take([9, 8, 8, 1], 3, 1) == 1
    assert take([100], 0, 5) == 1


def test_memory_that_runs_out_halves_the_budget() -> None:
    seen: list[list[int]] = []

    def work(batch: list[int]) -> None:
        seen.append(batch)
        if len(batch) > 2:
            raise MemoryError

    budget = Budget(40)
    run_batches(
        range(8),
        [5] * 8,
        budget,
        work,
        is_out_of_memory=lambda e: isinstance(e, MemoryError),
        give_up=lambda _: None,
    )
    assert [len(batch) for batch in seen] == [8, 4, 2, 2, 2, 2]
    assert budget.tokens == 10


def test_a_row_that_never_fits_is_given_up_and_the_rest_goes_on() -> None:
    given_up: list[int] = []
    done: list[int] = []

    def work(batch: list[int]) -> None:
        if 1 in batch:
            raise MemoryError
        done.extend(batch)

    run_batches(
        range(4),
        [5, 9, 5, 5],
        Budget(100),
        work,
        is_out_of_memory=lambda e: isinstance(e, MemoryError),
        give_up=given_up.append,
    )
    assert (sorted(done), given_up) == ([0, 2, 3], [1])


def test_other_errors_are_raised() -> None:
    def work(_: list[int]) -> None:
        raise RuntimeError("another fault")

    with pytest.raises(RuntimeError, match="another fault"):
        run_batches([0], [1], Budget(1), work, is_out_of_memory=lambda _: False, give_up=lambda _: None)


def test_copies_of_a_row_count() -> None:
    seen: list[int] = []
    run_batches(
        range(8),
        [5] * 8,
        Budget(40),
        lambda batch: seen.append(len(batch)),
        is_out_of_memory=lambda _: False,
        give_up=lambda _: None,
        equal=True,
        copies=4,
    )
    assert seen == [2] * 4
