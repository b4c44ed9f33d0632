"""Which way a text runs, by its letters: a list of languages would be wrong for those in two scripts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def direction(texts: Iterable[str]) -> str:
    """`rtl` where most letters that have a direction run from right to left, else `ltr`.

    By the bidirectional class of each character (Unicode Standard Annex #9); digits and signs have none.
    """
    right = left = 0
    for text in texts:
        for c in text:
            kind = unicodedata.bidirectional(c)
            right += kind in ("R", "AL")
            left += kind == "L"
    return "rtl" if right > left else "ltr"
