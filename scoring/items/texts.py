"""What can be wrong with a text that a reader would not see, or would see at once and a program would not."""

from __future__ import annotations

import re
import unicodedata
from html.entities import html5

# Direction marks, byte-order mark, control characters: invisible to the reader, not to the tokenizer.
HIDDEN = frozenset("\ufeff\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") | {
    chr(k) for k in (*range(32), *range(127, 160)) if chr(k) not in "\n\t"
}
_JOINERS = "\u200c\u200d"
_NO_WIDTH = re.compile("[\u00ad\u034f\u180e\u200b\u2060-\u2064\u200c\u200d]")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")  # Thai to Tibetan, Burmese, Khmer
_ENTITY = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]{1,30});|#[0-9]{2,7};|#[xX][0-9A-Fa-f]{2,6};)")
# Bytes of UTF-8 that were read as Latin-1 or Windows-1252: one of two bytes must not look like a letter
# before a quotation mark, as in "IRMÃ”".
_BYTE = (
    "[\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc"
    "\u2013-\u2026\u2030\u2039\u203a\u20ac\u2122]"
)
_TWO = "[\u00c2-\u00df]" + _BYTE
_MISREAD = re.compile(
    f"(?:{_TWO}){{2,}}|[\u00e0-\u00ef]{_BYTE}{{2}}|[\u00f0-\u00f4]{_BYTE}{{3}}"
    "|[\u00c2\u00c3][\u0080-\u009f\u00a1-\u00aa\u00ac-\u00b6\u00b8-\u00ba\u00bc-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2030\u0192\u20ac\u2122]"
)
_CLOSING = frozenset("\u00a0«»‹›“”‘’…–—")  # what may stand behind an accented letter: "liberté »", "café…»"
_NARROW = ("<wide>", "<narrow>", "<noBreak>")


def clean_text(text: str) -> str:
    """The text without hidden characters, line ends as single newlines, blanks at its ends cut."""
    text = re.sub("\r\n|[\r\v\f\x85]", "\n", text)
    idle = {k for k, _ in _idle(text)}
    return "".join(c for k, c in enumerate(text) if c not in HIDDEN and k not in idle).strip()


def as_read(text: str) -> str:
    """The text as a reader sees it: one form of accents and of width, one kind of blank, nothing of no width.

    Powers and fractions stay what they are ("m²" is not "m2").
    """
    folded = "".join(
        unicodedata.normalize("NFKC", c) if unicodedata.decomposition(c).startswith(_NARROW) else c
        for c in unicodedata.normalize("NFC", text)
        if not _NO_WIDTH.fullmatch(c) or c in _JOINERS
    )
    return " ".join(folded.split())


def hidden_in(text: str) -> set[str]:
    """Characters that are invisible, but not to a tokenizer."""
    return {c for c in text if c in HIDDEN}


def without_width_in(text: str) -> set[str]:
    """Characters of no width where the script does not need them: joiners between Latin letters, for one."""
    return {c for _, c in _idle(text)}


def entities_in(text: str) -> list[str]:
    """HTML entities that were left as they are."""
    return [m[0] for m in _ENTITY.finditer(text) if m[1] is None or f"{m[1]};" in html5]


def misread_in(text: str) -> list[str]:
    """Sequences that are UTF-8 once read as another encoding ("Ã©" for "é")."""
    found = [m[0] for m in _MISREAD.finditer(text)]
    return [text for text in found if set(text[1:]) - _CLOSING and _as_utf8(text)]


def _idle(text: str) -> list[tuple[int, str]]:
    found = []
    for match in _NO_WIDTH.finditer(text):
        k, c = match.start(), match[0]
        before, after = text[k - 1 : k] or " ", text[k + 1 : k + 2] or " "
        if c in _JOINERS:
            needed = ord(before) > 0x58F and unicodedata.category(before)[0] in "LMS"
        else:
            needed = c == "\u200b" and bool(_WITHOUT_SPACES.match(before) or _WITHOUT_SPACES.match(after))
        if not needed:
            found.append((k, c))
    return found


def _as_utf8(text: str) -> bool:
    raw = bytearray()
    for c in text:
        try:
            raw += bytes([ord(c)]) if ord(c) < 256 else c.encode("cp1252")
        except UnicodeEncodeError:
            return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
