"""Which questions share a forward pass: the longest first, as many as budgets of tokens and padding admit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PADDING = 0.03  # most of a batch's positions that may be padding


@dataclass
class Budget:
    """Tokens that a forward pass may hold, over all passes of a model.

    Attributes
    ----------
    tokens
        Most tokens of a pass, padding included; halved when memory runs out, and so it stays.
    computed, padding
        Positions that were computed so far, and those of them that hold no token.
    """

    tokens: int
    computed: int = 0
    padding: int = 0

    def share(self) -> float:
        """Share of padding among all positions."""
        return self.padding / max(self.computed, 1)


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
    most = min(begin + max(1, budget // longest), len(lengths))
    end, tokens = begin + 1, longest
    while end < most:
        tokens += lengths[end]
        positions = longest * (end + 1 - begin)
        if positions - tokens > PADDING * positions or any(lengths[end] <= b < longest for b in breaks):
            break
        end += 1
    return end - begin


def run_batches(
    order: Sequence[int],
    lengths: Sequence[int],
    budget: Budget,
    work: Callable[[list[int]], None],
    *,
    is_out_of_memory: Callable[[BaseException], bool],
    give_up: Callable[[int], None],
    equal: bool = False,
    breaks: Sequence[int] = (),
    copies: int = 1,
) -> None:
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
    copies
        How many times a row is held at once.
    """
    rows = sorted(order, key=lambda row: (-lengths[row], row))
    sizes = [max(lengths[row], 1) * copies for row in rows]
    limits = [size - 1 for size in set(sizes)] if equal else [b * copies for b in breaks]
    position = 0
    while position < len(rows):
        count = take(sizes, position, budget.tokens, limits)
        batch = rows[position : position + count]
        try:
            work(batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if count > 1:
                budget.tokens = max(count * sizes[position] // 2, 1)
                continue
            give_up(batch[0])
        position += count
