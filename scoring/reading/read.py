"""The one front door of reading: which option a written answer states, and by which rule it was read.

The procedure, in order:

1. reasoning between any public marks is left out (`reasoning.py`); reasoning that never ended is no answer;
2. Markdown, look-alike letters, digits of other scripts and invisible marks become plain (`normalise.py`);
3. every rule of `statements.py` and `own_text.py` gives the statements it finds;
4. statements that are denied, supposed, asked, or one of a list, fall (`rules.py`);
5. of the strongest that stand the last one counts; letters named in prose count only if they agree.

What no rule reads is None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from maskedadv.scoring.reading.letters import plain_digits
from maskedadv.scoring.reading.normalise import normalise, without_markdown
from maskedadv.scoring.reading.own_text import contradicted, own_text_statements, plain_texts
from maskedadv.scoring.reading.patterns import Patterns, patterns_of
from maskedadv.scoring.reading.reasoning import tagged_answer, without_reasoning
from maskedadv.scoring.reading.rules import sentence_before
from maskedadv.scoring.reading.statements import EXPLICIT, Statement, statements

# How models begin when they think aloud.
_THINKS = re.compile(
    r"(?:okay|ok|let me|let's|first|hmm|well|alright|step 1|to (?:find|answer|solve))\b", re.IGNORECASE
)
NOTHING, CUT_OFF, TWO, CONTRADICTED = "nothing_stated", "cut_off", "two_options", "contradicted"


class Reading(NamedTuple):
    """What a written answer states.

    option
        Position of the stated option, counted from 0; None where no single option is stated.
    read_by
        Name of the rule that read it (boxed, label, said_correct, lone_letter, chosen, own_text,
        opening_letter, list_verdict, named, marked, own_label, each "tagged " where answer tags held it);
        for None, why there is no option: nothing_stated, cut_off, two_options, none_of_them, contradicted.
    """

    option: int | None
    read_by: str


def read_answer(
    text: str,
    n_options: int,
    language: str = "en",
    *,
    letters: Sequence[str] = (),
    option_texts: Sequence[str] = (),
    cue: str = "",
    finish_reason: str | None = None,
) -> Reading:
    """Read a written answer.

    Parameters
    ----------
    text
        The answer, as the model wrote it.
    n_options
        Number of options, 2 to 26; letters beyond it are no options.
    language
        Code of the query language (BCP-47, ISO 639-3 or its English name). English statements are understood
        in every language.
    letters
        The option labels as the question printed them; empty where that is not known.
    option_texts
        The options' own texts, in order; empty (or empty texts) where they are not known.
    cue
        The word that the question itself put before the answer ("Answer:"), if known; it always counts.
    finish_reason
        What the endpoint said of the end: "length" is an answer cut off, of which only a statement at its
        very beginning counts, or one that follows finished reasoning.

    Raises
    ------
    ValueError
        `n_options` is below 2 or above 26.
    """
    if not 2 <= n_options <= len(ascii_uppercase):
        raise ValueError(f"n_options must be 2 to 26, not {n_options}.")
    patterns = patterns_of(language, n_options, tuple(map(str, letters)), cue)
    texts = plain_texts([str(t) for t in option_texts], n_options)
    final = without_reasoning(text)
    tagged = tagged_answer(final.text)
    if tagged is not None:
        reading = _read(tagged, patterns, texts)
        if reading.option is not None:
            return Reading(reading.option, f"tagged {reading.read_by}")
    reading = _read(final.text, patterns, texts, begun=finish_reason == "length" and not final.reasoned)
    return Reading(None, CUT_OFF) if final.cut_off and reading.read_by == NOTHING else reading


def _read(written: str, p: Patterns, texts: Sequence[str], *, begun: bool = False) -> Reading:
    """Read an answer without reasoning. `begun`: it was cut off, so only how it begins can be its answer."""
    text = plain_digits(without_markdown(normalise(written)))
    found = [*statements(text, p, texts), *own_text_statements(text, p, texts)]
    if begun:
        return _of_beginning(text, found, p)
    if any(s.rule == "own_text" and s.strength == EXPLICIT for s in found):
        found = [s for s in found if s.rule != "none_of_them"]  # an option that says so itself
    if not found:
        return Reading(None, NOTHING)
    strength = max(s.strength for s in found)
    strongest = [s for s in found if s.strength == strength]
    last = max(strongest, key=lambda s: s.place)
    if strength < EXPLICIT and len({s.option for s in strongest}) > 1:
        return Reading(None, TWO)
    if last.option is not None and last.rule != "own_text":
        if contradicted(text, last.place + 1, last.option, texts):
            return Reading(None, CONTRADICTED)
        if (number := _number_as_text(text, last, texts)) is not None:
            return number
    return Reading(last.option, last.rule)


def _of_beginning(text: str, found: list[Statement], p: Patterns) -> Reading:
    """The statement in the first sentence of an answer cut off, if nothing after it takes it back."""
    early = [s for s in found if s.place < 80 and not text[: s.place - _since(text, s.place)].strip()]
    if not early or len({s.option for s in found}) > 1 or early[0].option is None:
        return Reading(None, CUT_OFF)
    best = max(early, key=lambda s: s.strength)
    if _THINKS.match(text.lstrip()) or p.turn.search(text, best.place + 1):
        return Reading(None, CUT_OFF)
    return Reading(best.option, best.rule)


def _since(text: str, place: int) -> int:
    """How long the sentence is already at a place."""
    return len(sentence_before(text, place))


def _number_as_text(text: str, last: Statement, texts: Sequence[str]) -> Reading | None:
    """A digit among options that are numbers: their text counts, not their place; else nothing is clear."""
    digits = ""
    for c in text[last.place : last.place + 3]:
        if not c.isdecimal():
            break
        digits += c
    if not digits or not any(t[:1].isdecimal() for t in texts):
        return None
    return Reading(texts.index(digits), "own_text") if digits in texts else Reading(None, CONTRADICTED)
