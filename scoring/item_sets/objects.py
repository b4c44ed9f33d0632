"""An object of JSON out of what a model wrote, and texts out of it that can be shown; nothing is trusted."""

from __future__ import annotations

import json
import re
import unicodedata
from contextlib import suppress
from typing import Any

from maskedadv.scoring.endpoints.replies import clean_text
from maskedadv.scoring.reading.reasoning import without_reasoning

_MOST_BEGINNINGS = 500  # braces that an object is looked for behind, so that a flood of them takes no hours
_JOINERS = "\u200c\u200d"  # Persian and Indic scripts need them


class Unusable(Exception):
    """An answer that is none.

    Attributes
    ----------
    reason
        One of the reasons of docs/reference/item_sets.md.
    detail
        What is wrong, in words that the model is told as well.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


def read_object(text: str) -> dict[str, Any]:
    """The object that an answer is, or that stands last in it; a list of one object counts as it.

    Raises
    ------
    Unusable
        no_json
    """
    final = without_reasoning(text).text.strip()
    try:
        return _as_object(json.loads(final))
    except (ValueError, RecursionError, Unusable):
        pass
    found, end = None, 0
    decoder = json.JSONDecoder()
    for at in [brace.start() for brace in re.finditer("{", final)][-_MOST_BEGINNINGS:]:
        if at < end:
            continue  # inside of the one before
        with suppress(ValueError, RecursionError):
            found, end = decoder.raw_decode(final, at)
    return _as_object(found)


def _as_object(value: Any) -> dict[str, Any]:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise Unusable("no_json", "the answer is no JSON object")
    return value


def one_line(value: Any, most: int) -> str:
    """A text in one line, without control or direction-changing characters, and not too long."""
    text = clean_text(value) if isinstance(value, str) else ""
    kept = "".join(
        " " if unicodedata.category(c) in {"Cc", "Zl", "Zp"} else c
        for c in text
        if unicodedata.category(c) != "Cf" or c in _JOINERS
    )
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def named(value: Any, most: int = 60) -> str:
    """A value in a message: short, in quotes."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"'{one_line(text, most)}'"
