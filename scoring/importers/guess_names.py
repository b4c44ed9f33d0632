"""What columns, words and path parts are called in result files that people have: data of `table_guess`."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from maskedadv.scoring.importers.mapping import read_mapping

# Role -> names in order of preference, in lower case with underscores.
ROLES: dict[str, tuple[str, ...]] = {
    "model": ("model", "model_name", "model_id", "system", "llm", "engine", "examinee", "respondent"),
    "language": ("language", "lang", "query_language", "language_code", "lang_code", "locale"),
    "subset": (
        *("subset", "cultural_sensitivity_label", "regional_feature", "culture", "culture_label"),
        *("kind", "question_type", "group"),
    ),
    "item": (
        *("item", "item_id", "question_id", "sample_id", "qid", "id", "uid", "doc_id", "example_id", "idx"),
        *("index", "question_number", "number", "no", "key", "instance_id", "question_no", "q", "problem_id"),
    ),
    "correct": (
        *("correct", "is_correct", "iscorrect", "right", "acc", "accuracy", "score", "is_right", "result"),
        *(
            "mc1",
            "bleu_acc",
            "exact_match",
            "em",
            "grade",
            "judgement",
            "judgment",
            "correctness",
            "hit",
            "match",
            "value",
            "evaluation",
        ),
    ),
    "p_correct": ("p_correct", "prob_correct", "p_right", "prob_right"),
    "n_options": ("n_options", "num_options", "n_choices", "num_choices"),
    "key": (
        *("answer_key", "correct_answer", "correct_option", "correct_choice", "gold", "golds", "gold_answer"),
        *(
            "gold_label",
            "ground_truth",
            "groundtruth",
            "target",
            "reference",
            "truth",
            "solution",
            "expected",
        ),
        *(
            "right_answer",
            "correct_label",
            "answer_index",
            "answeridx",
            "correct",
            "label",
            "answer",
            "answers",
        ),
    ),
    "given": (
        *("extracted_answer", "parsed_answer", "predicted_option", "predicted_answer", "predicted_label"),
        *("pred", "preds", "prediction", "predictions", "predicted", "model_answer", "response_answer"),
        *(
            "given",
            "given_answer",
            "llm_answer",
            "chosen",
            "choice",
            "selected",
            "model_prediction",
            "output",
        ),
        *(
            "model_output",
            "response",
            "model_response",
            "completion",
            "generated",
            "generation",
            "generated_text",
        ),
        *("outputs", "model_outputs", "answer_given", "raw_prediction", "answer"),
    ),
    "options": ("options", "choices", "options_list", "answer_choices"),
}
LETTERED = (
    [f"option_{letter}" for letter in "abcdefghij"],
    [f"choice_{letter}" for letter in "abcdefghij"],
    list("abcdefghij"),
    [f"option{n}" for n in range(1, 11)],
    [f"option_{n}" for n in range(1, 11)],
    [f"choice{n}" for n in range(1, 11)],
    [f"mc_answer{n}" for n in range(1, 11)],
)
RIGHT = {"1", "1.0", "true", "correct", "right", "yes", "y", "t", "pass", "passed", "✓", "✔", "c"}
WRONG = {"0", "0.0", "false", "incorrect", "wrong", "no", "n", "f", "fail", "✗", "✘", "×", "x", "i"}
PLAIN_WORDS = {"1", "1.0", "true", "0", "0.0", "false", ""}  # understood without [values]
MISSING = {
    *("", "na", "n/a", "nan", "none", "null", "missing", "-", "--", "-1", "-1.0", "?", "error", "failed"),
    *(
        "filtered",
        "invalid",
        "unknown",
        "skipped",
        "timeout",
        "refused",
        "no answer",
        "unanswered",
        "#n/a",
        ".",
    ),
}
AGNOSTIC = {"ca", "agnostic", "universal", "global", "general", "culture-agnostic", "culturally agnostic"}
SPECIFIC = {"cs", "specific", "local", "cultural", "regional", "culture-specific", "culturally specific"}
_CODES = (
    "aa ab af ak am ar as ast av ay az ba be ber bg bho bm bn bo br bs ca ceb ckb cs cv cy da de dv dz ee "
    "el en eo es et eu fa ff fi fil fj fo fr fy ga gd gl gn gu ha haw he hi hr ht hu hy id ig ilo is it "
    "iu iw ja jv ka kaa kab kk kl km kmr kn ko ku kw ky la lb lg ln lo lt lv mai mg mi min mk ml mn mr ms "
    "mt my nb ne nl nn no nso ny oc om or os pa pap pl ps pt qu rm rn ro ru rw sa sah sat sc sd se sg si "
    "sk sl sm sn so sq sr ss st su sv sw syr ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi "
    "wo xal xh yi yo yue za zh zu crh"
)
CODES = frozenset(_CODES.split())
_CODE = re.compile(r"([a-z]{2,3})(?:[-_]([A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}|[0-9]{3}))*")
_MODEL = re.compile(
    r"gpt|llama|qwen|gemma|mistral|mixtral|claude|phi|aya|bloom|falcon|deepseek|gemini|command|olmo|latxa|apertus|"
    r"eurollm|instruct|chat|model|system|\d+b\b|__|%2f|/",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """A column's name as `ROLES` has it: "Correct Answer" is correct_answer."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\W_]+", "_", text).strip("_").lower()


def is_language(text: str) -> bool:
    """Whether a text is the code of a language, with or without script and region."""
    match = _CODE.fullmatch(text)
    return bool(match) and match is not None and match[1] in CODES


@lru_cache(maxsize=1)
def language_names() -> dict[str, str]:
    """Names and other codes of languages -> BCP-47 (kazakh, eng_Latn), from the tasks known anyway."""
    names: dict[str, str] = {}
    for rule in read_mapping(Path(__file__).with_name("lm_eval_tasks.toml")):
        names |= rule.languages
    return {"english": "en", "eng_latn": "en"} | {name.casefold(): code for name, code in names.items()}


def as_language(text: str) -> str:
    """The code of a language from its code or its name; '' for anything else."""
    return text if is_language(text) else language_names().get(text.casefold(), "")


def looks_like_models(values: list[str]) -> int:
    """How many of some names look like models'."""
    return sum(bool(_MODEL.search(value)) for value in values)
