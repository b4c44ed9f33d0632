"""Which questions share a forward pass: the longest first, as many as a budget of tokens admits."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def take(lengths: Sequence[int], begin: int, budget: int, breaks: Sequence[int] = ()) -> int:
    """How many of `lengths[begin:]` go into the next batch.

    Parameters
    ----------
    lengths
        Tokens per row, longest first.
    budget
        Most tokens of a batch, padding included; one row is always taken.
    breaks
        Lengths that no batch may straddle: beyond them the model computes positions otherwise.
    """
    longest = lengths[begin]
    end = min(begin + max(1, budget // longest), len(lengths))
    while any(lengths[end - 1] <= b < longest for b in breaks):
        end -= 1
    return end - begin


def run_batches(
    order: Sequence[int],
    lengths: Sequence[int],
    budget: int,
    work: Callable[[list[int]], None],
    *,
    is_out_of_memory: Callable[[BaseException], bool],
    give_up: Callable[[int], None],
    equal: bool = False,
    breaks: Sequence[int] = (),
) -> int:
    """Work through all rows; when memory runs out, halve the budget and go on.

    Parameters
    ----------
    order
        Rows, as positions in `lengths`.
    work
        Does one batch of rows.
    give_up
        Told of a row that does not fit even alone.
    equal
        Only rows of one length share a batch.

    Returns
    -------
    The budget that was left at the end.
    """
    rows = sorted(order, key=lambda row: (-lengths[row], row))
    sizes = [max(lengths[row], 1) for row in rows]
    position = 0
    while position < len(rows):
        limits = [size - 1 for size in set(sizes)] if equal else breaks
        count = take(sizes, position, budget, limits)
        batch = rows[position : position + count]
        try:
            work(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if count > 1:
                budget = max(count * sizes[position] // 2, 1)
                continue
            give_up(batch[0])
        position += count
    return budget
