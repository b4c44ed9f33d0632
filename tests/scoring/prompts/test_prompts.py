"""Prompts: the paper's labels, the cue, refusals, and files of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.errors import BadPrompts, NoPrompt, UnreadableFile
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.prompts.prompts import check_prompts, hash_of, load_prompts, render

PUBLISHED = {
    "zh": ("问题：", "答案："),
    "ar": ("السؤال:", "الجواب:"),
    "el": ("Ερώτηση:", "Απάντηση:"),
    "hi": ("प्रश्न:", "उत्तर:"),
    "ne": ("प्रश्न:", "उत्तर:"),
    "ko": ("질문:", "답변:"),
    "fr": ("Question:", "Réponse:"),
    "en": ("Question:", "Answer:"),
    "ja": ("質問：", "回答："),
    "bn": ("প্রশ্ন:", "উত্তর:"),
    "nl": ("Vraag:", "Antwoord:"),
    "fa": ("سؤال:", "جواب:"),
    "pl": ("Pytanie:", "Odpowiedź:"),
    "te": ("ప్రశ్న:", "సమాధానం:"),
}
HOME = {
    "zh": "CN",
    "ar": "AE",
    "el": "GR",
    "hi": "IN",
    "ko": "KR",
    "fr": "FR",
    "ja": "JP",
    "bn": "BD",
    "nl": "NL",
}
HOME |= {
    "fa": "IR",
    "pl": "PL",
    "ne": "NP",
    "te": "IN",
    "da": "DK",
    "et": "EE",
    "lt": "LT",
    "nb": "NO",
    "sv": "SE",
}


def item(language: str = "en", subset: str = "CS", country: str = "", options: int = 4) -> Item:
    return Item("q", subset, language, "Who?", tuple(f"o{k}" for k in range(options)), 0, country)


@pytest.mark.parametrize("language", PUBLISHED)
def test_published_labels(language: str) -> None:
    lines = render(item(language), load_prompts()).prompt.split("\n")
    question, answer = PUBLISHED[language]
    assert lines[0].startswith(question)
    assert lines[0].removeprefix(question).strip() == "Who?"
    assert lines[1:5] == ["A. o0", "B. o1", "C. o2", "D. o3"]
    assert lines[5:] == [answer]


@pytest.mark.parametrize("language", HOME)
def test_every_language_and_english_have_the_home_countrys_cue(language: str) -> None:
    prompts = load_prompts()
    for asked in (language, "en"):
        cued = render(item(asked, country=HOME[language]), prompts).prompt
        bare = render(item(asked), prompts).prompt
        assert len(cued) > len(bare)
        assert cued.endswith(bare[bare.index("Who?") :])


def test_whole_prompts() -> None:
    prompts = load_prompts()
    english = render(item(country="China", options=2), prompts)
    assert english.prompt == "Question: In China, Who?\nA. o0\nB. o1\nAnswer:"
    assert english.options == ((" A",), (" B",))
    chinese = render(item("zh", country="CN", options=2), prompts)
    assert chinese.prompt == "问题：在中国，Who?\nA. o0\nB. o1\n答案："
    assert chinese.options == (("A",), ("B",))
    assert render(item(options=2), prompts, "both").options == ((" A", "A"), (" B", "B"))
    assert render(item("zh", options=2), prompts, "both").options == (("A",), ("B",))


def test_agnostic_items_carry_no_cue() -> None:
    assert "China" not in render(item(subset="CA", country="CN"), load_prompts()).prompt


def test_a_region_asks_as_its_language() -> None:
    assert render(item("fr-CA"), load_prompts()).prompt == render(item("fr"), load_prompts()).prompt


def test_refusals_name_language_and_country() -> None:
    prompts = load_prompts()
    with pytest.raises(NoPrompt, match="no prompt for the language 'xx'"):
        render(item("xx"), prompts)
    with pytest.raises(NoPrompt, match="'ja' has no words for the country 'Atlantis'"):
        render(item("ja", country="Atlantis"), prompts)
    with pytest.raises(NoPrompt, match=r"2 items: .*'xx'.*1 items: .*Atlantis"):
        check_prompts([item("xx"), item("xx"), item("ja", country="Atlantis"), item()], prompts)


def test_own_file_adds_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'version = "mine-2"\n[countries]\n"Wales" = "GB-WLS"\n'
        '[cy]\nquestion = "Cwestiwn"\nanswer = "Ateb"\ncolon = ":"\nword_space = " "\ncue = "{place}, "\n'
        'letters = ["a", "b", "c", "ch"]\nplaces = { GB-WLS = "Yng Nghymru" }\n'
        '[ja]\nplaces = { FR = "フランスでは" }\n',
        "utf-8",
    )
    prompts = load_prompts(path)
    assert prompts.version == "1+mine-2"
    welsh = render(item("cy", country="Wales"), prompts)
    assert welsh.prompt == "Cwestiwn: Yng Nghymru, Who?\na. o0\nb. o1\nc. o2\nch. o3\nAteb:"
    assert welsh.options[3] == (" ch",)
    assert render(item("ja", country="FR"), prompts).prompt.startswith("質問：フランスでは、")
    assert render(item("ja", country="JP"), prompts).prompt.startswith("質問：日本では、")
    assert hash_of([render(item("fr"), prompts)]) == hash_of([render(item("fr"), load_prompts())])
    with pytest.raises(NoPrompt, match="5 options"):
        render(item("cy", options=5), prompts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[xx]\n", "no version"),
        ('version = "1"\n[xx]\nquestion = "Q"\n', "'answer' is missing"),
        ('version = "1"\n[fr]\nquestoin = "Q"\n', "unknown key 'questoin'"),
        ('version = "1"\n[fr]\ncue = "In this land, "\n', "must hold"),
        ('version = "1"\n[fr]\nletters = ["A", "A"]\n', "different texts"),
        ('version = "1"\n[fr]\nanswer = 3\n', "not a text"),
        ('version = "1"\nfr = 3\n', "not a table"),
        ('version = "1"\n[fr]\nplaces = 3\n', "places is a table"),
        ('version = "1"\n[fr]\nplaces = { CN = 3 }\n', "CN is not a text"),
        ('version = "1"\n[fr]\ncue = "{place} }"\n', "must hold"),
        ('version = "1"\n[fr]\nletters = [["A"], ["B"]]\n', "different texts"),
        ('version = "1"\n[countries]\nWales = ["GB"]\n', "Wales is given no code"),
        ("version = ", "not TOML"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadPrompts, match=message):
        load_prompts(path)
    with pytest.raises(UnreadableFile):
        load_prompts(tmp_path / "absent.toml")
