"""The chance of a lucky guess on every item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import BadValue, NoOptions
from maskedadv.responses import Responses


def chance_of_items(responses: Responses, guessing: str, options: int | None) -> NDArray[np.float64] | None:
    """Floor c of every item of the table, shape (I,), or None where no floor is to be fitted.

    Parameters
    ----------
    guessing
        `none`; `chance`: 1/options, which must be known for every item; `auto`: the same where it is known
        for every item, else none; or a number, taken for all items.
    options
        Number of options of all items where the table has no `n_options`.

    Raises
    ------
    NoOptions
        `chance` was asked for and some items have no known number of options.
    BadValue
        The table gives one item different numbers of options.
    """
    if guessing == "none":
        return None
    if guessing not in ("auto", "chance"):
        return np.full(len(responses.items), float(guessing))
    known = np.full(len(responses.items), np.nan if options is None else float(options))
    if responses.n_options is not None:
        have = ~np.isnan(responses.n_options)
        item, given = responses.item[have], responses.n_options[have]
        known[item] = given
        clash = np.flatnonzero(known[item] != given)
        if len(clash):
            names = ", ".join(repr(responses.items[i]) for i in dict.fromkeys(item[clash].tolist()[:3]))
            raise BadValue(
                f"column 'n_options': {len(np.unique(item[clash]))} items have different numbers of options "
                f"in different rows ({names}); an item has one number of options."
            )
    missing = np.flatnonzero(np.isnan(known))
    if not len(missing):
        return 1.0 / known
    if guessing == "auto":
        return None
    names = ", ".join(repr(responses.items[i]) for i in missing[:3])
    raise NoOptions(
        f"guessing 'chance' needs the number of options of every item; {len(missing)} have none "
        f"({names}{', ...' if len(missing) > 3 else ''}): add a column n_options, or give --options."
    )
