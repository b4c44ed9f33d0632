"""How each language states an answer: the words of `languages/*.toml`, and patterns made of them.

Keys of a language; a phrase may end in `*`, which stands for any ending of its last word:

answer    what introduces a stated answer: "answer", "correct option"
is        what may stand between that and the letter: "is", "should be"
would     the same in the mood of a supposition: "would be"
after     what closes a statement where the verb comes last: "सही उत्तर B है"
option    a noun that may stand before the letter: "option B"
counter   what may follow a digit that stands for an option: "3번"
correct   what may follow the letter instead: "B is correct"
right     a verdict on an option of a list: "B. Rome: correct"
choose    how somebody chooses, before the letter: "I would pick"
so        what draws a conclusion: "therefore"
none      what states that no option is meant; it overrides an earlier letter
not       what denies the word after it: "not A"
denied    what denies the letter before it: "A değil"
wrong     what rejects an option: "incorrect", "ruled out"
but       what follows a denial: "not A but B"
if        what makes a sentence a supposition
only      what restricts a statement: "A is correct only in Sweden"
and       what joins a second option: "B and C" states no single one
because   what begins a reason
words     Latin option letters that are also words ("A man"): they count only if no word follows
suffixes  what is attached to a letter with an apostrophe or a hyphen: "B'dir"
letters   option letters of the language's own script, in order; a list per set in use
glued     true where words are written without spaces: the letter may follow at once
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from maskedadv.scoring.reading.letters import WORD, WORD_CHAR, WORD_ENDS, WORD_STARTS
from maskedadv.scoring.reading.normalise import normalise, without_markdown

# Keys of which the English entries are no other language's words, and so hold everywhere.
_OWN_ONLY = {"letters", "glued", "suffixes", "so"}
NEVER = "(?!)"
_WORD = re.compile(f"[{WORD}]")


@dataclass(frozen=True)
class Words:
    """The words of one language, the English ones included; keys as above."""

    answer: tuple[str, ...] = ()
    is_: tuple[str, ...] = ()
    would: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    option: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()
    correct: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    choose: tuple[str, ...] = ()
    so: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    not_: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    if_: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    and_: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    letters: tuple[tuple[str, ...], ...] = ()
    glued: bool = False


def languages() -> list[str]:
    """Codes of the languages whose statements are known."""
    return sorted(_data())


def own_words(language: str) -> dict[str, Any]:
    """The entries of one language as they stand in the data; empty where it has none."""
    return _data().get(_code(language), {})


@lru_cache(maxsize=128)
def words_of(language: str) -> Words:
    """The words of a language and of English, which is understood in every language.

    A code may be of two letters or three, or the language's English name; region and script are ignored.
    A language without data is read with the English words and the rules that need none.
    """
    own, english = own_words(language), _data()["en"]

    def merged(field: str) -> Any:
        key = field.rstrip("_")
        if key == "glued":
            return bool(own.get(key))
        if key == "letters":
            return tuple(map(tuple, own.get(key, [])))
        shared = [] if key in _OWN_ONLY and own else english.get(key, [])
        plain = (_plain(p) for p in [*own.get(key, []), *shared])
        return tuple(dict.fromkeys(plain))

    return Words(**{field.name: merged(field.name) for field in fields(Words)})


def _plain(phrase: str) -> str:
    """A phrase as answers hold it once they are normalised; the star for an ending stays."""
    bare = phrase.strip("*")
    return phrase.replace(bare, without_markdown(normalise(bare)))


def any_of(phrases: Iterable[str], *, glued: bool = False) -> str:
    """A pattern for one of the phrases, longest first, as whole words; blanks match any run of blanks.

    Where words are written without spaces, phrases in another script than the Latin one match anywhere.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for phrase in sorted(set(phrases), key=lambda p: (-len(p), p)):
        start, bare, end = _phrase(phrase, glued)
        groups.setdefault((start, end), []).append(bare)
    return "|".join(f"{start}(?:{'|'.join(bare)}){end}" for (start, end), bare in groups.items()) or NEVER


def _phrase(phrase: str, glued: bool) -> tuple[str, str, str]:
    """What has to stand before a phrase, its own pattern, and what has to stand behind it."""
    bare = phrase.strip("*")
    start = "" if phrase.startswith("*") or (glued and not bare[:1].isascii()) else WORD_STARTS
    if phrase.endswith("*"):
        end = f"{WORD_CHAR}{{0,8}}"
    elif (glued and not bare[-1:].isascii()) or not _WORD.match(bare[-1:]):
        end = ""
    else:
        end = WORD_ENDS
    return start, re.escape(bare).replace(r"\ ", r"\s+"), end


@lru_cache(maxsize=1)
def _data() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(Path(__file__).with_name("languages").glob("*.toml")):
        found |= tomllib.loads(path.read_text(encoding="utf-8"))
    return {code: table for code, table in found.items() if code != "codes"}


@lru_cache(maxsize=1)
def _other_codes() -> dict[str, str]:
    path = Path(__file__).with_name("languages") / "codes.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))["codes"]
    return {other: code for code, others in table.items() for other in others}


def _code(language: str) -> str:
    name = language.strip().lower().replace("_", "-")
    for code in (name, name.split("-")[0]):
        if code in _data():
            return code
        if (other := _other_codes().get(code)) in _data():
            return str(other)
    return name.split("-")[0]
