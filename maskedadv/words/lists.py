"""Lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def first_few(texts: Iterable[str], most: int = 3, count: int | None = None, between: str = ", ") -> str:
    """`a, b, c, ...`: the first of many, and whether there are more.

    Parameters
    ----------
    texts
        All of them, or at least the first `most`.
    count
        How many there are in all, where `texts` does not hold every one.
    between
        What stands between two; `"; "` where they hold commas themselves.
    """
    listed = list(texts)
    more = (len(listed) if count is None else count) > most
    return between.join(listed[:most]) + (f"{between}..." if more else "")


def and_more(texts: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`: the first of many, and how many more there are."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
