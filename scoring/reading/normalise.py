"""Answers as plain text: one form of every letter, apostrophe and blank; no Markdown, no invisible marks."""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = dict.fromkeys(map(ord, "‘’ʻʼʽʹ′´＇‛"), "'")
# Letters in black circles and squares and those of flags, which NFKC leaves alone.
_PICTURES = {first + k: chr(ord("A") + k) for first in (0x1F150, 0x1F170, 0x1F1E6) for k in range(26)}
_VOWEL_SIGNS = ("\u064b", "\u0652")  # of Arabic; and the tatweel, which only widens a word
_EMPHASIS = r"(?:\*{1,3}|_{1,3}|`{1,3}|~~)"
# One emphasised sign, such as **B** or `b`, keeps its mark as a bracket: emphasis singles an option out.
_ONE_SIGN = re.compile(
    rf"(?<![\w*]){_EMPHASIS}[(\[]?(?P<sign>[^\W_])[)\]]?(?P<mark>[.:)]?){_EMPHASIS}(?![\w*])"
)
_BULLET = re.compile(r"^([ \t]*)\*(?=[ \t])", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_STARS = re.compile(r"\*+|`+|~~|(?<![^\W_])_+|_+(?![^\W_])")


def normalise(text: str) -> str:
    """Compatibility forms to plain ones (Ａ, ⓑ, 𝐁), apostrophes to one; no bidi marks, joiners or tatweel."""
    text = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES | _PICTURES)).translate(_APOSTROPHES)
    kept = (c for c in text if not (_VOWEL_SIGNS[0] <= c <= _VOWEL_SIGNS[1] or c == "\u0640"))
    return "".join(c for c in kept if unicodedata.category(c) != "Cf")


def without_markdown(text: str) -> str:
    """The text without emphasis and without what is struck out; one emphasised sign is put into brackets."""
    text = _STRUCK.sub(" ", text)
    text = _BULLET.sub(r"\1-", text)
    text = _ONE_SIGN.sub(lambda m: f"{m['sign']}{m['mark']}" if m["mark"] else f"({m['sign']})", text)
    return _STARS.sub("", text)
