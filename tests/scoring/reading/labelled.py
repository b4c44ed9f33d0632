"""The labelled set: written answers whose option is known because they were written to state it.

One half follows one procedure (`by_procedure`), with no more of a language than its word for "answer", its
letters and four names; the other half are sentences as models write them (`templates.tsv`). The held-out
answers (`held_out.tsv`) were written before the first run of the reader and never changed for it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parents[2] / "data" / "reading"
LETTERS = "ABCD"


class Labelled(NamedTuple):
    """A written answer and the position of the option it states, None where it states none."""

    language: str
    style: str
    text: str
    option: int | None
    texts: tuple[str, ...] = ()
    finish_reason: str | None = None


# The word for "answer", the option letters of the language's own script, and four names.
WORDS = {
    "en": ("Answer", "", "Lisbon Vienna Prague Dublin"),
    "de": ("Antwort", "", "Lissabon Wien Prag Dublin"),
    "fr": ("Réponse", "", "Lisbonne Vienne Prague Dublin"),
    "es": ("Respuesta", "", "Lisboa Viena Praga Dublín"),
    "pt": ("Resposta", "", "Lisboa Viena Praga Dublin"),
    "it": ("Risposta", "", "Lisbona Vienna Praga Dublino"),
    "nl": ("Antwoord", "", "Lissabon Wenen Praag Dublin"),
    "sv": ("Svar", "", "Lissabon Wien Prag Dublin"),
    "pl": ("Odpowiedź", "", "Lizbona Wiedeń Praga Dublin"),
    "ru": ("Ответ", "", "Лиссабон Вена Прага Дублин"),
    "cs": ("Odpověď", "", "Lisabon Vídeň Praha Dublin"),
    "hu": ("Válasz", "", "Lisszabon Bécs Prága Dublin"),
    "fi": ("Vastaus", "", "Lissabon Wien Praha Dublin"),
    "el": ("Απάντηση", "ΑΒΓΔ", "Λισαβόνα Βιέννη Πράγα Δουβλίνο"),
    "tr": ("Cevap", "", "Lizbon Viyana Prag Dublin"),
    "az": ("Cavab", "", "Lissabon Vyana Praqa Dublin"),
    "uz": ("Javob", "", "Lissabon Vena Praga Dublin"),
    "kk": ("Жауап", "", "Лиссабон Вена Прага Дублин"),
    "ar": ("الإجابة", "أبجد", "لشبونة فيينا براغ دبلن"),
    "fa": ("پاسخ", "", "لیسبون وین پراگ دوبلین"),
    "he": ("תשובה", "אבגד", "ליסבון וינה פראג דבלין"),
    "hi": ("उत्तर", "कखगघ", "लिस्बन वियना प्राग डबलिन"),
    "bn": ("উত্তর", "কখগঘ", "লিসবন ভিয়েনা প্রাগ ডাবলিন"),
    "te": ("సమాధానం", "", "లిస్బన్ వియన్నా ప్రేగ్ డబ్లిన్"),
    "zh": ("答案", "甲乙丙丁", "里斯本 维也纳 布拉格 都柏林"),
    "ja": ("答え", "アイウエ", "リスボン ウィーン プラハ ダブリン"),
    "ko": ("정답", "가나다라", "리스본 빈시 프라하 더블린"),
    "vi": ("Đáp án", "", "Lisboa Viên Praha Dublin"),
    "id": ("Jawaban", "", "Lisboa Wina Praha Dublin"),
    "sw": ("Jibu", "", "Lisbon Vienna Prague Dublin"),
}
# {X} the stated option, {Y} and {Z} others, {t} its text, {own} its letter in the own script or its number.
PROCEDURE = {
    "bare": "**{X}**",
    "label": "**{word}:** {X}",
    "label and text": "{word}: **{X}) {t}**",
    "letter and text": "{X}. {t}",
    "letter, then reasons": "{X}\n\n{t}, {n} {Y} {Z}.",
    "boxed": "{n}.\n\n$$\\boxed{{{X}}}$$",
    "tagged": "{n} {Y}\n<answer>{X}</answer>",
    "after reasoning": "<think>\n{word}: {Y}? {n}.\n</think>\n\n{word}: {X}",
    "reasoning cut off": "<think>\n{word}: {Y}. {n} {word}: {Z}",
    "own letters or digits": "{word}: {own}",
    "own text": "{word}: {t}",
    "options repeated": "A. {a}\nB. {b}\nC. {c}\nD. {d}",
}
EMPTY = {"reasoning cut off", "options repeated", "nothing"}


def by_procedure() -> Iterator[Labelled]:
    """Every language in every form of `PROCEDURE`."""
    for i, (language, (word, own, names)) in enumerate(WORDS.items()):
        texts = tuple(names.split())
        for j, (style, form) in enumerate(PROCEDURE.items()):
            option = (i + j) % 4
            text = form.format(
                **_letters(option), word=word, t=texts[option], n=texts[(option + 2) % 4],
                own=(own or "1234")[option], **dict(zip("abcd", texts, strict=True)),
            )  # fmt: skip
            yield Labelled(language, style, text, None if style in EMPTY else option, texts)


def from_templates() -> Iterator[Labelled]:
    """Every template with letters twice, with different ones."""
    for i, row in enumerate(_rows("templates.tsv")):
        second = (i + 2 + i // 8) % 4 if (i // 8) % 4 != 2 else (i + 1) % 4
        for option in (i % 4, second) if "{" in row["text"] else (i % 4,):
            text = row["text"].format(**_letters(option))
            stated = None if row["style"] in EMPTY else option
            yield Labelled(row["language"], row["style"], text, stated)


def held_out() -> Iterator[Labelled]:
    """The held-out answers."""
    for row in _rows("held_out.tsv"):
        option = None if row["expected"] == "-" else LETTERS.index(row["expected"])
        yield Labelled(row["language"], row["style"], row["text"].replace("\\\\", "\\"), option)


def _letters(option: int) -> dict[str, str]:
    return {name: LETTERS[(option + k) % 4] for k, name in enumerate("XYZW")}


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield {key: value.replace("\\n", "\n") for key, value in row.items()}
