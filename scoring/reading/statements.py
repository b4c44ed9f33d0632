"""The statements of an answer: each rule finds what it takes for one, with its place and strength."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from maskedadv.scoring.reading import rules
from maskedadv.scoring.reading.patterns import Patterns

EXPLICIT, WEAK, NAMED = 3, 2, 1
_MOST = 400  # letters in prose that are looked at, counted from the end
_INITIAL = re.compile(r"(?:^|[\s(])([A-ZÀ-ÞА-Я][^\W\d_]+|[A-ZÀ-ÞА-Я]\.)\s\Z")
_LIST_FORM = re.compile(r"[ \t]?[.):][)\"']?[ \t]+[^\W_](?!\.)")
_ENDS = re.compile(r"[\s\"'”’)\]}$]{0,4}(?:[.,;!。،؛。।۔።]|\n|$)")


class Statement(NamedTuple):
    """`option` is None where a statement says that no option, or more than one, is meant."""

    place: int
    option: int | None
    rule: str
    strength: int


def statements(text: str, p: Patterns, texts: Sequence[str]) -> Iterator[Statement]:
    """All statements that stand, in no order.

    Parameters
    ----------
    text
        The final part of an answer, normalised, without Markdown.
    texts
        The options' own texts in the same form; empty where not known.
    """
    opened = list(p.opening.finditer(text))
    listed = _last_of_list(opened, p)
    yield from _boxed(text, p)
    yield from _labelled(text, p, listed)
    yield from _said_correct(text, p)
    yield from _lone(text, p)
    yield from _chosen(text, p)
    yield from _opening(text, p, opened, texts)
    yield from _named(text, p)
    yield from _own_labels(text, p)


def _boxed(text: str, p: Patterns) -> Iterator[Statement]:
    for m in p.boxed.finditer(text):
        yield Statement(m.start("letter"), p.index[m["letter"]], "boxed", EXPLICIT)


def _labelled(text: str, p: Patterns, listed: int) -> Iterator[Statement]:
    """ "Answer: B", "the answer is B"; "answer B" where nothing but a full stop follows."""
    for m in p.cue.finditer(text):
        if m["none"]:
            if not rules.falls(text, m.start(), m.start("none"), m.end(), p):
                yield Statement(m.start("none"), None, "none_of_them", EXPLICIT)
            continue
        place, end, letter = m.start("letter"), m.end("letter"), m["letter"]
        if rules.is_article(text, letter, end, p) or (
            place <= listed and "\n" in text[m.start() : place]  # heads a repetition of the options
        ):
            continue
        bare = not m["is"] and not m["between"].strip()
        if bare and not p.glued and p.closes.match(text, end) is None and not _LIST_FORM.match(text, end):
            continue
        if rules.falls(text, m.start(), place, end, p):
            continue
        strength = WEAK if m["would"] else EXPLICIT
        if rules.second_option(text, letter, end, p):
            yield Statement(place, None, "two_options", strength)
        else:
            yield Statement(place, p.index[letter], "label", strength)


def _said_correct(text: str, p: Patterns) -> Iterator[Statement]:
    for m in p.correct.finditer(text):
        place, letter = m.start("letter"), m["letter"]
        if letter.islower() and rules.is_article(text, letter, m.end("letter"), p):
            continue
        denied = p.not_after.match(rules.sentence_after(text, m.end("letter")))
        if denied and m.end("letter") + denied.end() > m.end():
            continue  # "A는 맞지 않습니다" begins as "A는 맞습니다" does
        if rules.falls(text, place, place, m.end(), p):
            continue
        if rules.joined_option(text, m.start(), letter, p):
            yield Statement(place, None, "two_options", EXPLICIT)
        else:
            yield Statement(place, p.index[letter], "said_correct", EXPLICIT)


def _lone(text: str, p: Patterns) -> Iterator[Statement]:
    """Lines that hold a letter only; lines in a row that hold several options are a list."""
    found = list(p.lone.finditer(text))
    if any(not m["letter"].isdecimal() for m in found):
        found = [m for m in found if not m["letter"].isdecimal()]
    rows: list[list[re.Match[str]]] = []
    for m in found:
        if rows and not text[rows[-1][-1].end() : m.start()].strip():
            rows[-1].append(m)
        else:
            rows.append([m])
    for row in rows:
        if len({p.index[m["letter"]] for m in row}) > 1 or _under_rejection(text, row[0].start(), p):
            continue
        place = row[-1].start("letter")
        if not rules.falls(text, place, place, row[-1].end("letter"), p):
            yield Statement(place, p.index[row[-1]["letter"]], "lone_letter", EXPLICIT)


def _chosen(text: str, p: Patterns) -> Iterator[Statement]:
    for m in p.chosen.finditer(text):
        place, end, letter = m.start("letter"), m.end("letter"), m["letter"]
        if rules.is_article(text, letter, end, p) or rules.falls(text, m.start(), place, end, p):
            continue
        if rules.second_option(text, letter, end, p):
            yield Statement(place, None, "two_options", EXPLICIT)
        else:
            yield Statement(place, p.index[letter], "chosen", EXPLICIT)


def _opening(
    text: str, p: Patterns, opened: list[re.Match[str]], texts: Sequence[str]
) -> Iterator[Statement]:
    """A line that opens with a letter: of a list, the one that is called right; else the only one."""
    lines = [(m, _rest(text, m.end("letter")), p.index[m["letter"]]) for m in opened]
    lines = [
        (m, rest, option)
        for m, rest, option in lines
        if not (m["letter"].isdecimal() and "\n" in text.strip())
    ]
    right = {
        option: m.start("letter")
        for m, rest, option in lines
        if (verdict := p.verdict.match(rest)) and not p.denial.search(rest[: verdict.end()])
    }
    options = {option for _, _, option in lines}
    if len(right) == 1 and len(options) > 1:
        option, place = right.popitem()
        yield Statement(place, option, "list_verdict", WEAK)
    elif len(options) == 1:
        m, rest, option = lines[0]
        if not _rejected(
            m["mark"], rest[len(m["mark"]) :], texts[option] if texts else "", p
        ) and not _asked_line(rest):
            yield Statement(m.start("letter"), option, "opening_letter", WEAK)


def _named(text: str, p: Patterns) -> Iterator[Statement]:
    """Letters in prose: after "is", "but", "option"; in brackets; as "D. Developmental"."""
    for m in list(p.letter.finditer(text))[-_MOST:]:
        place, end, letter = m.start("letter"), m.end("letter"), m["letter"]
        bracketed = bool(p.marked.match(text, place - 1)) if place else False
        if letter.islower() and not bracketed:
            continue
        before = rules.sentence_before(text, place)
        closes = _ENDS.match(text, end) is not None
        form = _LIST_FORM.match(text, end) is not None
        if not before.strip(" \t-•([\"'"):
            continue  # an opening
        if (
            not letter.isascii()
            and not bracketed
            and not (p.named_before.search(before) and (closes or form))
        ):
            continue
        if _cue_denied(before, p):
            continue
        led = p.named_before.search(before) or p.turned.search(before)
        final = p.after.match(text, end) is not None or p.closes.match(text, end) is not None
        cued = _cue_before(text, place, before, p)
        rule = ""
        if cued and ((led and (closes or form)) or (final and not closes) or bracketed):
            rule, strength = "label", EXPLICIT
        elif (led and (closes or form) and not rules.is_article(text, letter, end, p)) or (
            form and not _initial(before)
        ):
            rule, strength = "named", NAMED
        elif bracketed:
            rule, strength = "marked", NAMED
        elif _concludes(before, text, end, p):
            rule, strength = "named", NAMED
        if rule and not rules.falls(text, place, place, end, p):
            if rules.second_option(text, letter, end, p):
                yield Statement(place, None, "two_options", strength)
            else:
                yield Statement(place, p.index[letter], rule, strength)


def _own_labels(text: str, p: Patterns) -> Iterator[Statement]:
    """A label in whatever language: a few words, a colon and one letter."""
    for m in p.own_label.finditer(text):
        words = m["label"]
        if len(words.split()) > 5 or p.denial.search(words) or p.supposed.search(words):
            continue
        place, end = m.start("letter"), m.end("letter")
        if p.letter.search(words) or rules.is_article(text, m["letter"], end, p):
            continue
        if not rules.falls(text, place, place, end, p) and not rules.second_option(text, m["letter"], end, p):
            yield Statement(place, p.index[m["letter"]], "own_label", NAMED)


def _last_of_list(opened: list[re.Match[str]], p: Patterns) -> int:
    """The last place from which on lines open with more than one letter; -1 if there is none."""
    seen: set[int] = set()
    for m in reversed(opened):
        seen.add(p.index[m["letter"]])
        if len(seen) > 1:
            return m.start("letter")
    return -1


def _rest(text: str, start: int) -> str:
    """The rest of a line."""
    end = text.find("\n", start)
    return text[start : min(end if end >= 0 else len(text), start + 200)]


def _rejected(mark: str, rest: str, own: str, p: Patterns) -> bool:
    """Whether a line rejects the option that opens it: "E: not needed", "A. Rome is wrong"."""
    rest = rest.strip()
    if own and rest.casefold().startswith(own.casefold()):
        rest = "-" + rest[len(own) :]  # an option's own text may hold a denial
    first = re.split(r"[.!?。।]\s", rest, maxsplit=1)[0]
    if (no := p.denial.match(first)) and first[no.end() : no.end() + 1] in {",", ".", "!"}:
        return True  # "A) No, that is a river"
    wrong = p.wrong.search(first)
    if wrong and (wrong.start() > 0 or ":" in mark):
        return True
    telling = ":" in mark or not mark.strip() or rest[:1] in "-–—("
    return bool(telling and p.denial.search(first))


def _asked_line(rest: str) -> bool:
    return rest.rstrip(" \t\"')").endswith(("?", "؟"))


def _under_rejection(text: str, start: int, p: Patterns) -> bool:
    """Whether the line above is a heading that rejects: "Ruled out:"."""
    above = text[max(0, start - 120) : start].rstrip().rsplit("\n", 1)[-1]
    return above.endswith(":") and p.denial.search(above) is not None


def _cue_before(text: str, place: int, before: str, p: Patterns) -> bool:
    """Whether the sentence speaks of the answer and names no other option that stands."""
    cues = list(p.cue_word.finditer(before))
    if not cues:
        return False
    cue = cues[-1]
    offset = place - len(before)
    if p.not_cue.search(rules.clause_of(before[: cue.start()])):
        return False
    for m in p.letter.finditer(before, cue.end()):
        if m["letter"].islower() or rules.is_article(before, m["letter"], m.end("letter"), p):
            continue
        here = offset + m.start("letter")
        if not rules.falls(text, here, here, offset + m.end("letter"), p):
            return False
    return True


def _cue_denied(before: str, p: Patterns) -> bool:
    """Whether the sentence denies the answer that the letter would be: "I don't think the answer is A"."""
    cue = next(reversed(list(p.cue_word.finditer(before))), None)
    if cue is None or p.letter.search(before, cue.end()):
        return False
    return p.not_cue.search(rules.clause_of(before[: cue.start()])) is not None


def _initial(before: str) -> bool:
    """Whether "X. Word" after this is the middle of a name: "John D. Rockefeller"."""
    return _INITIAL.search(before) is not None


def _concludes(before: str, text: str, end: int, p: Patterns) -> bool:
    """A sentence that is a conclusion and a letter: "So B."."""
    so = p.so.match(before.lstrip())
    return (
        so is not None and not before.lstrip()[so.end() :].strip(" ,:") and _ENDS.match(text, end) is not None
    )
