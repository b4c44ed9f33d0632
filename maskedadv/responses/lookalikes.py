"""Ids that a reader would take for one another are kept apart, but the reader is told."""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from maskedadv.words.lists import first_few


def lookalikes(name: str, ids: NDArray[np.object_]) -> tuple[str, ...]:
    """A sentence on ids of a column that differ by next to nothing; none if all are distinct to the eye."""
    groups: dict[str, list[str]] = {}
    for text in ids:
        groups.setdefault(_bare(text), []).append(text)
    alike = [g for g in groups.values() if len(g) > 1]
    if not alike:
        return ()
    shown = [" and ".join(ascii(t) if not t.isprintable() else repr(t) for t in g) for g in alike]
    return (
        f"{len(alike)} groups of {name} ids differ only by blanks, invisible characters, capitals or the way "
        f"letters are composed, and count as distinct: {first_few(shown, between='; ')}",
    )


def _bare(text: str) -> str:
    """An id without blanks, invisible characters, capitals and differences of composition."""
    if text.isascii():
        return "".join(text.split()).casefold()
    shown = unicodedata.normalize("NFKC", text)
    return "".join(c for c in shown if unicodedata.category(c) not in {"Cf", "Cc", "Zs"}).casefold()
