"""One of the letters by structured output, or in words; and the first line of base models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("httpx2")

from maskedadv.scoring.endpoints.ask import ask_one
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.talk import connect
from tests.scoring.endpoints.scripted import Response, chat, question, serve, write_questions
from tests.scoring.launch.test_launch import run


def letter_of(body: dict[str, Any]) -> list[str]:
    """The letters that a request allows; none without a schema."""
    given = body.get("response_format")
    if given is None:
        return []
    assert given["type"] == "json_schema"
    schema = given["json_schema"]["schema"]
    assert (schema["type"], schema["required"], schema["additionalProperties"]) == (
        "object",
        ["answer"],
        False,
    )
    return list(schema["properties"]["answer"]["enum"])


def obedient(_path: str, body: dict[str, Any]) -> Response:
    return 200, chat(json.dumps({"answer": letter_of(body)[2]})), {}


def test_an_endpoint_that_knows_schemas(tmp_path: Path) -> None:
    items = write_questions(tmp_path / "set.jsonl", 8)
    with serve(obedient) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
        assert run(*command, "--answers", "choice") == 0
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert set(frame["asked_with"]) == {"json_schema"}
    assert frame["correct"].sum() == 2
    assert frame["said"].iloc[0] == '{"answer": "C"}'
    assert all(letter_of(body) == ["A", "B", "C", "D"] for _, body in server.requests)
    assert all(body["temperature"] == 0 and body["max_tokens"] == 512 for _, body in server.requests)


def test_the_letters_are_those_of_the_prompt(tmp_path: Path) -> None:
    prompts = tmp_path / "mine.toml"
    prompts.write_text('version = "1"\n[en]\nletters = ["1", "2", "3", "4"]\n')
    items = write_questions(tmp_path / "set.jsonl", 4)
    with serve(obedient) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
        assert run(*command, "--answers", "choice", "--prompts", prompts) == 0
    assert letter_of(server.requests[0][1]) == ["1", "2", "3", "4"]
    assert pd.read_parquet(tmp_path / "out" / "responses.parquet")["correct"].sum() == 1


REFUSALS = [
    (
        400,
        {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema'"}},
    ),
    (400, {"error": {"message": "This model does not support structured outputs"}}),
    (422, {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}),
    (404, {"error": {"message": "No endpoints found that support response_format"}}),
    (500, {"error": {"message": "failed to parse grammar"}}),
    (501, {"error": {"message": "guided decoding is not implemented"}}),
    (400, {"error": {"message": "Bad Request"}}),
]


@pytest.mark.parametrize(("status", "content"), REFUSALS)
def test_an_endpoint_that_refuses_schemas_is_asked_in_words(
    status: int, content: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_questions(tmp_path / "set.jsonl", 20)

    def respond(_path: str, body: dict[str, Any]) -> Response:
        return (status, content, {}) if letter_of(body) else (200, chat("Answer: B"), {})

    with serve(respond) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
        assert run(*command, "--answers", "choice", "--concurrency", 4) == 0
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert set(frame["asked_with"]) == {"words"}
    assert frame["correct"].notna().all()
    assert len(server.requests) <= 24
    assert "asked with words" in capsys.readouterr().err


def test_an_endpoint_that_ignores_schemas_is_read_in_words() -> None:
    with serve(lambda _p, _b: (200, chat("I think the answer is B."), {})) as server:
        talk = connect(ApiSettings("m", server.url, answers="choice"))
        answer = ask_one(talk, *question())
    assert (answer.chosen, answer.asked_with) == (1, "words")


@pytest.mark.parametrize(
    ("content", "finish", "chosen", "reason", "how"),
    [
        ('```json\n{"answer": "B"}\n```', "stop", 1, "", "json_schema"),
        ('<think>A?</think>{"answer":"D"}', "stop", 3, "", "json_schema"),
        ('"C"', "stop", 2, "", "json_schema"),
        ('{"answer": " B "}', "stop", 1, "", "json_schema"),
        ('{"answer": "B"}', "length", 1, "", "json_schema"),
        (
            '{"reasoning": "It might well be the first of these, since',
            "length",
            None,
            "answer_cut_off",
            "words",
        ),
        ("", "stop", None, "no_answer_stated", "words"),
        ('{"answer": "Z"}', "stop", None, "no_answer_stated", "words"),
    ],
)
def test_what_comes_of_a_schema(content: str, finish: str, chosen: int | None, reason: str, how: str) -> None:
    with serve(lambda _p, _b: (200, chat(content, finish), {})) as server:
        answer = ask_one(connect(ApiSettings("m", server.url, answers="choice")), *question())
    assert (answer.chosen, answer.reason, answer.asked_with) == (chosen, reason, how)


def test_one_bad_question_does_not_turn_all_others_to_words() -> None:
    def respond(_path: str, body: dict[str, Any]) -> Response:
        if "bad" in body["messages"][0]["content"]:
            return 400, {"error": {"message": "Bad Request"}}, {}
        return obedient(_path, body)

    item, rendered = question()
    with serve(respond) as server:
        talk = connect(ApiSettings("m", server.url, answers="choice"))
        assert ask_one(talk, item, rendered).asked_with == "json_schema"
        bad = rendered.__class__("bad " + rendered.prompt, rendered.options)
        assert ask_one(talk, item, bad).reason == "api_400"
        assert ask_one(talk, item, rendered).asked_with == "json_schema"


# --- completions ----------------------------------------------------------------------------------


def completion(text: str, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "text": text, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("text", "finish", "chosen", "reason"),
    [
        (" B", "stop", 1, ""),
        (" B\nQuestion: Which?\nA. x\nB. y\nAnswer: C", "length", 1, ""),
        (" B. green\n\nQuestion: another\nAnswer: A\n", "stop", 1, ""),
        ("\nQuestion: another\nAnswer: A\n", "length", None, "no_answer_stated"),
        (" It is hard to say, for many reasons, and so on and", "length", None, "answer_cut_off"),
        (" B", "length", 1, ""),
    ],
)
def test_of_a_base_model_only_the_first_line_counts(
    text: str, finish: str, chosen: int | None, reason: str
) -> None:
    with serve(lambda _p, _b: (200, completion(text, finish), {})) as server:
        talk = connect(ApiSettings("m", server.url, endpoint="completions"))
        answer = ask_one(talk, *question())
    assert (answer.chosen, answer.reason) == (chosen, reason)
    assert server.requests[0][1]["stop"] == ["\n"]


def test_an_answer_as_long_as_it_may_be_is_cut_off_whether_that_is_said_or_not() -> None:
    long = "Let us look at the options. At first sight the answer is A, but then the second"
    for finish, tokens, reason in ((None, 512, "answer_cut_off"), ("stop", 512, ""), (None, 100, "")):
        content = {**chat(long, finish), "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}
        with serve(lambda _p, _b, c=content: (200, c, {})) as server:
            answer = ask_one(connect(ApiSettings("m", server.url)), *question())
        assert (answer.reason == "answer_cut_off") == (reason == "answer_cut_off")


def test_a_chat_has_no_stop_sequence_and_an_endpoint_may_take_none() -> None:
    with serve(lambda _p, _b: (200, chat(), {})) as server:
        ask_one(connect(ApiSettings("m", server.url)), *question())
    assert "stop" not in server.requests[0][1]

    def respond(_path: str, body: dict[str, Any]) -> Response:
        if "stop" in body:
            return 400, {"error": {"message": "Unsupported parameter: 'stop'"}}, {}
        return 200, completion(" B\nQuestion", "length"), {}

    with serve(respond) as server:
        answer = ask_one(connect(ApiSettings("m", server.url, endpoint="completions")), *question())
    assert (answer.chosen, answer.asked_with) == (1, "no stop")
