"""The chance of a lucky guess on every item, and what is at chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import BadValue, NoOptions
from maskedadv.responses import Responses
from maskedadv.responses.stored import StoredResponses
from maskedadv.words.lists import first_few


def chance_of_items(
    responses: Responses | StoredResponses, guessing: str, options: int | None
) -> NDArray[np.float64] | None:
    """Floor c of every item of the table, shape (I,), or None where no floor is to be fitted.

    Parameters
    ----------
    guessing
        `none`; `chance`: 1/options, which must be known for every item; `auto`: the same where it is known
        for every item, else none; or a number, taken for all items.
    options
        Number of options of the items that have none in the table's column `n_options`.

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
    known = options_of_items(responses, options)
    missing = np.flatnonzero(np.isnan(known))
    if not len(missing):
        return 1.0 / known
    if guessing == "auto":
        return None
    raise NoOptions(
        f"guessing 'chance' needs the number of options of every item; {len(missing)} have none "
        f"({_named(responses, missing)}): add a column n_options, or give --options."
    )


def options_of_items(responses: Responses | StoredResponses, options: int | None) -> NDArray[np.float64]:
    """Number of options of every item, shape (I,): the table's, else `options`, else NaN.

    Raises
    ------
    BadValue
        The table gives one item different numbers of options.
    """
    known = np.full(len(responses.items), np.nan if options is None else float(options))
    if (found := responses.options_given()) is not None:
        item, given = found
        known[item] = given
        clash = np.flatnonzero(known[item] != given)
        if len(clash):
            apart = np.unique(item[clash]).astype(np.intp)
            raise BadValue(
                f"column 'n_options': {len(apart)} items have different numbers of options in different rows "
                f"({_named(responses, apart)}); an item has one number of options. Mend the column, or give "
                "a floor with --guessing (none, or a number)."
            )
    return known


def options_notes(responses: Responses | StoredResponses, guessing: str, options: int | None) -> list[str]:
    """What a user of the floor should know: why it is left out, or that `options` was of no use."""
    if guessing not in ("auto", "chance") or "n_options" not in responses.columns:
        return []
    without = np.isnan(options_of_items(responses, None))
    missing = np.flatnonzero(without)
    if options is None:
        if not len(missing) or without.all():
            return []
        return [
            f"no floor: {len(missing)} of {len(without)} items have no number of options in column n_options "
            f"({_named(responses, missing)}); fill it, or give --options for them."
        ]
    if len(missing):
        return []
    return [f"options {options} was used for no item: column n_options gives the number for every item."]


def at_chance(
    right: NDArray[np.float64], lucky: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether right answers are not above those that luck alone gives by two standard errors.

    Parameters
    ----------
    right : number (or share) of right answers
    lucky, spread : its expectation and standard deviation under guessing, in the same unit
    """
    return np.asarray(right <= lucky + 2.0 * spread)


def _named(responses: Responses | StoredResponses, items: NDArray[np.integer]) -> str:
    return first_few([repr(responses.items[i]) for i in items])
