"""What readers of the pages on items and scoring have: sets in their layouts, items, models, an endpoint."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from tests.documentation.folder import TUTORIAL, Get, Maker

OPTIONS = {f"option_{x}": f"option {x}" for x in "abcd"}


def _rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _set(name: str, rows: list[dict[str, Any]]) -> Maker:
    """A set as a file, or as a folder with a file of this name in it."""
    return lambda path, _: _rows(path / name if name else path, rows)


GLOBAL_MMLU = [
    {**OPTIONS, "sample_id": f"anatomy/test/{n}", "subject": "anatomy", "subject_category": "Medical",
     "question": f"Which one is number {n}?", "answer": "D", "required_knowledge": "[]",
     "time_sensitive": "[]", "country": "['Germany']", "cultural_sensitivity_label": label,
     "is_annotated": True}
    for n, label in enumerate(["CA", "CS", "CA"])
]  # fmt: skip
INCLUDE = [
    {**OPTIONS, "language": "Greek", "country": "Greece", "domain": "Humanities", "subject": "History",
     "regional_feature": feature, "level": "High School", "question": f"{feature}?", "answer": 2}
    for feature in ("agnostic", "region explicit", "culture")
]  # fmt: skip
CMMLU = [
    {"": n, "Question": f"{n}?", "A": "甲", "B": "乙", "C": "丙", "D": "丁", "Answer": "C"} for n in range(3)
]
BELEBELE = [
    {"link": "https://en.wikinews.org/a", "question_number": n, "flores_passage": "Passage.",
     "question": f"Who is number {n}?", **{f"mc_answer{k}": f"person {k}" for k in range(1, 5)},
     "correct_answer_num": "4", "dialect": "deu_Latn", "ds": "2023-05-03"}
    for n in (1, 2)
]  # fmt: skip
M_MMLU = [{"id": f"anatomy/test/{n}", "instruction": f"Où {n}?", **OPTIONS, "answer": "A"} for n in range(3)]
BERTAQA = [
    {"id": n, "category": "Music", "group": group, "difficulty": 1, "question": f"Nor {n}?",
     "candidates": ["bat", "bi", "hiru"], "answer": 0}
    for n, group in enumerate(["Euskal gaiak", "Gai orokorrak"])
]  # fmt: skip
EUSEXAMS = [
    {"id": n, "question": f"Zer {n}?", "candidates": ["a", "b", "c", "d"], "answer": 9 if n == 2 else 1}
    for n in range(3)
]
MINE = [
    {"id": n, "subset": subset, "question": f"Quoi {n} ?", **OPTIONS, "gold": "B"}
    for n, subset in enumerate(["CA", "CS"])
]
EXAMS = [
    {"topic": topic, "question": f"{topic}?", "language": "en", **OPTIONS, "answer": "C"}
    for topic in ("history", "maths")
]


def _labelled(path: Path, _: Get) -> None:
    """The tutorial's questions with their labels."""
    with (TUTORIAL / "item-set" / "questions.csv").open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))
    local = {"history", "customs", "food", "sayings"}
    rows = [
        {**{k: v for k, v in row.items() if k != "id"}, "item": row["id"], "subject": row["topic"],
         "subset": "CS" if row["topic"] in local else "CA"}
        for row in questions
    ]  # fmt: skip
    _rows(path, rows)


def _reviewed(path: Path, _: Get) -> None:
    """Two items in two languages; what three people said of them lies beside as people.parquet."""
    from maskedadv.scoring.item_sets.review.people import PEOPLE
    from maskedadv.scoring.item_sets.tables import table_of, write_step
    from maskedadv.scoring.items.sources import write_items
    from tests.scoring.item_sets.review.answers import answer
    from tests.scoring.item_sets.review.test_commands import ITEMS

    write_items(path, ITEMS)
    said = [answer(item, who) for item in ("one", "two") for who in ("ana", "ben", "chi")]
    write_step(path.with_name("people.parquet"), table_of(said, PEOPLE))


def _built(path: Path, _: Get) -> None:
    rows = [
        {"item": name, "subset": "CS", "language": language, "question": f"{name} {language}?",
         "options": ["x", "y"], "answer": "A", "made": "source"}
        for name in ("one", "two")
        for language in ("zh", "en")
    ]  # fmt: skip
    _rows(path / "items.parquet", rows)


def _lite(path: Path, _: Get) -> None:
    from tests.scoring.conftest import write_item_file

    write_item_file(path)


def makers(tiny_model: Callable[[], Path]) -> dict[str, Maker]:
    """How each is made; models are all the same random one."""

    def model(path: Path, _: Get) -> None:
        shutil.copytree(tiny_model(), path)

    return {
        "Global-MMLU-Lite": _set("en/test-00000-of-00001.parquet", GLOBAL_MMLU),
        "include-base-44/Greek": _set("test-0.parquet", INCLUDE),
        "cmmlu/test": _set("agronomy.csv", CMMLU),
        "belebele/deu_Latn.jsonl": _set("", BELEBELE),
        "m_mmlu/fr": _set("test.parquet", M_MMLU),
        "bertaqa_eu.jsonl": _set("", BERTAQA),
        "EusExams": _set("eu_opeosakiadmineu/test.parquet", EUSEXAMS),
        "mine.csv": _set("", MINE),
        "exams": _set("june.csv", EXAMS),
        "labelled.jsonl": _labelled,
        "reviewed.jsonl": _reviewed,
        "people.parquet": lambda _, get: get("reviewed.jsonl") and None,  # type: ignore[func-returns-value]
        "build": _built,
        "lite.jsonl": _lite,
        "org/model-8b": model,
        "org/model-70b": model,
        "models/tiny": model,
        "questions.csv": lambda path, _: (
            path.write_bytes((TUTORIAL / "item-set" / "questions.csv").read_bytes()) and None
        ),
        "build.toml": lambda path, _: (
            path.write_bytes((TUTORIAL / "item-set" / "build.toml").read_bytes()) and None
        ),
    }


@contextmanager
def endpoint() -> Iterator[str]:
    """The address of an endpoint: it labels and translates the tutorial's questions, answers others by B."""
    from tests.scoring.endpoints.scripted import Response, chat, serve
    from tests.scoring.item_sets.scripted_models import Models

    models = Models(script=False)
    top = {" A": -2.0, " B": -0.5, " C": -3.0, " D": -3.5, " E": -4.0}

    def respond(path: str, body: dict[str, Any]) -> Response:
        if path.endswith("chat/completions"):
            first = body["messages"][0]["content"]
            return models.respond(path, body) if len(first) > 400 else (200, chat("Answer: B"), {})
        tokens = {"tokens": [" B"], "token_logprobs": [-0.5], "top_logprobs": [top], "text_offset": [0]}
        choice = {"index": 0, "finish_reason": "stop", "text": " B", "logprobs": tokens}
        return 200, {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 1}}, {}

    with serve(respond) as server:
        yield server.url
