"""Which option a written answer states: rule by rule, and for every language that has data."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskedadv.scoring.reading.languages import languages, own_words
from maskedadv.scoring.reading.read import read_answer

DATA = {code: own_words(code) for code in languages()}


def extract(text, n_options, language="en"):
    return read_answer(text, n_options, language).option


# Languages whose questions the project asks, and those of the data sets it imports.
NEEDED = {
    *("zh", "ar", "fr", "ja", "hi", "ko", "nl", "fa", "pl", "el", "bn", "ne", "te", "en"),
    *("da", "et", "lt", "nb", "sv"),
}


@pytest.mark.parametrize(
    ("text", "language", "option"),
    [
        ("ANSWER: None of the above", "en", None),
        ("**B**", "en", 1),
        ("(b)", "en", 1),
        ("$C$", "en", 2),
        ("الإجابة: ب", "ar", 1),
        ("答案是Ｃ", "zh", 2),
        ("", "en", None),
    ],
)
def test_the_specified_answers(text, language, option):
    assert extract(text, 4, language) == option


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Answer: B ... no, wait. Answer: C", 2),
        ("B\n\nAll in all:\n\n**C**", 2),
        ("Answer: C. The answer is not B.", 2),
        ("Answer: B\n\nANSWER: none", None),
        ("A is correct? No: B is correct.", 1),
        ("<think>the answer is C</think> Answer: B", 1),
        ("the answer is C</think>\nB", 1),
        ("<think>the answer is C, or", None),
        ("Answer: D <think> the answer is C", 3),
    ],
)
def test_the_last_statement_wins(text, option):
    assert extract(text, 4) == option


@pytest.mark.parametrize(
    "text",
    [
        "**Answer:** B",
        "**Answer: B**",
        "Answer: **(B)**",
        "Answer: _B_",
        "Answer:B",
        "ANSWER: $B$",
        "ANSWER:\n```\nB\n```",
        "The final answer is $\\boxed{B}$.",
        "$\\boxed{\\text{B}}$",
        "\\(\\boxed{b}\\)",
        "The correct option is **B) Rome**.",
        "The answer is B, because A is wrong.",
        "The answer is B; C is wrong",
        "[B]",
        "{B}",
        "“B”",
        "> B",
        "# B",
        "B.",
        "B) Rome",
        "**B.** Rome",
        "- B. Rome",
        "Option B",
        "Option B is correct.",
        "answer is: option (b)",
        "Answer:\n\nB. Rome\n\nThat is the capital.",
        "B. Rome\n\nA is wrong because it is in France.",
        "My answer would be B",
    ],
)
def test_markdown_brackets_and_tex_are_seen_through(text):
    assert extract(text, 4) == 1


@pytest.mark.parametrize(
    "text",
    [
        "A. Oslo\nB. Rome\nC. Bern\nD. Riga",  # the options again
        "A\nB\nC\nD",
        "Answer:\nA. Oslo\nB. Rome\nC. Bern",
        "The answer is a bit complicated",
        "Answer: A man",
        "Answer: E",
        "Answer: B and C",
        "Answer: B or C",
        "Answer: B, C",
        "Answer: B/D",
        "Answer: Both",
        "Answer B is wrong. Answer C is wrong.",
        "Which answer is right?",
        "I cannot answer that.",
        "e.g. this",
        "Dr. Who",
        "Answer: Bern",
        "Answer: Carbon",
        "Answer: AB",
        "Answer: B2",
        "Answer: C'est la vie",
        "I",
        "\u200f\u200e",
        "**",
    ],
)
def test_no_statement_is_never_a_guess(text):
    assert extract(text, 4) is None


def test_a_letter_that_is_a_word_needs_more_than_a_word_after_it():
    assert extract("The answer is A because it is.", 4) == 0
    assert extract("The answer is A.", 4) == 0
    assert extract("Answer: A, a tax", 4) == 0
    assert extract("Answer: A\nA tax", 4) == 0
    assert extract("La respuesta es A porque sí", 4, "es") == 0
    assert extract("La respuesta es A menudo", 4, "es") is None


def test_letters_beyond_the_options_are_none():
    assert extract("Answer: E", 5) == 4
    assert extract("Answer: C", 2) is None
    assert extract("Answer: J", 10) == 9
    with pytest.raises(ValueError, match="2 to 26"):
        extract("A", 1)


@pytest.mark.parametrize(
    ("text", "language", "option"),
    [
        ("Answer: А", "en", 0),  # Cyrillic
        ("Answer: В", "en", 1),
        ("Answer: Β", "en", 1),  # Greek
        ("Answer: С", "sv", 2),
        ("Answer: ⓑ", "en", 1),
        ("Answer: 𝐁", "en", 1),
        ("Answer: \u200fB\u200e", "en", 1),
        ("\u2066B\u2069", "en", 1),
        ("Απάντηση: Γ", "el", 2),
        ("Ответ: Б", "ru", 1),
        ("Ответ: В", "ru", None),  # the third Cyrillic letter, or a Latin B
    ],
)
def test_look_alikes_and_invisible_marks(text, language, option):
    assert extract(text, 4, language) == option


@pytest.mark.parametrize(
    ("text", "language", "option"),
    [
        ("答案：乙", "zh", 1),
        ("故选B。", "zh", 1),
        ("正解はBです。", "ja", 1),
        ("回答：イ", "ja", 1),
        ("정답은 B입니다.", "ko", 1),
        ("정답: 나", "ko", 1),
        ("الإجابة الصحيحة هي (ج)", "ar", 2),
        ("الإجابة: بعض", "ar", None),
        ("الإجَابَة: ب", "ar", 1),
        ("جواب: الف", "fa", 0),
        ("گزینه ب صحیح است", "fa", 1),
        ("উত্তর: খ", "bn", 1),
        ("উত্তর: কলকাতা", "bn", None),
        ("উত্তর: কি", "bn", None),
        ("उत्तर: ख", "hi", 1),
        ("सही उत्तर C है", "hi", 2),
        ("सही उत्तर C गलत है", "hi", None),
        ("सही उत्तर C हो", "ne", 2),
        ("సమాధానం: B", "te", 1),
        ("Jibu sahihi ni C. Japani", "sw", 2),
        ("Jibu sahihi ni:\n\nB. kuvunjika kwa phosphocreatine.", "sw", 1),
        ("La réponse est C.", "fr", 2),
        ("Réponse : C'est la vie", "fr", None),
        ("Die richtige Antwort ist (D).", "de", 3),
        ("Svaret er B.", "da", 1),
        ("Rätt svar: C", "sv", 2),
        ("Õige vastus on D", "et", 3),
        ("Teisingas atsakymas yra B.", "lt", 1),
        ("Prawidłowa odpowiedź to C.", "pl", 2),
        ("Het juiste antwoord is A.", "nl", 0),
        ("Σωστή απάντηση: Δ", "el", 3),
        ("Erantzun zuzena: B", "eu", 1),
        ("Answer: B", "zu", 1),  # a language without data is read as English
        ("Answer: B", "pt-BR", 1),
        ("Resposta: B", "pt-BR", 1),
    ],
)
def test_statements_in_many_languages(text, language, option):
    assert extract(text, 4, language) == option


def test_needed_languages_have_data():
    assert set(languages()) >= NEEDED


@pytest.mark.parametrize("language", sorted(DATA))
def test_every_phrase_of_the_data_works(language):
    data = DATA[language]
    glue = "" if data.get("glued") else " "
    for answer in (phrase.strip("*") for phrase in data["answer"]):
        for text, option in ((f"{answer}: B", 1), (f"{answer}: (C)", 2), (f"{answer}: D. x", 3)):
            assert extract(text, 4, language) == option, text
        for copula in data.get("is", []):
            assert extract(f"{answer}{glue}{copula}{glue}B", 4, language) == 1, (answer, copula)
        for noun in data.get("option", []):
            assert extract(f"{answer}: {noun} B", 4, language) == 1, (answer, noun)
        for none in data.get("none", []):
            assert extract(f"{answer}: B\n{answer}: {none}", 4, language) is None, (answer, none)
    for phrase in data.get("correct", []):
        assert extract(f"B {phrase}", 4, language) == 1, phrase
    for letters in data.get("letters", []):
        for position, letter in enumerate(letters[:4]):
            ambiguous = letter == "В"  # read as a Latin B as well
            found = extract(f"{data['answer'][0]}: {letter}", 4, language)
            assert found == (None if ambiguous else position), letter


LONG = [
    *("answer " * 20_000, "answer is is is " * 10_000, "answer:\n" * 20_000, "answer (" + "(" * 100_000),
    *("*" * 200_000, "\n" * 200_000, "\\" * 100_000, "<think>" * 20_000),
    *("answer:\nA. x\n" * 15_000, "answer: A man " * 15_000, "answer A\n" * 20_000),
    *("A. x\n" * 30_000, "A " * 60_000, "B is " * 30_000),
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_long_answers_take_linear_time(text):
    start = time.process_time()
    extract(text, 4, "zh")
    assert time.process_time() - start < 2


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # a language's patterns are compiled once
@given(st.text(), st.sampled_from([2, 4, 26]), st.sampled_from(sorted(DATA)))
def test_any_text_gives_an_option_or_none(text, n_options, language):
    found = extract(text, n_options, language)
    assert found is None or 0 <= found < n_options


@settings(deadline=None)
@given(st.text(alphabet="qwxyz 0123456789.,:*()\n", max_size=60), st.integers(0, 3))
def test_a_statement_at_the_end_is_found_whatever_came_before(before, option):
    assert extract(f"{before}\nAnswer: {'ABCD'[option]}", 4) == option


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Answer: 'B'", 1),
        ("The answer is ‘c’.", 2),
        ('Answer: "D"', 3),
        ("Ans: B", 1),
        ("Answer: B - Paris", 1),
        ("Answer: B-cells", None),
        ("The answer is C-section", None),
        ("Answer: C++", None),
        ("Answer: C#", None),
        ("Answer: B+", None),
        ("Answer: A's", None),
        ("Answer: B.C. 300", None),
    ],
)
def test_quotes_are_seen_through_and_words_that_begin_with_a_letter_are_not_options(text, option):
    assert extract(text, 4) == option


@pytest.mark.parametrize(
    ("text", "language", "option"),
    [
        ("【答案】C", "zh", 2),
        ("[Answer] B. Paris", "en", 1),
        ("(Final answer) D", "en", 3),
        ("پاسخ: گزینه\u200cی ب", "fa", 1),
        ("正确答案是A和B", "zh", None),
        ("答案是 A 或 B", "zh", None),
        ("Die Antwort ist A oder B", "de", None),
        ("La respuesta es A y B", "es", None),
        ("La respuesta es B y no A", "es", 1),
        ("La respuesta es B y a veces C", "es", 1),
        ("The answer is B, a mammal.", "en", 1),
        ("The answer is b or a.", "en", None),
        ("Answer: B and C. Both hold.", "en", None),
        ("The answer is B or A in this case.", "en", None),
        ("الإجابة: أ و ب", "ar", None),
        ("Ответ: А и Б", "ru", None),
        ("Ответ: Б и только Б", "ru", 1),
        ("Erantzuna: A eta B", "eu", None),
    ],
)
def test_bracketed_cues_and_second_options_in_many_languages(text, language, option):
    assert extract(text, 4, language) == option


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "A or B is correct"),
        ("en", "A/C is correct"),
        ("de", "A und C ist richtig."),
        ("fr", "A et C est correct"),
        ("zh", "A与C正确。"),
        ("zh", "A、C正确"),
        ("ja", "AとCが正しいです。"),
        ("ja", "正解はAとBです。"),
        ("ko", "A와 C가 정답입니다."),
        ("ko", "B 또는 C가 정답입니다."),
        ("tr", "A ve C doğrudur."),
        ("th", "A และ C ถูกต้อง"),
        ("sw", "A na C ni sahihi."),
        ("fa", "A و C درست است."),
        ("bn", "A এবং C সঠিক।"),
    ],
)
def test_two_options_called_right_together_are_no_answer(language, text):
    assert read_answer(text, 4, language) == (None, "two_options")


@pytest.mark.parametrize(
    ("text", "option"),
    [("Not A, C is correct.", 2), ("Of A and C, C is correct.", 2), ("A is wrong and B is correct.", 1)],
)
def test_an_option_denied_before_does_not_join_the_one_called_right(text, option):
    assert extract(text, 4) == option


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I don't think the answer is A."),
        ("en", "I doubt the answer is A."),
        ("en", "It is unlikely that the answer is D."),
        ("en", "There is no evidence that B is correct."),
        ("en", "Anything but A."),
        ("zh", "不一定是A"),
        ("zh", "很难说是A"),
        ("ja", "正解がAであるとは考えられません。"),
        ("ko", "정답이 A라고 보기 어렵습니다."),
        ("ru", "Не думаю, что ответ A."),
        ("ar", "لا أعتقد أن الإجابة هي أ."),
        ("ar", "الإجابة الخاطئة هي ب."),
        ("fr", "La mauvaise réponse est C."),
        ("de", "Die falsche Antwort ist B."),
    ],
)
def test_what_is_doubted_is_no_answer(language, text):
    assert extract(text, 4, language) is None


@pytest.mark.parametrize(
    "text",
    [
        "Answer: A... wait, actually B.",
        "Answer: A\nCorrection: B",
        "The answer is B. Actually A is a river.",
    ],
)
def test_a_correction_is_the_answer(text):
    assert extract(text, 4) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "Sans doute la réponse est B."),
        ("en", "While I'm not sure, the answer is B."),
        ("en", "Without a doubt the answer is B."),
        ("es", "Sin duda la respuesta es B."),
    ],
)
def test_what_is_beyond_doubt_or_meant_all_the_same_is_an_answer(language, text):
    assert extract(text, 4, language) == 1
