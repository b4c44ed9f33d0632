"""Which scripts can be drawn, with the fonts that are there and without."""

from __future__ import annotations

import pytest

from maskedadv.reports import fonts


def test_plain_text_needs_no_other_font() -> None:
    found = fonts.fonts_for(["Qwen2.5-32B", "Ελληνικά", "العربية", "−0.5 Δ"])
    assert found.families == ("DejaVu Sans",)
    assert found.warning == ""


def test_what_no_font_draws_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_installed", lambda: ())
    found = fonts.fonts_for(["模型", "বাংলা", "తెలుగు", "한국어"])
    assert set(found.missing) == {"CJK", "Bengali", "Telugu", "Hangul"}
    assert "Bengali" in found.warning
    assert "fonts-noto" in found.warning


def test_the_first_font_that_draws_a_letter_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = {"one": frozenset("模"), "two": frozenset("模型"), "base": frozenset("abc")}
    monkeypatch.setattr(fonts, "_installed", lambda: (("One", "one"), ("Two", "two"), ("Three", "three")))
    monkeypatch.setattr(fonts, "_letters", lambda path: letters.get(path, frozenset("abc")))
    found = fonts.fonts_for(["abc 模型"])
    assert found.families == ("DejaVu Sans", "One", "Two")
    assert found.missing == {}


def test_the_font_of_last_resort_does_not_count() -> None:
    assert not any("Last Resort" in name for name, _ in fonts._installed())


def test_symbols_are_not_taken_for_a_script() -> None:
    assert fonts._script("🤖") == "symbols"
    assert fonts._script("ব") == "Bengali"
