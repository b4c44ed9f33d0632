"""Where pieces of a text that a model quotes stand in an item."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Any

from maskedadv.scoring.items.items import Item

QUESTION = "question"


def find_span(text: str, item: Item) -> dict[str, Any] | None:
    """The first place of a piece in the question or an option; None where it stands nowhere.

    Case, the kind and number of blanks, and the normal form of accents may differ; what is given back is
    the item's own text.

    Returns
    -------
    text, part, start, end: `part[start:end] == text`, in code points.
    """
    for pattern in _patterns(text):
        for part, own in parts_of(item):
            if found := pattern.search(own):
                return {"text": found[0], "part": part, "start": found.start(), "end": found.end()}
    return None


def parts_of(item: Item) -> Iterator[tuple[str, str]]:
    """The texts of an item: the question, and the options by letter."""
    yield QUESTION, item.question
    yield from zip(ascii_uppercase, item.options, strict=False)


def _patterns(text: str) -> Iterator[re.Pattern[str]]:
    """What to look for: the piece as it is; then less exactly."""
    yield re.compile(re.escape(text))
    for form in (text, *(unicodedata.normalize(kind, text) for kind in ("NFC", "NFD"))):
        if words := form.split():
            yield re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
