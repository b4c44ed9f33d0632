"""Names cut to a width so that names that differ stay different."""

from __future__ import annotations

from collections.abc import Iterable

from maskedadv.words.terminal import display_width, shorten


def shorten_distinct(texts: Iterable[str], width: int) -> dict[str, str]:
    """Every text and what is shown of it, at most `width` columns; no two alike.

    Where cutting out the middle, as `shorten` does, makes texts alike, what they agree in is cut instead;
    where that does not help, they are numbered.

    Parameters
    ----------
    texts
        The names; repeated ones count once.
    width
        Columns of a terminal, 6 or more.
    """
    names = list(dict.fromkeys(texts))
    shown = {text: shorten(text, width) for text in names}
    for group in _alike(shown):
        shown |= {text: _around(text, *_common(group), width) for text in group}
    taken = {shown[text] for text in names} - {shown[text] for group in _alike(shown) for text in group}
    for group in _alike(shown):
        number = 0
        for text in group:
            while True:
                number += 1
                mark = f"~{number}"
                numbered = shorten(text, max(width - len(mark), 1)) + mark
                if numbered not in taken:
                    break
            shown[text] = numbered
            taken.add(numbered)
    return shown


def _alike(shown: dict[str, str]) -> list[list[str]]:
    """Groups of texts that are shown alike."""
    groups: dict[str, list[str]] = {}
    for text, label in shown.items():
        groups.setdefault(label, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _common(group: list[str]) -> tuple[int, int]:
    """How many characters the texts have in common at the beginning and, beyond those, at the end."""
    start = _agreeing(group)
    return start, _agreeing([text[start:][::-1] for text in group])


def _agreeing(texts: list[str]) -> int:
    """How many characters all texts begin with."""
    first, last = min(texts), max(texts)
    pairs = zip(first, last, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(first), len(last)))


def _around(text: str, start: int, end: int, width: int) -> str:
    """What a text has of its own, with as much of its beginning and its end as there is room for."""
    own = text[start : len(text) - end]
    room = width - display_width(own) - 2
    if room < 0:
        return shorten(own, width)
    head, tail = text[:start], text[len(text) - end :]
    left = min(room - min(room // 2, len(tail)), len(head))
    right = min(room - left, len(tail))
    before = head if left >= len(head) - 1 else head[:left] + "…"
    after = tail if right >= len(tail) - 1 else "…" + (tail[len(tail) - right :] if right else "")
    label = before + own + after
    return label if display_width(label) <= width else shorten(label, width)
