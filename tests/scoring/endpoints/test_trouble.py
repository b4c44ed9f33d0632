"""What errors mean, by the words of real servers: for one question, for all, for now."""

from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest

pytest.importorskip("httpx2")

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.ask import ask_one
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.talk import connect
from maskedadv.scoring.endpoints.trouble import concerns_one_question, may_pass, refusal
from tests.scoring.endpoints.scripted import chat, question, serve

TOO_LONG = [
    (400, "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens."),
    (400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 1"),
    (422, "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"),
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (
        400,
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    ),
    (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    (400, "Input is too long for requested model."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "Invalid request: Your request exceeded model token limit: 8192"),
    (400, "Range of input length should be [1, 6000]"),
    (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"),
    (400, "This model's maximum prompt length is 131072 but the request contains 200000 tokens."),
    (400, "输入长度超过最大限制"),
    (500, "input is too large to process (5000 tokens). context size exceeded"),
    (400, "The number of tokens to keep from the initial prompt is greater than the context length."),
]
NOT_TOO_LONG = [
    (400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens."),
    (413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000"),
    (429, "Rate limit reached: limit 10000 tokens, used 10000"),
    (400, "Input should be less than or equal to 20"),
    (400, "Invalid value for 'top_logprobs': must be less than or equal to 5."),
    (401, "Invalid token: exceeds permissions"),
    (402, "You requested up to 4096 tokens, but can only afford 12: limit reached"),
]


@pytest.mark.parametrize(("status", "said"), TOO_LONG)
def test_a_question_that_is_too_long(status: int, said: str) -> None:
    content = json.dumps({"error": {"message": said}}, ensure_ascii=False)
    assert concerns_one_question(refusal(status, content, {})) == "too_long"


@pytest.mark.parametrize(("status", "said"), NOT_TOO_LONG)
def test_a_limit_of_another_kind(status: int, said: str) -> None:
    assert concerns_one_question(refusal(status, json.dumps({"error": {"message": said}}), {})) == ""


@pytest.mark.parametrize(
    "said",
    ["Content Exists Risk", "content_filter", "输入可能包含不安全或敏感内容", "ResponsibleAIPolicyViolation"],
)
def test_a_question_that_is_refused(said: str) -> None:
    content = json.dumps({"error": {"message": said}}, ensure_ascii=False)
    assert concerns_one_question(refusal(400, content, {})) == "refused"


INSIDE = [
    ({"error": {"message": "Insufficient credits", "code": 402}}, 402, False),
    ({"error": {"message": "x", "code": "429"}}, 429, True),
    ({"error": {"message": "Rate limit exceeded", "code": "rate_limit_exceeded"}}, 429, True),
    ({"error": "model overloaded, try again later"}, 503, True),
    ({"object": "error", "message": "Invalid API key", "code": None}, 401, False),
    ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, 402, False),
    ({"detail": "The model `m` does not exist."}, 404, False),
    ({"choices": [{"error": {"code": 502, "message": "Upstream error"}, "message": {}}]}, 502, True),
    ({"error": {"message": "something odd"}}, 0, True),
]


@pytest.mark.parametrize(("content", "status", "passes"), INSIDE)
def test_errors_inside_responses_of_status_200(content: dict[str, object], status: int, passes: bool) -> None:
    from maskedadv.scoring.endpoints.replies import read_reply
    from maskedadv.scoring.endpoints.trouble import Trouble

    with pytest.raises(Trouble) as found:
        read_reply(json.dumps(content).encode())
    assert (found.value.status, may_pass(found.value)) == (status, passes)
    assert found.value.said


def test_an_answer_too_long_inside_a_response_of_status_200() -> None:
    from maskedadv.scoring.endpoints.replies import read_reply
    from maskedadv.scoring.endpoints.trouble import Trouble

    with pytest.raises(Trouble) as found:
        read_reply(b'{"error": {"message": "maximum context length exceeded", "code": 400}}')
    assert concerns_one_question(found.value) == "too_long"


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "41"}, 41, 41),
        ({"retry-after": "0.5"}, 0.5, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 1.5),
        ({"retry-after-ms": "nan", "retry-after": "9"}, 9, 9),
        ({"retry-after-ms": "inf"}, 0, 0),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0, 0),
        ({"retry-after": "Sun, 06 Nov 1994 08:50:17 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 40, 40),
        ({"retry-after": "soon"}, 0, 0),
        ({"retry-after": "-5"}, 0, 0),
        ({"retry-after": "nan"}, 0, 0),
        ({"retry-after": "inf"}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], least: float, most: float) -> None:
    assert least <= refusal(429, "{}", headers).wait <= most


def test_a_date_counts_from_now_where_the_server_tells_no_time() -> None:
    until = formatdate(time.time() + 3600, usegmt=True)
    assert 3500 < refusal(429, "{}", {"retry-after": until}).wait <= 3601


def test_an_endpoint_that_wants_an_hour_of_rest_stops_the_model() -> None:
    with serve(lambda _p, _b: (429, {"error": {"message": "later"}}, {"Retry-After": "3600"})) as server:
        talk = connect(ApiSettings("m", server.url))
        with pytest.raises(EndpointFailed, match="3,600 seconds"):
            ask_one(talk, *question())


def test_what_an_endpoint_says_is_shown_once() -> None:
    told: list[str] = []
    with serve(lambda _p, b: (500, {"error": {"message": f"cuda error {len(str(b))}"}}, {})) as server:
        talk = connect(ApiSettings("m", server.url, retries=2, backoff=0.01), "my model", told.append)
        answer = ask_one(talk, *question())
    assert answer.reason == "api_500"
    assert len(server.requests) == 3
    assert [line.split(":")[0] for line in told] == ["my model"]
    assert "cuda error" in told[0]


def test_a_body_without_end_is_not_collected() -> None:
    """One that lies about its end: cut after a number of bytes, whatever status it comes with."""
    from maskedadv.scoring.endpoints import talk as talks

    most = talks._MOST_BYTES
    for status in (200, 500):
        content = b" " * 3_000_000 + json.dumps(chat()).encode()
        with serve(lambda _p, _b, s=status, c=content: (s, c, {})) as server:
            talks._MOST_BYTES = 1 << 20
            try:
                talk = connect(ApiSettings("m", server.url, retries=0))
                assert ask_one(talk, *question()).reason == "api_bad_response"
            finally:
                talks._MOST_BYTES = most
