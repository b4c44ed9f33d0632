"""The compiled patterns of one language and one set of option labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from maskedadv.scoring.reading.languages import NEVER, any_of, words_of
from maskedadv.scoring.reading.letters import (
    LATIN,
    WORD,
    WORD_CHAR,
    WORD_ENDS,
    WORD_STARTS,
    digit_pattern,
    digit_spellings,
    letter_pattern,
    spellings,
)
from maskedadv.scoring.reading.normalise import normalise, without_markdown

# What may stand around a letter: blanks, quotes, brackets, marks, TeX.
COLONS = r":=៖՝፦፡჻"
AROUND = rf"""(?:[\s{COLONS}\-–—→⇒➡=>~"'“”«»‘’„(\[{{<$|#@%•·■➤►▶●◆✓✔✅☑👉【「『《〈،؛]|\\[a-z]+\{{|\\[(\[])"""
ARTICLE = r"(?-i:(?:the|la|el|le|lo|il|a|o|die|das|den|de|het|το|την|τη|η|ο|ang|ny)\s{1,2})?"
QUOTED = r"""[\s("'“«\[{$]"""
CLOSING = r"""[\s~=@%"'“”«»‘’)\]}<>$#|.,:;!。、，．】」』》〉،؛۔।။។።\\✓✔✅☑]"""
LIST_MARK = r"""(?:[ \t]?["'”’)\]}$]{0,3}[ \t]?[.):、．][.)"'”’\]}$]*|["'”’)\]}$]{1,3}(?=[ \t]|$))"""
FLAGS = re.IGNORECASE | re.MULTILINE


@dataclass(frozen=True)
class Patterns:
    """What statements are found with (first part) and what makes them fall (second part)."""

    index: dict[str, int]
    glued: bool
    words: frozenset[str]
    because: re.Pattern[str]
    reason: re.Pattern[str]
    after: re.Pattern[str]
    closes: re.Pattern[str]
    cue: re.Pattern[str]
    boxed: re.Pattern[str]
    correct: re.Pattern[str]
    chosen: re.Pattern[str]
    lone: re.Pattern[str]
    opening: re.Pattern[str]
    own_label: re.Pattern[str]
    letter: re.Pattern[str]
    marked: re.Pattern[str]
    named_before: re.Pattern[str]
    turned: re.Pattern[str]
    cue_word: re.Pattern[str]
    verdict: re.Pattern[str]
    denial: re.Pattern[str]

    second: re.Pattern[str]
    joined: re.Pattern[str]
    not_before: re.Pattern[str]
    not_cue: re.Pattern[str]
    not_after: re.Pattern[str]
    wrong: re.Pattern[str]
    supposed: re.Pattern[str]
    supposed_after: re.Pattern[str]
    so: re.Pattern[str]
    turn: re.Pattern[str]


_ALSO_OTHERWISE = ("as", "is", "which", "for")  # words that begin a reason among other things


@lru_cache(maxsize=256)
def patterns_of(language: str, n_options: int, printed: tuple[str, ...], cue: str) -> Patterns:
    """Compile them; see `languages.py` for the words."""
    w = words_of(language)
    label = without_markdown(normalise(cue)).strip(f" \t\n{COLONS}.-")

    def any_(*phrases: tuple[str, ...]) -> str:
        return any_of((p for group in phrases for p in group), glued=w.glued)

    index = spellings(n_options, w.letters, printed)
    digits = digit_spellings(n_options, printed)
    suffixes = "|".join(map(re.escape, w.suffixes))
    plain = letter_pattern(index, suffixes)
    letter = f"(?P<letter>{plain})"
    number = digit_pattern(digits, any_(w.counter))
    either = f"(?P<letter>{plain}|{number})"
    beside = rf"(?:(?!\n){AROUND}){{0,40}}"
    option = rf"(?:(?:{any_(w.option)}){AROUND}{{0,6}})?"
    copula = rf"(?:[\s]{{0,5}}(?:(?P<would>{any_(w.would)})|{any_(w.is_)})){{1,3}}"
    answers = any_((*w.answer, label) if label else w.answer)
    end_of_letter = rf"(?:['\-‐]?(?:{suffixes}){WORD_ENDS})?" if suffixes else ""
    apart = f"(?-i:(?<![{WORD}'+.]))"
    if w.glued:
        apart = rf"(?:(?-i:(?<![{LATIN}'+.])(?=[A-Z]))|{apart})"
    bridge = rf"(?:(?-i:(?![A-Z](?![A-Za-z])))(?-i:[{WORD}']){{1,14}}[\s]{{1,3}}){{0,3}}?" + (
        r"[^\WA-Za-z]{0,8}?" if w.glued else ""
    )
    letter_ends = f"(?-i:(?![{LATIN}]))" if w.glued else WORD_ENDS
    short = r"[^\WA-Za-z]{0,3}" if w.glued else ""
    long_reasons = tuple(x for x in w.because if len(x) > 4)
    reasons = tuple(x for x in w.because if x not in _ALSO_OTHERWISE)
    denied = tuple(x for x in w.denied if x not in w.not_)  # "B is not A" denies A
    return Patterns(
        index=index | digits,
        glued=w.glued,
        words=frozenset(x.upper() for x in w.words),
        because=re.compile(rf"[ \t]*(?:{any_(w.because)})", FLAGS),
        reason=re.compile(any_(reasons), FLAGS),
        after=re.compile(rf"[ \t]*(?:{any_(w.after)})", FLAGS),
        closes=re.compile(
            rf"{end_of_letter}{CLOSING}*(?:\n|$|\)|(?<=[,;])|(?:{any_(w.after, w.correct)})"
            rf"|(?:(?:{any_(w.and_)})\s)?(?:{any_(w.not_, w.but)}))",
            re.IGNORECASE,
        ),
        cue=re.compile(
            rf"(?P<cue>{answers})(?P<is>{copula})?(?P<between>[】」』》)\]}}\"']{{0,2}}{AROUND}{{0,40}}){ARTICLE}{option}"
            rf"(?:(?P<none>{any_(w.none)})|{either})",
            FLAGS,
        ),
        boxed=re.compile(
            rf"\\f?boxed\{{{AROUND}{{0,40}}{option}(?P<letter>{plain}|(?:{'|'.join(digits)})(?=\}}))", FLAGS
        ),
        correct=re.compile(
            rf"{apart}(?P<noun>(?:{any_(w.option)}){AROUND}{{0,6}})?"
            rf"(?P<letter>{plain}|(?(noun)(?:{'|'.join(digits)})(?!\d)|(?!))){end_of_letter}"
            rf"[\s\"'”’)\]}}$.,]{{0,6}}(?P<verdict>{any_(w.correct)})",
            FLAGS,
        ),
        chosen=re.compile(rf"(?P<verb>{any_(w.choose)}){AROUND}{{0,12}}{ARTICLE}{option}{either}", FLAGS),
        lone=re.compile(rf"^{beside}{option}{either}{end_of_letter}(?:(?!\n){CLOSING})*$", FLAGS),
        opening=re.compile(
            rf"^{beside}{option}{either}"
            rf"(?P<mark>{LIST_MARK}|(?=[ \t]*[(\-–—]|,?[ \t]+(?:{any_(long_reasons)})))",
            FLAGS,
        ),
        own_label=re.compile(
            rf"^(?!\n){AROUND}{{0,8}}(?P<label>[^\W\d_][^\n{COLONS}.,;!?]{{0,48}})[ \t]?[{COLONS}–—-]"
            rf"(?:(?!\n){AROUND}){{0,12}}{letter}(?:(?!\n){CLOSING})*(?=$|(?<=[.)])[ \t])",
            FLAGS,
        ),
        letter=re.compile(rf"{apart}{letter}", FLAGS),
        marked=re.compile(rf"{WORD_STARTS}[\[(「『\"“«]{letter}[\])」』\"”»]", FLAGS),
        named_before=re.compile(
            rf"(?:(?P<option>{any_(w.option)})|(?P<is>{any_(w.is_, w.but)})){AROUND}{{0,6}}{ARTICLE}\Z", FLAGS
        ),
        turned=re.compile(
            rf"(?:{plain}){end_of_letter}[\s\"')]{{0,3}}(?:{any_(denied)})[\s,،、，;]{{0,3}}\Z", FLAGS
        ),
        cue_word=re.compile(answers, FLAGS),
        verdict=re.compile(
            rf"[.)][ \t]*(?:{any_(w.right)})[ \t]*(?=[.,:;!(–—]|$)"
            rf"|[^\n.!?]{{0,100}}?(?:(?:[{COLONS}(→]|[ \t][-–—])[ \t]*(?:{any_(w.right)})"
            rf"|(?:{any_(w.correct)})|[✓✔✅☑])",
            FLAGS,
        ),
        denial=re.compile(rf"(?:{any_(w.not_, w.denied, w.wrong)}|[✗✘❌✖])", FLAGS),
        second=re.compile(
            rf"{CLOSING}{{0,8}}?(?:[,/&+、]|(?:{any_(w.and_)})(?:\s(?:{any_(w.if_)}))?)[\s(]*{option}{letter}{letter_ends}",
            re.IGNORECASE,
        ),
        joined=re.compile(
            rf"{apart}{letter}{end_of_letter}[\s\"'”’)\]]{{0,3}}(?:[,/&+、]|(?:{any_(w.and_)}))[\s(]*{option}\Z",
            FLAGS,
        ),
        not_before=re.compile(
            rf"(?:{any_(w.not_, w.wrong)}){QUOTED}{{0,4}}{option}(?:{any_(w.is_)})?{QUOTED}{{0,4}}\Z", FLAGS
        ),
        not_cue=re.compile(
            rf"(?:{any_(w.not_, w.wrong)})(?:[\s'\"(:]{{0,3}}{WORD_CHAR}{{1,14}}){{0,2}}[\s'\"(:]{{0,3}}\Z",
            FLAGS,
        ),
        not_after=re.compile(
            rf"{end_of_letter}[\s\"'”’)\]}}$:–—-]{{0,6}}{bridge}"
            rf"(?:{any_(denied, w.wrong)}|(?:{any_(w.not_)})(?!{short}{QUOTED}{{0,4}}{option}(?:{plain})))",
            FLAGS,
        ),
        wrong=re.compile(rf"{any_(w.wrong)}|[✗✘❌✖]", FLAGS),
        supposed=re.compile(any_(w.if_), FLAGS),
        supposed_after=re.compile(
            rf"{end_of_letter}{CLOSING}{{0,6}}(?:(?-i:[{WORD}']){{1,14}}[\s]{{1,3}}){{0,2}}?"
            rf"(?:{any_(w.if_, w.only)})",
            FLAGS,
        ),
        so=re.compile(any_(w.so), FLAGS),
        turn=re.compile(rf";|(?:{any_(w.so, w.but)})", FLAGS),
    )


__all__ = ["AROUND", "CLOSING", "COLONS", "LATIN", "LIST_MARK", "NEVER", "Patterns", "patterns_of"]
