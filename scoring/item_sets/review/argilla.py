"""A review as data sets of Argilla, on a server that the user has; through Argilla's own client.

The client lives in an environment of its own. What people see and answer is the form of Label Studio; records
have a number of ours, and the items they are of stay in the review's folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import BadSetting, NothingToImport, ReviewServerFailed
from maskedadv.scoring.item_sets.review.environments import ARGILLA, bare_variables, environment
from maskedadv.scoring.item_sets.review.folder import Review, token_in
from maskedadv.scoring.item_sets.review.form import ASK_SPANS, SPANS, choices_for, texts_for
from maskedadv.scoring.item_sets.review.label_studio_interface import GUIDE
from maskedadv.scoring.item_sets.review.people import row_of
from maskedadv.scoring.item_sets.review.sheet import from_utf16, pieces_of, place_of, to_utf16
from maskedadv.scoring.item_sets.review.tasks import Task, by_language, direction_of

_SCRIPT = Path(__file__).with_name("argilla_client.py")


def make_datasets(
    review: Review,
    tasks: Sequence[Task],
    per_item: int,
    suggested: Mapping[tuple[str, str], Mapping[str, Any]],
    report: Callable[[str], None],
) -> list[str]:
    """A data set for every language, with its records, where they are not there yet; their names.

    Raises
    ------
    BadSetting, ReviewServerFailed
    """
    datasets = []
    for (language, counterpart), some in by_language(tasks).items():
        extra = "" if counterpart else "-no-english"
        rtl = direction_of(some) == "rtl"
        fields = [("about", "About", "")]
        fields += [("read", f"Item ({language})", _shown("read", "rtl"))] if rtl else []
        fields += [("sheet", "The same, to mark" if rtl else f"Item ({language})", "")]
        fields += [("english", "English", _shown("english", "ltr"))] if counterpart else []
        datasets.append(
            {
                "name": f"review-{re.sub('[^A-Za-z0-9]', '-', language)}{extra}-{review.fingerprint[:8]}",
                "guide": re.sub("<[^>]+>", " ", GUIDE),
                "per_item": per_item,
                "spans": {SPANS.lower(): SPANS},
                "ask_spans": ASK_SPANS,
                "fields": [{"name": n, "title": title, "template": t} for n, title, t in fields],
                "choices": [
                    {
                        "name": x.name,
                        "title": x.ask,
                        "labels": list(x.answers),
                        "description": "\n".join(f"{k}: {v}" for k, v in x.answers.items()),
                    }
                    for x in choices_for(counterpart)
                ],
                "texts": [{"name": x.name, "title": x.ask} for x in texts_for(counterpart)],
                "records": [_record(x, rtl, suggested.get((x.item, x.language))) for x in some],
            }
        )
    found = _ask(review, "make", datasets, report)
    assert isinstance(found, list)
    return [str(x) for x in found]


def people_in(review: Review, tasks: Sequence[Task], report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Rows of `people.PEOPLE` of what was submitted.

    Raises
    ------
    BadSetting, ReviewServerFailed
    NothingToImport
        A data set is gone.
    """
    ours = {record_id(x): x for x in tasks}
    answers: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for x in _ask(review, "read", list(review.projects), report):
        if "gone" in x:
            raise NothingToImport(f"Argilla at {review.url} has no data set {x['gone']!r} any more.")
        answers[x["record"], x["who"]][x["name"]] = x["value"]
    return [_row(ours[number], who, given) for (number, who), given in answers.items() if number in ours]


def record_id(task: Task) -> str:
    """Number of an item's record: ids of items may hold anything, those of records may not."""
    return hashlib.sha256(repr((task.item, task.language)).encode()).hexdigest()[:32]


def _shown(field: str, way: str) -> str:
    """A template that shows a field's text as it is: Argilla's own fields are HTML, and run from the left."""
    return f'<div dir="{way}" style="white-space: pre-wrap">{{{{record.fields.{field}.text}}}}</div>'


def _plain(text: str) -> str:
    """The text without characters that a text field takes for HTML; it is as long as it was."""
    return re.sub("&(?=[#A-Za-z])", "＆", text.replace("<", "‹"))


def _record(task: Task, rtl: bool, row: Mapping[str, Any] | None) -> dict[str, Any]:
    counterpart = task.english is not None
    fields: dict[str, Any] = {"about": _plain(task.about), "sheet": _plain(task.sheet)}
    fields |= {"read": {"text": task.sheet}} if rtl else {}
    fields |= {"english": {"text": task.english_sheet}} if counterpart else {}
    given: list[tuple[str, Any]] = []
    if row and not row.get("reason"):
        asked = [x.name for x in choices_for(counterpart)] + [x.name for x in texts_for(counterpart)]
        given = [(name, row[name]) for name in asked if row.get(name)]
        spans = []
        for span in row.get("trigger_spans") or ():
            start, end = place_of(task.question, task.options, span["part"], span["start"], span["end"])
            if task.sheet[start:end] == span["text"]:
                spans.append(
                    {
                        "start": to_utf16(task.sheet, start),
                        "end": to_utf16(task.sheet, end),
                        "label": SPANS.lower(),
                    }
                )
        given += [("trigger_spans", spans)] if spans else []
    agent = re.sub(r"[^\w.-]", "-", row["annotator"])[:50] if row else ""
    return {"id": record_id(task), "fields": fields, "suggested": given, "agent": agent or None}


def _row(task: Task, who: str, given: Mapping[str, Any]) -> dict[str, Any]:
    choices = {x.name: str(given[x.name]) for x in choices_for(True) if x.name in given}
    words = {x.name: str(given[x.name]) for x in texts_for(True) if x.name in given}
    spans = []
    for span in given.get("trigger_spans") or ():
        start, end = (from_utf16(task.sheet, int(span[side])) for side in ("start", "end"))
        spans += pieces_of(task.question, task.options, start, end)
    unique = sorted(set(spans), key=lambda x: (x.part != "question", x.part, x.start, x.end))
    return row_of(task.item, task.language, who, choices, words, unique, task.english)


def _ask(review: Review, do: str, datasets: Sequence[Any], report: Callable[[str], None]) -> Any:
    """Let the client do something; what it found."""
    token = token_in(review.token_variable)
    python = environment(ARGILLA, Path(review.environment) if review.environment else None, report)
    spec = {"do": do, "url": review.url, "token": token, "workspace": review.workspace, "datasets": datasets}
    report(f"Asking Argilla at {review.url}")
    done = subprocess.run(
        [str(python), "-I", str(_SCRIPT)],
        input=json.dumps(spec) + "\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**bare_variables(), "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
        check=False,
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        said = (lines or ["no word"])[-1][:300].replace(token, "[hidden]")
        raise ReviewServerFailed(f"Argilla at {review.url} does not do as it should ({said}).")
    found = json.loads(done.stdout)
    if found is None:
        shown = repr(review.workspace) if review.workspace else "at all"
        raise BadSetting(
            f"Argilla at {review.url} has no workspace {shown} that this token sees; see --workspace."
        )
    return found
