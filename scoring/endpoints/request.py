"""One request to an endpoint: in the words it takes, within a time that is kept, its errors understood."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import openai
from openai.types import Completion
from openai.types.chat import ChatCompletion

from maskedadv.errors import BadSetting
from maskedadv.scoring.endpoints.settings import ApiSettings

# Why one question has no answer, whatever is tried.
REFUSED = "refused"
TOO_LONG = "too_long"
# What a request says otherwise because the endpoint takes no max_tokens, or no temperature of 0.
NEW_LIMIT = "max_completion_tokens"
OWN_TEMPERATURE = "default temperature"
_ONE_QUESTION = {400, 413, 422}
_TRY_AGAIN = {408, 409, 425, 429}
_NO_MONEY = "insufficient_quota"
_LENGTH = ("context_length", "context length", "maximum context", "too many tokens", "prompt is too long")
_CONTENT = (
    "content_filter",
    "content_policy",
    "content policy",
    "content exists risk",
    "data_inspection_failed",
    "inappropriate content",
)


@dataclass
class Talk:
    """What the threads that ask one endpoint share.

    Attributes
    ----------
    changes
        What requests say otherwise, from what the endpoint refused so far.
    stop
        Set when nobody waits for answers any more.
    answered, rejected, rejection
        Questions answered; questions whose request was refused, and the last refusal.
    """

    client: openai.OpenAI
    settings: ApiSettings
    changes: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)
    answered: int = 0
    rejected: int = 0
    rejection: openai.APIStatusError | None = None


def connect(settings: ApiSettings) -> Talk:
    """A client that leaves trying again to its caller; local servers need no key.

    Raises
    ------
    BadSetting
    """
    if settings.answers not in {"text", "logprobs"} or settings.endpoint not in {"chat", "completions"}:
        raise BadSetting("--answers is text or logprobs, --endpoint chat or completions.")
    key = os.environ.get(settings.key_variable) or "none"
    client = openai.OpenAI(base_url=settings.url, api_key=key, timeout=settings.timeout, max_retries=0)
    return Talk(client, settings)


def request(talk: Talk, prompt: str) -> tuple[Any, str]:
    """Send one prompt; the response, and what the request said otherwise ('' for nothing).

    A model that takes no `max_tokens` is given `max_completion_tokens`, one that takes no temperature of 0
    is asked at its own; what one question found out holds for all later ones.

    Raises
    ------
    openai.APIError
    ValueError, TypeError
        The response is no JSON, or no object.
    """
    while True:
        used = frozenset(talk.changes)
        try:
            return _send(talk, prompt, used), ", ".join(sorted(used))
        except openai.APIStatusError as error:
            change = _mend(error, talk.settings)
            if not change or change in used:
                raise
            talk.changes.add(change)


def concerns_one_question(error: openai.APIStatusError) -> str:
    """The reason, where an endpoint refuses a question for its content or its length; else ''."""
    if error.status_code not in {*_ONE_QUESTION, 403}:
        return ""
    text = _text(error)
    if any(words in text for words in _LENGTH):
        return TOO_LONG
    return REFUSED if any(words in text for words in _CONTENT) else ""


def rejects_request(error: openai.APIStatusError) -> bool:
    """Whether the request itself was refused: by what all questions share, or by something in this one."""
    return error.status_code in _ONE_QUESTION


def may_pass(error: openai.APIStatusError) -> bool:
    """Whether a later try may go better."""
    if error.status_code == 429 and _NO_MONEY in _text(error):
        return False
    return error.status_code in _TRY_AGAIN or error.status_code >= 500


def asked_to_wait(error: openai.APIStatusError) -> float:
    """Seconds that the endpoint wants to be left alone."""
    try:
        return float(error.response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0


def _send(talk: Talk, prompt: str, changes: frozenset[str]) -> Any:
    settings = talk.settings
    logprobs = settings.answers == "logprobs"
    chat = settings.endpoint == "chat"
    limit = NEW_LIMIT if NEW_LIMIT in changes else "max_tokens"
    body: dict[str, Any] = {
        "model": settings.name,
        limit: 1 if logprobs else settings.max_answer_tokens,
        **({} if OWN_TEMPERATURE in changes else {"temperature": 0}),
    }
    if chat:
        body["messages"] = [{"role": "user", "content": prompt}]
        body |= {"logprobs": True, "top_logprobs": settings.top} if logprobs else {}
    else:
        body["prompt"] = prompt
        body |= {"logprobs": settings.top} if logprobs else {}
    kind: Any = talk.client.chat.completions if chat else talk.client.completions
    # The client's own timeout is for each piece of a response; one that drips would never run out of it.
    deadline = time.monotonic() + settings.timeout
    with kind.with_streaming_response.create(**body) as response:
        content = bytearray()
        try:
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:
                    raise TimeoutError
        except Exception as error:  # the HTTP library's own, which the client does not translate here
            if "Timeout" in type(error).__name__:
                raise openai.APITimeoutError(response.http_request) from error
            raise openai.APIConnectionError(request=response.http_request) from error
    record = json.loads(content)
    if not isinstance(record, dict):
        raise TypeError("the response is no object")
    return (ChatCompletion if chat else Completion).construct(**record)


def _mend(error: openai.APIStatusError, settings: ApiSettings) -> str:
    """What to say otherwise in the next request; '' where the error names nothing that can be changed."""
    if error.status_code not in {400, 422} or concerns_one_question(error):
        return ""
    text = _text(error)
    if settings.endpoint == "chat" and "max_tokens" in text and NEW_LIMIT in text:
        return NEW_LIMIT
    return OWN_TEMPERATURE if "temperature" in text else ""


def _text(error: openai.APIStatusError) -> str:
    return f"{error.code} {error.body} {error.message}".lower()
