"""What questions cost: an estimate, and a bound that holds for every tokenizer."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.prompts.prompts import Rendered

_TEMPLATE = 256  # tokens at most that a chat template puts around a question
_USUAL_TEMPLATE = 8


def estimate(settings: ApiSettings, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Tokens read, by the rule of thumb of four bytes a token, and the most that are written."""
    return _sum(settings, pieces, lambda text: math.ceil(len(text.encode()) / 4) + _USUAL_TEMPLATE)


def bound(settings: ApiSettings, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Tokens read and written at most, where every question is answered at the first try."""
    return _sum(settings, pieces, most_tokens)


def most_tokens(text: str) -> int:
    """Tokens of a text at most, with a template around it: no token is less than a byte.

    A tokenizer may bring the text into another normal form first, which can be longer.
    """
    forms = (text, *(unicodedata.normalize(form, text) for form in ("NFD", "NFKC", "NFKD")))
    return max(len(form.encode("utf-8", "replace")) for form in forms) + _TEMPLATE


def most_of(settings: ApiSettings, rendered: Rendered) -> tuple[int, int]:
    """Tokens that one question may have read and written."""
    texts = _texts(settings, rendered)
    return sum(map(most_tokens, texts)), settings.longest_answer() * len(texts)


def price(settings: ApiSettings, read: int, written: int) -> float:
    """Money for tokens."""
    return (read * settings.price_in + written * settings.price_out) / 1e6


def money(settings: ApiSettings, read: int, written: int) -> str:
    """What tokens cost, or how many they are where no prices are given."""
    if not (settings.price_in or settings.price_out):
        return f"{read:,} tokens read, {written:,} written"
    return f"cost {price(settings, read, written):,.2f}"


def _texts(settings: ApiSettings, rendered: Rendered) -> list[str]:
    if settings.answers != "loglikelihood":
        return [rendered.prompt]
    return [rendered.prompt + form for forms in rendered.options for form in forms]


def _sum(settings: ApiSettings, pieces: Sequence[Piece], count: object) -> tuple[int, int]:
    assert callable(count)
    texts = [t for piece in pieces for r in piece.rendered for t in _texts(settings, r)]
    return sum(map(count, texts)), settings.longest_answer() * len(texts)
