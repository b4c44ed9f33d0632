"""Runs inside the environment of Argilla's client: makes data sets, or reads what people submitted.

What it is to do comes as a line of JSON on standard input, the token with it, so that no process list shows
it; what it found goes as a line of JSON to standard output.
"""

import json
import sys
from typing import Any

import argilla


def main() -> None:
    """Do what the line says."""
    sys.stdout, answer = sys.stderr, sys.stdout  # the client prints its progress
    spec: dict[str, Any] = json.loads(sys.stdin.readline())
    client = argilla.Argilla(api_url=spec["url"], api_key=spec["token"], timeout=120)
    workspace = client.workspaces(spec["workspace"]) if spec["workspace"] else client.workspaces.default
    found: Any
    if workspace is None:
        found = None
    elif spec["do"] == "make":
        found = [_make(client, workspace, one) for one in spec["datasets"]]
    else:
        found = [row for name in spec["datasets"] for row in _read(client, workspace, name)]
    json.dump(found, answer)
    answer.write("\n")


def _make(client: Any, workspace: Any, one: dict[str, Any]) -> str:
    """A data set with its records; where it is there already, records get no second copy."""
    dataset = client.datasets(name=one["name"], workspace=workspace)
    if dataset is None:
        questions: list[Any] = [
            argilla.SpanQuestion(
                "trigger_spans", field="sheet", labels=one["spans"], title=one["ask_spans"], required=False
            )
        ]
        questions += [
            argilla.LabelQuestion(
                x["name"], labels=x["labels"], title=x["title"], description=x["description"]
            )
            for x in one["choices"]
        ]
        questions += [argilla.TextQuestion(x["name"], title=x["title"], required=False) for x in one["texts"]]
        fields = [
            argilla.CustomField(x["name"], title=x["title"], template=x["template"], required=False)
            if x["template"]
            else argilla.TextField(x["name"], title=x["title"])
            for x in one["fields"]
        ]
        settings = argilla.Settings(
            fields=fields,
            questions=questions,
            guidelines=one["guide"],
            distribution=argilla.TaskDistribution(min_submitted=one["per_item"]),
        )
        dataset = argilla.Dataset(one["name"], workspace=workspace, settings=settings, client=client).create()
    there = {record.id for record in dataset.records}
    records = [
        argilla.Record(
            id=x["id"],
            fields=x["fields"],
            suggestions=[argilla.Suggestion(name, value, agent=x["agent"]) for name, value in x["suggested"]],
        )
        for x in one["records"]
        if x["id"] not in there
    ]
    if records:
        dataset.records.log(records)
    return str(dataset.name)


def _read(client: Any, workspace: Any, name: str) -> list[dict[str, Any]]:
    """Every submitted answer: record, person, question, value."""
    dataset = client.datasets(name=name, workspace=workspace)
    if dataset is None:
        return [{"gone": name}]
    names: dict[str, str] = {}
    rows = []
    for record in dataset.records(with_responses=True):
        for response in record.responses:
            if getattr(response.status, "value", response.status) != "submitted":
                continue
            who = str(response.user_id)
            if who not in names:
                names[who] = _username(client, who)
            rows.append(
                {
                    "record": record.id,
                    "who": names[who],
                    "name": response.question_name,
                    "value": response.value,
                }
            )
    return rows


def _username(client: Any, number: str) -> str:
    """A person's name, or the number where the token may not ask."""
    try:
        user = client.users(id=number)
    except Exception:
        return number
    return str(user.username) if user is not None else number


if __name__ == "__main__":
    main()
