"""Are the names of an item in its translation? What a translator says of them, and what can be seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from maskedadv.scoring.item_sets.spans import find_span, parts_of
from maskedadv.scoring.items.items import Item

_ALIKE = 0.6  # of a name and its form in another language: Londres and London have 0.77
_FOREIGN = 0.2  # share of letters of another script, from which words in Latin letters are names
_COMMON_CAPITALS = {"de", "lb", "ksh", "bar"}  # languages that write every noun with a capital
# Letters, each before what it usually is in Latin ones: roughly, as these are only compared.
_GREEK = "αa βb γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υu φf χch ψps ωo"
_CYRILLIC = (
    "аa бb вv гg дd еe жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe юyu яya "
    "іi їyi єye ґg"
)
_LETTERS = {pair[0]: pair[1:] for pair in f"{_GREEK} {_CYRILLIC}".split(" ")}


def compare_names(item: Item, question: str, options: Sequence[str], names: Sequence[tuple[str, str]]) -> str:
    """What is wrong with the names of a translation, in words; '' for nothing that can be seen.

    Parameters
    ----------
    names
        What the translator says: each name as it stands in the item, and in the translation.

    Notes
    -----
    Seen are words in Latin letters in a text of another script, which must come back, and words with a
    capital within a sentence, where languages mark names so. These must be among `names`, or have a word that
    is alike.
    """
    there = "\n".join((question, *options))
    folded, parts = _folded(there), []
    for local, translated in names:
        if find_span(local, item) is None:
            parts.append(f"{local} is no part of the item")
        elif _folded(translated) not in folded:
            parts.append(f"{translated} is not in the translation")
    known = _folded("\n".join(local for local, _ in names))
    words = set(re.findall(r"[\w-]+", folded))
    for text in (own for _, own in parts_of(item)):
        for word in dict.fromkeys((*_latin_words(text), *_capital_words(text, item.language))):
            if _folded(word) not in known and not _has_alike(_romanised(word), words):
                parts.append(f"{word} is not found in the translation")
    return ", ".join(dict.fromkeys(parts))


def is_latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin; a text without letters counts as Latin."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(map(_is_latin_letter, letters)) >= len(letters)


def _is_latin_letter(c: str) -> bool:
    return "LATIN" in unicodedata.name(c, "")  # full-width ones, too


def _latin_words(text: str) -> Iterator[str]:
    """Words in Latin letters in a text that is mainly of another script."""
    letters = list(filter(str.isalpha, text))
    if sum(not _is_latin_letter(c) for c in letters) >= _FOREIGN * max(len(letters), 1):
        for word in re.findall(r"(?<![A-Za-z°])[A-Za-z][A-Za-z.-]{2,}", text):
            plain = word.strip(".-")
            if sum(map(str.isalpha, plain)) >= 3:
                yield plain


def _capital_words(text: str, language: str) -> Iterator[str]:
    """Words with a capital that no sentence, quotation or list begins with, where letters have capitals."""
    letters = list(filter(str.isalpha, text))
    if language.split("-")[0] in _COMMON_CAPITALS or (
        sum(map(_has_case, letters)) < (1 - _FOREIGN) * len(letters)
    ):
        return
    for found in re.finditer(r"(?<=[\w,] )[^\W\d_][\w'’-]{3,}", text):
        if found[0][0].isupper() and not found[0].isupper():
            yield found[0]


def _has_case(c: str) -> bool:
    return c.lower() != c.upper()


def _has_alike(word: str, words: set[str]) -> bool:
    return word in words or any(
        abs(len(word) - len(other)) <= 4 and SequenceMatcher(None, word, other).ratio() >= _ALIKE
        for other in words
    )


def _romanised(word: str) -> str:
    return "".join(_LETTERS.get(c, c) for c in _folded(word))


def _folded(text: str) -> str:
    """Small letters without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c)))
