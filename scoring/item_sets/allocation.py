"""How many items of each stratum: proportional to its size, at least one of each."""

from __future__ import annotations

from collections.abc import Mapping

from maskedadv.errors import BadSetting


def allocate(sizes: Mapping[str, int], cap: int) -> dict[str, int]:
    """Share `cap` items out over strata.

    Every stratum gets the whole part of its proportional share, and at least one; what is left goes to those
    that lack most of their share, and what is too much is taken from those that have most beyond theirs
    (the largest remainder, with a least number). Equal ones are taken in the order of their names.

    Parameters
    ----------
    sizes
        Items of each stratum, 1 or more.

    Returns
    -------
    Items to take of each; all where there are no more than `cap`.

    Raises
    ------
    BadSetting
        Fewer items than strata.
    """
    total = sum(sizes.values())
    if total <= cap:
        return dict(sizes)
    if cap < len(sizes):
        raise BadSetting(
            f"--cap {cap} is less than the {len(sizes)} subjects, of which at least one item each is taken; "
            "give a larger one, or no --subject."
        )
    names = sorted(sizes)
    taken = {name: max(1, cap * sizes[name] // total) for name in names}
    # Shares times `total`, so that ties are ties.
    lack = {name: cap * sizes[name] - taken[name] * total for name in names}
    left = cap - sum(taken.values())
    while left > 0:
        name = max((n for n in names if taken[n] < sizes[n]), key=lack.__getitem__)
        taken[name], lack[name], left = taken[name] + 1, lack[name] - total, left - 1
    while left < 0:
        name = min((n for n in names if taken[n] > 1), key=lack.__getitem__)
        taken[name], lack[name], left = taken[name] - 1, lack[name] + total, left + 1
    return taken
