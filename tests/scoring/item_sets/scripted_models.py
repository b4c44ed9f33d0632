"""Models behind a local endpoint that annotate and translate forty questions, each by its script.

The answers are known by the question's text; what goes wrong with which is in `SCRIPT`. Knowledge is by the
topic, so that what a good answer says is known in advance.
"""

from __future__ import annotations

import csv
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.scoring.endpoints.scripted import Response, Scripted, chat, serve

QUESTIONS = ROOT / "docs" / "tutorials" / "item-set" / "questions.csv"
ENGLISH = Path(__file__).with_name("english.csv")
KNOWLEDGE = {"history": "regional", "customs": "cultural", "food": "cultural", "sayings": "dialect"}
LETTERS = "ABCD"
QUICK = 4.0  # seconds that a try is given where the slow answer is to come too late; ample for others

# Names that a good translation tells of.
NAMES = {
    "fr-8": [("Soleil", "Sun"), ("Vénus", "Venus"), ("Mercure", "Mercury")],
    "el-1": [("Μαρτίου", "March"), ("Μαΐου", "May")],
    "el-2": [("Ελλάδα", "Greece"), ("Πρωτοχρονιά", "New Year's Day")],
    "el-8": [("Γης", "Earth"), ("Άρης", "Mars"), ("Ήλιος", "Sun"), ("Αφροδίτη", "Venus"), ("Σελήνη", "Moon")],
    "zh-1": [("郑和", "Zheng He")],
}

# What the first, the second, ... answer to an item is; the rest are good.
SCRIPT: dict[str, dict[str, tuple[str, ...]]] = {
    "annotate": {
        "fr-2": ("malformed",),
        "el-2": ("malformed", "malformed"),
        "zh-2": ("refused",),
        "bn-2": ("slow",),
        "ar-2": ("cut off",),
        "zh-3": ("cut off", "cut off"),
        "fr-3": ("other language",),
        "bn-3": ("other language", "other language"),
        "el-3": ("span of its own",),
        "ar-3": ("span of its own", "span of its own"),
        "zh-4": ("contradiction", "contradiction"),
        "fr-6": ("in words",),
    },
    "translate": {
        "fr-1": ("malformed",),
        "el-4": ("malformed", "malformed"),
        "zh-1": ("refused",),
        "bn-1": ("slow",),
        "ar-1": ("cut off",),
        "fr-5": ("other language",),
        "bn-4": ("other language", "other language"),
        "ar-4": ("three options", "three options"),
        "el-6": ("another number",),
        "zh-6": ("another unit",),
    },
    "back": {"fr-4": ("malformed", "malformed"), "ar-7": ("something else",)},
}


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


LOCAL, PIVOT = rows(QUESTIONS), rows(ENGLISH)
ALTERED = {"another number": ("3", "5"), "another unit": ("kilometres", "miles")}
BY_QUESTION = {row["question"]: name for table in (LOCAL, PIVOT) for name, row in table.items()}
BY_QUESTION |= {
    PIVOT[name]["question"].replace(*ALTERED[how[0]]): name
    for name, how in SCRIPT["translate"].items()
    if how[0] in ALTERED
}


def options(row: dict[str, str]) -> list[str]:
    return [row[f"option_{letter.lower()}"] for letter in LETTERS]


def label_of(name: str) -> str:
    return "CS" if LOCAL[name]["topic"] in KNOWLEDGE else "CA"


def say(how: str, good: dict[str, Any], slow: float) -> Response:
    """A good answer, or what the script makes of it."""
    if how == "refused":
        return 200, {"choices": [{"message": {"content": None, "refusal": "I will not."}}]}, {}
    if how == "slow":
        time.sleep(slow)
    if how in ALTERED:
        good = good | {"question": good["question"].replace(*ALTERED[how])}
    good = good | {
        "other language": {"required_knowledge": "aucune", "question": LOCAL["el-5"]["question"]},
        "span of its own": {"trigger_spans": ["a festival that the item does not name"]},
        "contradiction": {"cultural_sensitivity_label": "CA"},
        "three options": {"options": dict([*good.get("options", {}).items()][:3])},
        "something else": {"question": LOCAL["ar-3"]["question"]},
    }.get(how, {})
    text = json.dumps(good, ensure_ascii=False)
    if how == "malformed":
        text = "Here you are: {" + text[2 : len(text) // 2]
    if how == "in words":
        text = f"<think>{{maybe}}</think>The labels are:\n```json\n{text}\n```\nI hope that helps."
    if how == "cut off":
        return 200, chat(text[: len(text) // 2], "length"), {}
    return 200, chat(text), {}


class Models:
    """What the models answer, and how often they were asked what.

    Attributes
    ----------
    dissent
        Items that the model of this name labels the other way round: (model, item).
    structured
        Whether the endpoint knows structured output.
    slow
        Seconds that a slow answer takes.
    before
        Called with (step, item, number of the answer) before anything is sent; may give a response instead.
    busy
        Answers that are on their way.
    sent
        Answers that were sent, by model, step and item; a refusal for a while is none.
    """

    def __init__(self, *, script: bool = True, structured: bool = True, slow: float = 0.5) -> None:
        self.script = SCRIPT if script else {}
        self.structured = structured
        self.slow = slow
        self.dissent: set[tuple[str, str]] = set()
        self.before: Callable[[str, str, int], Response | None] = lambda *_: None
        self.sent: Counter[tuple[str, str, str]] = Counter()
        self.prompts: list[str] = []
        self.busy = 0
        self._lock = threading.Lock()

    def respond(self, _path: str, body: dict[str, Any]) -> Response:
        system, user = (message["content"] for message in body["messages"][:2])
        self.prompts.append(system)
        if "response_format" in body and not self.structured:
            return 400, {"error": {"message": "response_format json_schema is not supported"}}, {}
        shown = json.loads(user)
        name = BY_QUESTION[shown["question"]]
        step = "annotate" if system.startswith("You label") else "translate"
        if step == "translate" and shown["language"] == "en":
            step = "back"
        key = (body["model"], step, name)
        number = self.sent[key]
        instead = self.before(step, name, number)
        if instead is not None:
            return instead
        self.sent[key] += 1
        with self._lock:
            self.busy += 1
        try:
            return self.answer(body, step, name, number)
        finally:
            with self._lock:
                self.busy -= 1

    def answer(self, body: dict[str, Any], step: str, name: str, number: int) -> Response:
        script = self.script.get(step, {}).get(name, ())
        assert number == 0 or len(body["messages"]) == 4 or script[number - 1 : number] == ("slow",), name
        how = script[number] if number < len(script) else "good"
        good = self.annotation(body["model"], name) if step == "annotate" else self.translation(step, name)
        return say(how, good, self.slow)

    def annotation(self, model: str, name: str) -> dict[str, Any]:
        row = LOCAL[name]
        knowledge = KNOWLEDGE.get(row["topic"], "none")
        if (model, name) in self.dissent:
            knowledge = "none" if knowledge != "none" else "cultural"
        span = row["question"].split()[0] if row["lang"] != "zh" else row["question"][:3]
        return {
            "explanation": f"It asks about {row['topic']}.",
            "required_knowledge": knowledge,
            "cultural_sensitivity_label": "CA" if knowledge == "none" else "CS",
            "time_sensitive": "no",
            "trigger_spans": [] if knowledge == "none" else [span],
            "culture": "" if knowledge == "none" else "of the place",
            "region": "",
            "country": "none",
            "subject_category": "STEM" if knowledge == "none" else "humanities",
        }

    def translation(self, step: str, name: str) -> dict[str, Any]:
        row = PIVOT[name] if step == "translate" else LOCAL[name]
        return {
            "question": row["question"],
            "options": dict(zip(LETTERS, options(row), strict=True)),
            "names": [{"local": a, "translated": b} for a, b in NAMES.get(name, []) if step == "translate"],
        }

    def interrupt_after(self, count: int, stop: Callable[[], object] | None = None) -> threading.Event:
        """Interrupt the main thread when so many answers were sent and nothing is on its way.

        Whoever asks then, and later, waits until the event is set, and gets no answer; from then on all do.
        `stop` is called instead of the interrupt.
        """
        release, lock, begun = threading.Event(), threading.Lock(), []
        main = threading.main_thread().ident
        assert main is not None
        end = stop or (lambda: signal.pthread_kill(main, signal.SIGINT))

        def instead(*_: object) -> Response | None:
            with lock:
                if sum(self.sent.values()) < count or release.is_set():
                    return None
                begun.append(True)
                first = len(begun) == 1
            if first:
                while self.busy:
                    time.sleep(0.05)
                time.sleep(0.5)  # what was sent is read by now
                end()
            release.wait(60)
            return 503, {"error": {"message": "gone"}}, {}

        self.before = instead
        return release

    @contextmanager
    def serve(self) -> Iterator[Scripted]:
        with serve(self.respond) as server:
            yield server
