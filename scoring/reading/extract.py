"""The option that a written answer states, or nothing: rule by rule, never a guess.

A statement is a cue with a letter ("the answer is **B**", "الإجابة: ب", "\\boxed{C}", "B is correct")
or a line that holds nothing but a letter. The last statement wins. Where there is none, one letter that
opens a line ("B. Paris") counts, if no other option letter opens a line too. How each language states an
answer is data: `extract.toml`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

# Letters that look like Latin option letters; of the small ones only those that cannot be told apart.
_LOOK_ALIKES = {
    **dict(zip("АВЕСНІЈКМОРТХ", "ABECHIJKMOPTX", strict=True)),  # Cyrillic
    **dict(zip("асеіјорх", "ACEIJOPX", strict=True)),
    **dict(zip("ΑΒΕΗΙΚΜΝΟΡΤΧ", "ABEHIKMNOPTX", strict=True)),  # Greek
}
_LATIN = "A-Za-z0-9À-ɏ"
_INDIC = "\u0900-\u0dff"  # vowel signs are no \w, so "কি" would look like a lone ক
_NEXT_WORD = re.compile(rf"[ \t]+([{_LATIN}]+)")
_WORD_END = f"(?:(?<![{_LATIN}])|(?![{_LATIN}]))"  # a phrase in Latin script is a whole word
# What may stand around a letter: blanks, quotes, Markdown, brackets, TeX.
_AROUND = r"""(?:[\s:=\-–—→>*_`~"'“”«»‘’„(\[{<$|#【「『《،؛]|\\[a-z]+\{)"""
_CLOSING = r"""[\s*_`~"'“”«»‘’)\]}>$|.,:;!。、，．】」』》،؛۔।\\]"""
_LIST_MARK = r"""[*_`"'”’)\]}$]*[.):、][*_`"'”’)\]}$]*"""


class _Reader(NamedTuple):
    """Compiled patterns of one language and one number of options."""

    letters: dict[str, int]
    words: frozenset[str]
    because: frozenset[str]
    glued: bool
    cue: re.Pattern[str]
    boxed: re.Pattern[str]
    correct: re.Pattern[str]
    lone: re.Pattern[str]
    opening: re.Pattern[str]
    second: re.Pattern[str]
    closes: re.Pattern[str]


def extract(text: str, n_options: int, language: str = "en") -> int | None:
    """Find the option a written answer states.

    Parameters
    ----------
    text
        The model's answer, as it wrote it.
    n_options
        Number of options, 2 to 26; letters beyond it are no options.
    language
        BCP-47 code of the query language. English statements are understood in every language; a
        language without data is read as English. A script or region subtag is ignored.

    Returns
    -------
    The position of the stated option, counted from 0, or None where no option or no single option is stated.

    Raises
    ------
    ValueError
        `n_options` is below 2 or above 26.
    """
    if not 2 <= n_options <= len(ascii_uppercase):
        raise ValueError(f"n_options must be 2 to 26, not {n_options}.")
    reader = _reader(language.replace("_", "-").split("-")[0].lower(), n_options)
    text = _normalise(_without_thinking(text))
    openings = _found(reader.opening, text, reader)
    listed = _last_of_list(openings)
    statements: list[tuple[int, int | None]] = []
    for match in reader.cue.finditer(text):
        if match["none"]:
            statements.append((match.start(), None))
        elif _cue_counts(match, text, reader) and not _heads_a_list(match, text, listed):
            statements.append((match.start("letter"), _single(match, text, reader)))
    statements += _found(reader.boxed, text, reader) + _found(reader.correct, text, reader)
    lone = _found(reader.lone, text, reader)
    if len(lone) == 1 or [option for _, option in lone] != list(range(len(lone))):  # A, B, C: a list
        statements += lone
    if statements:
        return max(statements, key=lambda s: s[0])[1]
    opened = {option for _, option in openings}
    return opened.pop() if len(opened) == 1 else None


def _found(pattern: re.Pattern[str], text: str, reader: _Reader) -> list[tuple[int, int]]:
    """(place in the text, option) of every match."""
    return [(m.start("letter"), reader.letters[m["letter"]]) for m in pattern.finditer(text)]


def languages() -> list[str]:
    """Codes of the languages whose statements are known."""
    return sorted(_data())


def _without_thinking(text: str) -> str:
    """What follows the last closing think tag; after an unclosed one the answer was never reached."""
    tag = "think|thinking|reasoning"
    answer = re.split(rf"</(?:{tag})>", text, flags=re.IGNORECASE)[-1]
    return re.split(rf"<(?:{tag})>", answer, maxsplit=1, flags=re.IGNORECASE)[0]


def _normalise(text: str) -> str:
    """Compatibility forms to plain ones (Ａ, ⓑ, 𝐁); no bidi marks, joiners, tatweel or Arabic vowel signs."""
    text = unicodedata.normalize("NFKC", text)
    return "".join(
        c for c in text if not (unicodedata.category(c) == "Cf" or "\u064b" <= c <= "\u0652" or c == "\u0640")
    )


def _cue_counts(match: re.Match[str], text: str, reader: _Reader) -> bool:
    """Whether cue and letter belong together: "answer: B", "answer is B", "answer B" at a line's end."""
    end = match.end("letter")
    if match["letter"].upper() in reader.words:
        following = _NEXT_WORD.match(text, end)
        if following and following[1].lower() not in reader.because:
            return False  # "The answer is a mixture", "Answer: A man"
    bare = not match["is"] and not match["between"].strip()
    return reader.glued or not bare or reader.closes.match(text, end) is not None


def _last_of_list(openings: list[tuple[int, int]]) -> int:
    """The last place from which on lines open with more than one letter; -1 if there is none."""
    seen: set[int] = set()
    for place, option in reversed(openings):
        seen.add(option)
        if len(seen) > 1:
            return place
    return -1


def _heads_a_list(match: re.Match[str], text: str, listed: int) -> bool:
    """Whether the cue only heads a repetition of the options, a line each."""
    return match.start("letter") <= listed and "\n" in text[match.start() : match.start("letter")]


def _single(match: re.Match[str], text: str, reader: _Reader) -> int | None:
    """The stated option; None where a second one is stated in the same breath ("B and C")."""
    second = reader.second.match(text, match.end("letter"))
    option = reader.letters[match["letter"]]
    if second is None or reader.letters[second["letter"]] == option:
        return option
    following = _NEXT_WORD.match(text, second.end("letter"))
    article = second["letter"].islower() and second["letter"].upper() in reader.words
    if article and following and following[1].lower() not in reader.because:
        return option  # "B, a mammal"
    return None


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("extract.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _reader(language: str, n_options: int) -> _Reader:
    english, own = _data()["en"], _data().get(language, {})

    def phrases(key: str) -> list[str]:
        return [_normalise(p) for p in [*own.get(key, []), *english.get(key, [])]]

    index = _letters(n_options, own.get("letters", []))
    letter = f"(?P<letter>{_letter_pattern(index)})"
    around, beside = f"{_AROUND}{{0,40}}", rf"(?:(?!\n){_AROUND}){{0,40}}"
    copula = rf"(?:[\s*_]{{0,5}}(?:{_any(phrases('is'))}){_WORD_END}){{1,3}}"
    option = rf"(?:(?:{_any(phrases('option'))}){around})?"
    cue = (
        rf"(?<![{_LATIN}])(?:{_any(phrases('answer'))}){_WORD_END}"
        rf"(?P<is>{copula})?(?P<between>[】」』》)\]}}]{{0,2}}{around}){option}"
        rf"(?:(?P<none>(?:{_any(phrases('none'))}){_WORD_END})|{letter})"
    )
    correct = rf"(?<![{_LATIN}]){letter}[\s*_`\"'”’)\]}}$.]{{0,6}}(?:{_any(phrases('correct'))}){_WORD_END}"
    joined = _any(phrases("and"))
    second = rf"{_CLOSING}{{0,8}}?(?:[,/&+、]|(?:{joined}){_WORD_END})[\s(*]*{letter}(?=\W|$)"
    flags = re.IGNORECASE | re.MULTILINE
    return _Reader(
        index,
        frozenset(w.upper() for w in phrases("words")),
        frozenset(phrases("because")),
        bool(own.get("glued")),
        re.compile(cue, flags),
        re.compile(rf"\\boxed\{{{around}{letter}", flags),
        re.compile(correct, flags),
        re.compile(rf"^{beside}{option}{letter}(?:(?!\n){_CLOSING})*$", flags),
        re.compile(rf"^{beside}{option}{letter}(?:{_LIST_MARK}(?=\s|$))", flags),
        re.compile(second, re.IGNORECASE),
        re.compile(rf"{_CLOSING}*(?:\n|$|(?:{_any(phrases('after')) or '(?!)'}){_WORD_END})", re.IGNORECASE),
    )


def _letters(n_options: int, own: list[list[str]]) -> dict[str, int]:
    """Every spelling of an option letter and its position; spellings with two readings are left out."""
    found: dict[str, set[int]] = {}

    def add(spelling: str, position: int) -> None:
        if position < n_options:
            for form in {spelling, spelling.lower(), spelling.upper()}:
                found.setdefault(form, set()).add(position)

    for position, letter in enumerate(ascii_uppercase):
        add(letter, position)
    for look_alike, letter in _LOOK_ALIKES.items():
        if ascii_uppercase.index(letter) < n_options:
            found.setdefault(look_alike, set()).add(ascii_uppercase.index(letter))
    for letters in own:
        for position, letter in enumerate(letters):
            add(_normalise(letter), position)
    return {spelling: positions.pop() for spelling, positions in found.items() if len(positions) == 1}


def _letter_pattern(index: dict[str, int]) -> str:
    """One option letter that is not part of a word; matching keeps case, whatever the flags."""
    latin = "".join(s for s in index if s.isascii())
    others = _any([s for s in index if not s.isascii()])
    # Nor of "A's", "B-cells", "B+", "C#", "B.C."; a closing quote may follow.
    pattern = rf"(?-i:[{latin}])(?![{_LATIN}+#])(?![.'’\-‐]\w)"
    return rf"{pattern}|(?-i:{others})(?![^\W_]|[{_INDIC}])" if others else pattern


def _any(phrases: Iterable[str]) -> str:
    """An alternation, longest first; a blank matches any run of blanks."""
    ordered = sorted(set(phrases), key=lambda p: (-len(p), p))
    return "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in ordered)
