"""Faults of texts that a reader sees and a program does not, or the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.scoring.items.items import askable, check_items
from maskedadv.scoring.items.sources import read_items
from maskedadv.scoring.items.texts import (
    as_read,
    clean_text,
    entities_in,
    misread_in,
    without_width_in,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New York", "New\u00a0York"),
        ("New York", "New \u2009 York "),
        ("ABC 1", "ＡＢＣ　１"),
        ("ｱ", "ア"),
        ("é", "e\u0301"),
        ("Kosovo", "Koso\u200bvo"),
        ("Kosovo", "\u2060Koso\u00advo"),
    ],
)
def test_what_a_reader_sees_as_equal(one: str, other: str) -> None:
    assert as_read(one) == as_read(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m²", "m2"),
        ("½", "1/2"),
        ("H₂O", "H2O"),
        ("a", "A"),
        ("ﬁ", "fi"),
        ("می\u200cروم", "میروم"),
        ("ª", "a"),
    ],
)
def test_what_a_reader_sees_as_different(one: str, other: str) -> None:
    assert as_read(one) != as_read(other)


@pytest.mark.parametrize("text", ["Q&amp;A", "&quot;x&quot;", "don&#39;t", "&#x27;", "a&nbsp;b", "5 &lt; 6"])
def test_entities(text: str) -> None:
    assert entities_in(text)


@pytest.mark.parametrize("text", ["AT&T; yes", "R&D", "if (a && b);", "&; #39;", "Q & A;", "&notaname;"])
def test_no_entities(text: str) -> None:
    assert not entities_in(text)


ACCENTED = "áàâãäåçéèêëíìîïñóòôõöøúùûüýß"
WORDS = ["Fran{}ois", "caf{}", "{}cole", "se{}or", "na{}ve"]


@pytest.mark.parametrize("letter", ACCENTED)
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_latin_letters_that_were_read_in_a_wrong_encoding(letter: str, encoding: str) -> None:
    raw = letter.encode()
    try:
        misread = raw.decode(encoding)
    except UnicodeDecodeError:
        pytest.skip("has no such letter")
    if misread[-1] in "\u00a0«»·“”‘’–—…":  # may be a quotation mark after a capital
        pytest.skip("cannot be told from a letter before a quotation mark")
    for word in WORDS:
        assert misread_in(word.format(misread))


@pytest.mark.parametrize(
    "text", ["Где находится", "أين تقع", "北京在哪里", "कहाँ है", "“quoted”", "🙂", "Ελλάδα"]
)
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_other_scripts_that_were_read_in_a_wrong_encoding(text: str, encoding: str) -> None:
    assert misread_in(text.encode().decode(encoding, "ignore"))


@pytest.mark.parametrize(
    "text",
    [
        *(word.format(letter) for letter in ACCENTED for word in WORDS),
        "« IRMÃ” e “AVÔ”",
        "CAFÉ… «ÎLE»",
        "« la liberté\u00a0», le café…» et l’à-côté”",
        "ÄÖÜ ß",
        "É”",
        "São Tomé",
        "Ærø Þór",
        "Где",
        "L’Île-d’Orléans",
        "100 °C ± 2 µm × 3",
        "ÁÉÍÓÚ Ñ ¿Qué?",
        "¡Ándale!",
    ],
)
def test_text_that_is_as_it_should_be(text: str) -> None:
    assert not misread_in(text)


@given(st.text(max_size=30))
def test_ascii_and_other_text_never_breaks_a_check(text: str) -> None:
    misread_in(text)
    entities_in(text)
    once = clean_text(text)
    assert not without_width_in(once)
    assert as_read(as_read(text)) == as_read(text)


@pytest.mark.parametrize("text", ["می\u200cروم", "क्\u200dष", "👩\u200d👧", "ไทย\u200bไทย", "ខ្មែរ\u200bខ្មែរ"])
def test_characters_of_no_width_that_a_script_needs(text: str) -> None:
    assert not without_width_in(text)
    assert clean_text(text) == text


@pytest.mark.parametrize("text", ["Os\u200blo", "Os\u200dlo", "\u2060Oslo", "Os\u00adlo", "Oslo\u200c"])
def test_characters_of_no_width_that_nothing_needs(text: str) -> None:
    assert without_width_in(text)
    assert clean_text(text) == "Oslo"


def test_real_questions_hardly_ever_look_wrong(shared: Path) -> None:
    """2,800 questions in seven languages: what is refused is what was before."""
    items = read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items
    kept, dropped = askable(items, drop=True)
    assert len(kept) >= 2788, dropped
    odd = [p for p in check_items(items) if p.kind in {"text read in a wrong encoding", "HTML entities"}]
    assert len(odd) < 10, odd
