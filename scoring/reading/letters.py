"""Option labels as answers write them: letters of every script, look-alikes, digits."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from string import ascii_uppercase

from maskedadv.scoring.reading.normalise import normalise

# Letters that look like Latin option letters; of the small ones only those that cannot be told apart.
LOOK_ALIKES = {
    **dict(zip("АВЕСНІЈКМОРТХ", "ABECHIJKMOPTX", strict=True)),  # Cyrillic
    **dict(zip("асеіјорх", "ACEIJOPX", strict=True)),
    **dict(zip("ΑΒΕΗΙΚΜΝΟΡΤΧ", "ABEHIKMNOPTX", strict=True)),  # Greek
}
LATIN = "A-Za-z0-9À-ɏ"
# Part of a word: vowel signs of Indic and other scripts are no \w, so "কি" would look like a lone ক.
WORD = (
    r"\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0670\u0900-\u0963\u0966-\u0dff\u0e30-\u0e4e\u0eb0-\u0ece"
    r"\u102b-\u103e\u17b4-\u17d3\u0f71-\u0f84\u135d-\u135f"
)
# Never without regard to case: `re` would look up the case of each of their characters, for seconds.
WORD_CHAR = f"(?-i:[{WORD}])"
WORD_STARTS = f"(?-i:(?<![{WORD}]))"
WORD_ENDS = f"(?-i:(?![{WORD}]))"


def spellings(n_options: int, own: Sequence[Sequence[str]], printed: Sequence[str]) -> dict[str, int]:
    """Every spelling of an option letter and its position; spellings with two readings are left out.

    Parameters
    ----------
    own
        The language's own sets of option letters; they are understood whatever the question printed.
    printed
        The labels as the question printed them; they win over look-alikes.
    """
    found: dict[str, set[int]] = {}
    fixed = {form: k for k, letter in enumerate(printed[:n_options]) for form in _forms(normalise(letter))}

    def add(form: str, position: int) -> None:
        if position < n_options:
            found.setdefault(form, set()).add(position)

    for position, letter in enumerate(ascii_uppercase):
        for form in _forms(letter):
            add(form, position)
    for look_alike, letter in LOOK_ALIKES.items():
        add(look_alike, ascii_uppercase.index(letter))
        if look_alike in fixed:  # the question prints Cyrillic В: a Latin B may stand for it
            add(letter, fixed[look_alike])
    for letters in own:
        for position, letter in enumerate(letters):
            for form in _forms(normalise(letter)):
                add(form, position)
    clear = {spelling: positions.pop() for spelling, positions in found.items() if len(positions) == 1}
    return {form: k for form, k in (clear | fixed).items() if not form.isdecimal()}


def digit_spellings(n_options: int, printed: Sequence[str]) -> dict[str, int]:
    """1 to `n_options`, or the numbers printed; `plain_digits` brings those of other scripts to this form."""
    numbers = [plain_digits(normalise(label)).strip() for label in printed[:n_options]]
    if len(numbers) == n_options and all(number.isdecimal() for number in numbers):
        return {number: position for position, number in enumerate(numbers)}
    return {str(position + 1): position for position in range(n_options)}


def plain_digits(text: str) -> str:
    """The digits of every script (٣, ३, ৩) as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if not c.isascii() and c.isdecimal() else c for c in text)


def letter_pattern(index: Iterable[str], suffixes: str) -> str:
    """One option letter that is no part of a word; matching keeps case, whatever the flags.

    `suffixes`: pattern of what a language attaches to a letter ("B'dir"); may be empty.
    """
    spelled = sorted(index, key=lambda s: (-len(s), s))
    latin = "".join(s for s in spelled if s.isascii() and len(s) == 1)
    others = "|".join(s for s in spelled if not s.isascii() or len(s) > 1)
    # Nor of "A's", "B-cells", "B+", "C#", "B.C."; a closing quote may follow.
    joined = rf"(?![.'\-‐](?!(?i:{suffixes}){WORD_ENDS})\w)" if suffixes else r"(?![.'\-‐]\w)"
    pattern = rf"(?-i:[{latin}])(?-i:(?![{LATIN}+]|#(?!#)| (?:major|minor|flat|sharp)\b)){joined}"
    return rf"{pattern}|(?-i:{others}){WORD_ENDS}" if others else pattern


def digit_pattern(index: Iterable[str], counters: str) -> str:
    """One digit that stands for an option: not part of a number, nor followed by a word ("2 apples")."""
    spelled = "|".join(sorted(index, key=lambda s: (-len(s), s)))
    after = r"[)\]}>\"'»”」』】}$\\]{0,4}"
    end = r"[ \t]*(?:$|\n|[.)](?!\d)|[,;:!。，、؛۔।።\-–—](?!\d))"
    return rf"(?<![\d.,])(?:{spelled})(?=(?:[ ]?(?:{counters}))|{after}{end})"


def _forms(spelling: str) -> set[str]:
    return {spelling, spelling.lower(), spelling.upper()}
