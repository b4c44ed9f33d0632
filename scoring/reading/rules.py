"""What makes a statement fall: denial, supposition, question, a second option."""

from __future__ import annotations

import re

from maskedadv.scoring.reading.patterns import Patterns

_MOST_OPTIONS = 10
_REACH = 200  # how far a sentence is looked through, in characters
_SENTENCE_END = re.compile(r"[!?。؟।۔።။።\n]|\.(?=[\s\"')\]]|$)|\.{3}")
_CLAUSE_END = re.compile(r"[,;:،؛、，–—(]|\s-\s")
_QUESTION = re.compile(r"[\s\"'”’»)\]}$]{0,4}[?؟;](?![\w])")
_NEXT_WORD = re.compile(r"[ \t]+(\w+)")
_LETTER = re.compile(r"[^\W\d_]")


def falls(text: str, start: int, place: int, end: int, p: Patterns) -> bool:
    """Whether what seems to state an option does not.

    Parameters
    ----------
    start, place, end
        Where the statement begins (its cue, or the letter), where its letter stands, and where it ends.
    """
    after = sentence_after(text, end)
    if _asked(after):
        return True
    before = sentence_before(text, place)
    if _supposed(before, p) or p.supposed_after.match(after):
        return True
    lead = clause_of(sentence_before(text, start))
    denied = p.not_before.search(lead) if start == place else p.not_cue.search(lead)
    return denied is not None or denied_after(after, p)


def denied_after(after: str, p: Patterns) -> bool:
    """Whether what follows a letter denies it, before a reason begins ("B because it is not ...")."""
    match = p.not_after.match(after)
    if match is None:
        return False
    reason = p.reason.search(after, 0, match.end())
    return reason is None


def sentence_before(text: str, place: int) -> str:
    """The sentence up to a place, without what ends the sentence before it."""
    window = text[max(0, place - _REACH) : place]
    last = 0
    for match in _SENTENCE_END.finditer(window):
        last = match.end()
    return window[last:]


def sentence_after(text: str, end: int) -> str:
    """The rest of the sentence after a place, with the mark that ends it."""
    window = text[end : end + _REACH]
    match = _SENTENCE_END.search(window)
    return window[: match.end()] if match else window


def clause_of(before: str) -> str:
    """The last clause of what stands before a place."""
    last = 0
    for match in _CLAUSE_END.finditer(before):
        if match.end() < len(before.rstrip()):
            last = match.end()
    return before[last:]


def is_article(text: str, letter: str, end: int, p: Patterns) -> bool:
    """Whether a letter that is also a word goes on as one: "The answer is a mixture", "Answer: A man"."""
    if letter.upper() not in p.words:
        return False
    following = _NEXT_WORD.match(text, end)
    return following is not None and p.because.match(text, end) is None


def second_option(text: str, letter: str, end: int, p: Patterns) -> bool:
    """Whether a second option is stated in the same breath: "B and C"; not "B, a mammal"."""
    second = p.second.match(text, end)
    if second is None or p.index[second["letter"]] == p.index[letter]:
        return False
    last = second.end("letter")
    for _ in range(_MOST_OPTIONS):  # "B; A, C and D are wrong"
        if not (another := p.second.match(text, last)):
            break
        last = another.end("letter")
    if denied_after(sentence_after(text, last), p):
        return False
    return not (second["letter"].islower() and is_article(text, second["letter"], second.end("letter"), p))


def joined_option(text: str, start: int, letter: str, p: Patterns) -> bool:
    """Whether another option is joined in front of a letter: "A or C is right", "not A, C is" not."""
    low = max(0, start - 40)
    first = p.joined.search(text[low:start])
    if first is None or first["letter"].islower() or p.index[first["letter"]] == p.index[letter]:
        return False
    place = low + first.start("letter")
    return p.not_before.search(clause_of(sentence_before(text, place))) is None


def _asked(after: str) -> bool:
    match = _QUESTION.match(after)
    return match is not None and match[0].strip()[-1] != ";"


def _supposed(before: str, p: Patterns) -> bool:
    """A supposition that no conclusion has ended: "if p holds, q holds, so the answer is B" states B."""
    concluded = 0
    for match in p.turn.finditer(before):
        concluded = match.end()
    return p.supposed.search(before, concluded) is not None
