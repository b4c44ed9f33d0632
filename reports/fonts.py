"""Which installed fonts draw a set of texts, and which scripts none of them can draw."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

BASE = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic, Arabic, Hebrew and more."""

_IGNORED = {"Cc", "Cf", "Zs", "Zl", "Zp", "Cs", "Co", "Cn"}


@dataclass(frozen=True)
class Fonts:
    """Font families in the order of preference, and scripts that cannot be drawn with a few letters each."""

    families: tuple[str, ...]
    missing: dict[str, str]

    @property
    def warning(self) -> str:
        """One sentence on what cannot be drawn, '' if all can."""
        if not self.missing:
            return ""
        scripts = ", ".join(f"{name} ({letters})" for name, letters in self.missing.items())
        return (
            f"No installed font draws {scripts}; boxes stand for it in PNG and PDF figures. "
            "Install the Noto fonts (Debian: fonts-noto-core, fonts-noto-cjk) and make them again."
        )


def fonts_for(texts: Iterable[str]) -> Fonts:
    """Choose fonts for some texts.

    Letters that the base font lacks are looked up in the installed fonts, Noto first.
    """
    needed = {c for text in texts for c in text if unicodedata.category(c) not in _IGNORED}
    left = needed - _letters(_base_file())
    families = [BASE]
    for name, path in _installed() if left else ():
        drawn = left & _letters(path)
        if drawn:
            families.append(name)
            left -= drawn
        if not left:
            break
    missing: dict[str, str] = {}
    for c in sorted(left):
        script = _script(c)
        if len(missing.get(script, "")) < 5:
            missing[script] = missing.get(script, "") + c
    return Fonts(tuple(families), missing)


def _script(c: str) -> str:
    """Bengali for a Bengali letter: the first word of its Unicode name, but for the shared names.

    Symbols (emoji among them) are named after what they show, not after a script.
    """
    if unicodedata.category(c).startswith("S"):
        return "symbols"
    first = unicodedata.name(c, "unknown").split(" ")[0].split("-")[0]
    return first if first == "CJK" else first.capitalize()


def _base_file() -> str:
    from matplotlib import font_manager

    return str(font_manager.findfont(BASE))


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """Upright regular fonts as (family, file), Noto Sans first, then other Noto, then the rest.

    Not the font of last resort that comes with matplotlib: its glyph of every letter is a box.
    """
    from matplotlib import font_manager

    _take_up_new()
    found = {
        entry.name: entry.fname
        for entry in sorted(font_manager.fontManager.ttflist, key=lambda e: e.fname, reverse=True)
        if entry.style == "normal" and entry.weight in (400, "normal", "regular", "book")
    }
    rank = sorted(found, key=lambda n: (not n.startswith("Noto Sans"), not n.startswith("Noto"), n))
    return tuple((name, found[name]) for name in rank if name != BASE and "Last Resort" not in name)


def _take_up_new() -> None:
    """Fonts installed since matplotlib last looked: it keeps a list on disk and does not look again."""
    from matplotlib import font_manager

    listed = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in listed:
            try:
                font_manager.fontManager.addfont(path)
            except (OSError, RuntimeError, ValueError):
                continue  # not a font that can be read


@cache
def _letters(path: str) -> frozenset[str]:
    """The characters that a font file has glyphs for."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(chr(code) for code in FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
