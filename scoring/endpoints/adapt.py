"""A request in the words that an endpoint takes: what one question found out holds for all later ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from maskedadv.scoring.endpoints.bodies import changed
from maskedadv.scoring.endpoints.patience import show
from maskedadv.scoring.endpoints.replies import Reply, read_reply
from maskedadv.scoring.endpoints.talk import Talk, paid_post
from maskedadv.scoring.endpoints.trouble import Trouble, rejects_request


def post_adapting(
    talk: Talk, path: str, body: Callable[[frozenset[str]], dict[str, Any]], most: tuple[int, int]
) -> tuple[Reply, frozenset[str]]:
    """Send a request once, or again in other words where the endpoint refuses those.

    Parameters
    ----------
    body
        The request, given what it is to say otherwise than usual.
    most
        Tokens that it may have read and written.

    Returns
    -------
    The reply, and what its request said otherwise.

    Raises
    ------
    Trouble, CostReached
    """
    while True:
        used = frozenset(talk.changes)
        try:
            return paid_post(talk, path, body(used), most, read_reply), used
        except Trouble as trouble:
            change = changed(trouble, talk.settings, used, first=not talk.answered)
            if not change and rejects_request(trouble) and talk.changes - used:
                continue  # another question found the words meanwhile
            if not change:
                raise
            with talk.lock:
                new = change not in talk.changes
                talk.changes.add(change)
            if new:
                show(talk, trouble)
                asked = ", ".join(sorted(talk.changes))
                talk.report(f"{talk.name} does not take every setting; asked with {asked}.")
