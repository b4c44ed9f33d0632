"""Options that an answer names with their own text instead of their letter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from maskedadv.scoring.reading import rules
from maskedadv.scoring.reading.letters import WORD
from maskedadv.scoring.reading.normalise import normalise, without_markdown
from maskedadv.scoring.reading.patterns import Patterns
from maskedadv.scoring.reading.statements import EXPLICIT, WEAK, Statement

_EDGES = " \t\n.,;:!。،।۔\"'“”«»‘’()[]{}$「」『』-–—"
_LONGEST = 300  # characters of an option that are compared


def plain_texts(option_texts: Sequence[str], n_options: int) -> tuple[str, ...]:
    """The options' texts as they are compared; none unless all are known and differ."""
    if len(option_texts) != n_options:
        return ()
    texts = tuple(_plain(text) for text in option_texts)
    return texts if all(texts) and len(set(texts)) == n_options else ()


def own_text_statements(text: str, p: Patterns, texts: Sequence[str]) -> Iterator[Statement]:
    """Options named with their text: after a cue, as the whole answer or its last line, or alone in it."""
    if not texts:
        return
    whole = _plain(text)
    lines = [line for line in text.splitlines() if line.strip()]
    for said, place in (
        (whole, 0),
        (_plain(lines[-1]) if lines else "", text.rfind(lines[-1]) if lines else 0),
    ):
        if said in texts:
            yield Statement(place, texts.index(said), "own_text", EXPLICIT)
    for m in list(p.cue_word.finditer(text))[-50:]:
        after = (
            rules.sentence_after(text, m.end())
            if "\n" not in text[m.end() : m.end() + 3]
            else text[m.end() :].strip().split("\n")[0]
        )
        found = _only_one(_plain(after), texts)
        opens_with_letter = p.letter.match(after.lstrip(_EDGES))
        if found is None or opens_with_letter or p.denial.search(_without(_plain(after), texts[found])):
            continue
        if not rules.falls(text, m.start(), m.end(), m.end(), p):
            yield Statement(m.end(), found, "own_text", EXPLICIT if _short(after, texts[found]) else WEAK)
    if len(lines) == 1 and len(whole) < 300:
        found = _only_one(whole, texts)
        rest = _without(whole, texts[found]) if found is not None else ""
        if (
            found is not None
            and not p.denial.search(rest)
            and not p.supposed.search(rest)
            and not rest.endswith("?")
        ):
            yield Statement(0, found, "own_text", WEAK)


def contradicted(text: str, end: int, option: int, texts: Sequence[str]) -> bool:
    """Whether the text written behind a letter is another option's: "B. Vienna" where C is Vienna."""
    if not texts:
        return False
    said = _plain(text[end : end + _LONGEST].split("\n")[0])
    others = [
        k for k, own in enumerate(texts) if k != option and said.startswith(own) and not _goes_on(said, own)
    ]
    return bool(others) and not said.startswith(texts[option])


def _plain(text: str) -> str:
    plain = without_markdown(normalise(text[: 4 * _LONGEST])).strip(_EDGES)
    return re.sub(r"\s+", " ", plain).casefold()[:_LONGEST]


def _only_one(said: str, texts: Sequence[str]) -> int | None:
    """The one option whose text occurs in what is said; not a text within a longer one that occurs."""
    found = [k for k, own in enumerate(texts) if own in said and _whole(own, said)]
    found = [k for k in found if not any(j != k and texts[k] in texts[j] for j in found)]
    return found[0] if len(found) == 1 else None


def _whole(own: str, said: str) -> bool:
    """Whether the text occurs as whole words, not within a number."""
    start = rf"(?<![{WORD}])(?<!\d[.,])" if re.match("[A-Za-z0-9À-ɏ]", own) else ""
    end = r"(?![A-Za-z0-9À-ɏ])(?![.,]\d)" if re.match("[A-Za-z0-9À-ɏ]", own[-1]) else ""
    return re.search(start + re.escape(own) + end, said) is not None


def _without(said: str, own: str) -> str:
    return said.replace(own, " ", 1)


def _short(after: str, own: str) -> bool:
    return len(after) < len(own) + 40


def _goes_on(said: str, own: str) -> bool:
    return re.match(f"[{WORD}]", said[len(own) : len(own) + 1]) is not None
