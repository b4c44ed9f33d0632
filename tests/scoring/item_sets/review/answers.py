"""Answers of people for tests, with what is not said as usual."""

from __future__ import annotations

from typing import Any

from maskedadv.scoring.item_sets.review.people import row_of
from maskedadv.scoring.item_sets.review.sheet import Piece

ENGLISH = ("What is eaten?", ("Zongzi", "Mooncakes"))


def answer(
    item: str,
    who: str,
    *,
    language: str = "zh",
    english: tuple[str, tuple[str, ...]] | None = ENGLISH,
    spans: tuple[Piece, ...] = (),
    words: dict[str, str] | None = None,
    **choices: str,
) -> dict[str, Any]:
    """A row of `PEOPLE`: CS, cultural, sound, a good translation, unless `choices` say otherwise."""
    usual = {
        "required_knowledge": "cultural",
        "cultural_sensitivity_label": "CS",
        "time_sensitive": "no",
        "subject_category": "humanities",
        "sound": "yes",
        **({} if english is None else {"translation": "good"}),
    }
    return row_of(item, language, who, {**usual, **choices}, words or {}, spans, english)
