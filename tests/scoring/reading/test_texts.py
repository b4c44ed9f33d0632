"""Answers read with what is known of the question: the options' texts, the printed labels, how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from maskedadv.scoring.reading.read import read_answer

CITIES = ("Rome", "Vienna", "Paris", "Oslo")
YEARS = ("1914", "1918", "1939", "1945")
COUNTS = ("2", "3", "4", "5")
WORDS = ("Yes", "No", "Maybe", "None of the above")
NESTED = ("The capital of Austria", "The capital of Austria-Hungary", "Neither", "Both A and B")
CYRILLIC = {"letters": ("А", "Б", "В", "Г"), "language": "ru"}
CUT = {"finish_reason": "length"}
ROMAN = {"letters": ("i", "ii", "iii", "iv")}
FROM_ZERO = {"letters": ("0", "1", "2", "3")}


@pytest.mark.parametrize(
    ("text", "options", "known", "option"),
    [
        ("Vienna", CITIES, {}, 1),
        ("The answer is Vienna.", CITIES, {}, 1),
        ("The answer is B, Vienna", CITIES, {}, 1),
        ("B. Paris", CITIES, {}, None),  # the letter of one option, the text of another
        ("It is Vienna, not Rome.", CITIES, {}, None),
        ("Rome is not right, and Vienna is.", CITIES, {}, None),
        ("The war ended in 1918.", YEARS, {}, 1),
        ("3", COUNTS, {}, 1),  # numbers as options: the text, not the place
        ("Answer: 2", COUNTS, {}, 0),
        ("Answer: 1", COUNTS, {}, None),
        ("Answer: 2", CITIES, {}, 1),
        ("None of the above", WORDS, {}, 3),
        ("Answer: None of the above", WORDS, {}, 3),
        ("No", WORDS, {}, 1),
        ("No, the answer is A", WORDS, {}, 0),
        ("The capital of Austria-Hungary", NESTED, {}, 1),
        ("Both A and B", NESTED, {}, 3),
        ("Answer: D. Both A and B", NESTED, {}, 3),
        ("答案是维也纳。", ("罗马", "维也纳", "巴黎", "奥斯陆"), {"language": "zh"}, 1),
        ("答案不是维也纳。", ("罗马", "维也纳", "巴黎", "奥斯陆"), {"language": "zh"}, None),
        ("Doğru cevap Viyana'dır.", ("Roma", "Viyana", "Paris", "Oslo"), {"language": "tr"}, 1),
        ("The answer is B", CITIES, CUT, 1),
        ("Answer: B. The reason is that", CITIES, CUT, 1),
        ("Let me think. A is wrong, so the answer is", CITIES, CUT, None),
        ("Okay, the answer is B. Wait, let me", CITIES, CUT, None),
        ("The answer seems to be A. But let me check: B", CITIES, CUT, None),
        ("Step 1: Rome is the capital of Italy. The answer is A", CITIES, CUT, None),
        ("<think>x</think>B. Vienna is the", CITIES, CUT, 1),
        ("<think>the answer is A", CITIES, CUT, None),
        ("В", CITIES, CYRILLIC, 2),
        ("Ответ: В) Париж", CITIES, CYRILLIC, 2),
        ("Ответ: В", CITIES, {"letters": tuple("ABCD"), "language": "ru"}, None),
        ("ب", CITIES, {"letters": ("أ", "ب", "ج", "د"), "language": "ar"}, 1),
        ("Answer: (iv)", CITIES, ROMAN, 3),
        ("0", CITIES, FROM_ZERO, 0),
        ("The answer is 1.", CITIES, FROM_ZERO, 1),
        ("Rätselwort: B", CITIES, {"cue": "Rätselwort:"}, 1),
    ],
)
def test_what_the_question_printed_is_heeded(
    text: str, options: tuple[str, ...], known: dict[str, Any], option: int | None
) -> None:
    assert read_answer(text, 4, option_texts=options, **known).option == option
