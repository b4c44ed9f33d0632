"""Label Studio's tasks and annotations as JSON, and what they mean here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import WrongFormat
from maskedadv.scoring.item_sets.review.form import CHOICES, SPANS, TEXTS
from maskedadv.scoring.item_sets.review.people import row_of
from maskedadv.scoring.item_sets.review.sheet import (
    Piece,
    from_utf16,
    pieces_of,
    place_of,
    sheet_of,
)
from maskedadv.scoring.item_sets.review.tasks import Task

_CHOICES = {x.name: x for x in CHOICES}
_TEXTS = {x.name for x in TEXTS}


def task_json(task: Task, suggested: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A task as Label Studio imports it: `data` is shown, `meta` is what the way back needs.

    Parameters
    ----------
    suggested
        A row of `tables.ANNOTATIONS` that people start from.
    """
    english = task.english
    content: dict[str, Any] = {
        "data": {"about": task.about, "sheet": task.sheet, "english": task.english_sheet},
        "meta": {
            "item": task.item,
            "language": task.language,
            "question": task.question,
            "options": list(task.options),
            "english_question": None if english is None else english[0],
            "english_options": None if english is None else list(english[1]),
        },
    }
    if suggested and not suggested.get("reason"):
        model = suggested["annotator"]
        content["predictions"] = [{"model_version": model, "result": _results(task, suggested)}]
    return content


def _results(task: Task, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in (n for n in _CHOICES if row.get(n)):
        found.append({"from_name": name, "type": "choices", "value": {"choices": [row[name]]}})
    for name in (n for n in _TEXTS if row.get(n)):
        found.append({"from_name": name, "type": "textarea", "value": {"text": [row[name]]}})
    for span in row.get("trigger_spans") or ():
        parts = {"question": task.question, **dict(zip(ascii_uppercase, task.options, strict=False))}
        if parts.get(span["part"], "")[span["start"] : span["end"]] != span["text"]:
            continue  # of another version of the item
        start, end = place_of(task.question, task.options, span["part"], span["start"], span["end"])
        value = {"start": start, "end": end, "text": span["text"], "labels": [SPANS]}
        found.append({"from_name": "trigger_spans", "type": "labels", "value": value})
    return [{**x, "to_name": "sheet", "id": f"s{k}"} for k, x in enumerate(found)]


def rows_of(tasks: Iterable[Mapping[str, Any]], names: Mapping[int, str], where: str) -> list[dict[str, Any]]:
    """Rows of `people.PEOPLE` from what Label Studio exports as JSON.

    A person's last submission on an item counts; one that was skipped is none.

    Parameters
    ----------
    names
        The annotators' names by their number in Label Studio.

    Raises
    ------
    WrongFormat
        A task was not made by `task_json`, or is not as Label Studio exports it.
    """
    rows = []
    for number, task in enumerate(tasks, 1):
        meta = task.get("meta") if isinstance(task, Mapping) else None
        if not isinstance(meta, Mapping) or not {"item", "language", "question", "options"} <= set(meta):
            raise WrongFormat(
                f"{where}: task {number} was not made by maskedadv items review start (it has no meta.item); "
                "export the project that it made, as JSON."
            )
        try:
            rows += _rows_of_task(task, meta, names)
        except (AttributeError, TypeError, ValueError, LookupError, OverflowError) as error:
            raise WrongFormat(
                f"{where}: task {number} is not as Label Studio exports it ({error}); export the project "
                "again, as JSON."
            ) from error
    return rows


def _rows_of_task(
    task: Mapping[str, Any], meta: Mapping[str, Any], names: Mapping[int, str]
) -> list[dict[str, Any]]:
    latest: dict[str, Mapping[str, Any]] = {}
    for one in task.get("annotations", ()):
        if one.get("was_cancelled"):
            continue
        who = _name(one.get("completed_by"), names)
        if who not in latest or str(one.get("updated_at")) >= str(latest[who].get("updated_at")):
            latest[who] = one
    return [_row(meta, who, one.get("result", ())) for who, one in latest.items()]


def _place(sheet: str, value: Mapping[str, Any]) -> tuple[int, int]:
    """Where a mark stands in code points, which Label Studio counts; versions that counted as browsers do are
    told by the marked text.
    """
    start, end, text = int(value["start"]), int(value["end"]), value.get("text")
    as_browsers = from_utf16(sheet, start), from_utf16(sheet, end)
    if text and sheet[start:end] != text and sheet[slice(*as_browsers)] == text:
        return as_browsers
    return start, end


def _name(who: Any, names: Mapping[int, str]) -> str:
    """An account's name; exports give its number, or a record of it."""
    if isinstance(who, Mapping):
        return names.get(who.get("id", -1)) or str(who.get("email") or who.get("id"))
    return names.get(who) or str(who)


def _row(meta: Mapping[str, Any], who: str, results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    question, options = str(meta["question"]), [str(x) for x in meta["options"]]
    sheet = sheet_of(question, options)
    choices: dict[str, str] = {}
    words: dict[str, str] = {}
    spans: list[Piece] = []
    for one in results:
        name, value = one.get("from_name"), one.get("value", {})
        if name in _CHOICES and value.get("choices"):
            choices[name] = str(value["choices"][0])
        elif name in _TEXTS and value.get("text"):
            text = value["text"]
            words[name] = text if isinstance(text, str) else "\n".join(map(str, text))
        elif name == "trigger_spans" and "start" in value and "end" in value:
            spans += pieces_of(question, options, *_place(sheet, value))
    english = (
        (str(meta["english_question"]), meta["english_options"]) if meta.get("english_options") else None
    )
    unique = sorted(set(spans), key=lambda x: (x.part != "question", x.part, x.start, x.end))
    return row_of(str(meta["item"]), str(meta["language"]), who, choices, words, unique, english)
