"""Which options a logged answer key names: by text, by letter, or by position from 0 or from 1.

A key such as "2" can be an option's text or a position; only the scores that the log itself gives can tell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import AmbiguousKey

_SPELLED = {"text": "an option's text", "0": "a position from 0", "1": "a position from 1"}
Case = tuple[Any, Sequence[str], int | None, int | None]


def right_options(target: Any, texts: Sequence[str], reading: str) -> frozenset[int]:
    """Positions of the options that a key names, counted from 0.

    Parameters
    ----------
    target
        The key: a number, a text, a list of either, or the text of such a list ("[0, 2]").
    texts
        The options as text; empty texts where only their number is known.
    reading
        "text" (an option's text, else a letter), "letter", "0" or "1" (a position counted from that).

    Returns
    -------
    The positions; empty if the key, or a part of it, names no option.
    """
    found = [_one(element, texts, reading) for element in _elements(target)]
    return frozenset() if None in found else frozenset(f for f in found if f is not None)


def settle_reading(cases: Iterable[Case], where: str) -> str:
    """The one reading of a log's keys under which its scores come out.

    Parameters
    ----------
    cases
        (key, option texts, position of the chosen option, logged score 0 or 1) of one answer after the
        other; the last two are None where unknown. Taken only until one reading is left.
    where
        The log, for messages.

    Raises
    ------
    AmbiguousKey
        No reading, or more than one, reproduces the scores.
    """
    alive = ["text", "0", "1"]
    apart: Any = None
    for target, texts, chosen, score in cases:
        keys = {reading: right_options(target, texts, reading) for reading in alive}
        if any(keys.values()):
            alive = [reading for reading in alive if keys[reading]]
        if chosen is not None and score is not None:
            alive = [r for r in alive if not keys[r] or (chosen in keys[r]) == bool(score)]
        if not alive:
            raise AmbiguousKey(
                f"{where}: the key {target!r} of one answer agrees with its score under no reading (option "
                "text, letter, position from 0 or 1); say which under `answer` in a mapping."
            )
        if len(alive) == 1:
            return alive[0]
        if len({keys[reading] for reading in alive}) > 1:
            apart = target
    if apart is not None:
        readings = " or ".join(_SPELLED[reading] for reading in alive)
        raise AmbiguousKey(
            f"{where}: the key {apart!r} can be {readings}, and the log's scores do not tell which; "
            "say so under `answer` in a mapping."
        )
    return alive[0]


def _elements(target: Any) -> list[Any]:
    if isinstance(target, str) and target.strip().startswith("["):
        try:
            target = ast.literal_eval(target.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return [target]
    return list(target) if isinstance(target, list | tuple) else [target]


def _is_number(element: Any) -> bool:
    text = str(element).strip()
    return text.isascii() and text.isdigit()


def _one(element: Any, texts: Sequence[str], reading: str) -> int | None:
    text = str(element).strip()
    if reading in {"0", "1"}:
        position = int(text) - int(reading) if _is_number(element) and len(text) < 9 else -1
        return position if 0 <= position < len(texts) else None
    if reading == "text" and text in texts and len(set(texts)) > 1:
        return list(texts).index(text)
    letter = text.strip("().").upper()
    if len(letter) == 1 and letter in ascii_uppercase[: len(texts)]:
        return ascii_uppercase.index(letter)
    return None
