"""What is sent for one question, and in which other words it is said where an endpoint does not take it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from maskedadv.scoring.endpoints.settings import STOP, ApiSettings
from maskedadv.scoring.endpoints.trouble import Trouble, concerns_one_question
from maskedadv.scoring.prompts.prompts import Rendered

# What a request says otherwise because the endpoint takes no max_tokens, temperature of 0, stop, or schema.
NEW_LIMIT = "max_completion_tokens"
OWN_TEMPERATURE = "default temperature"
NO_STOP = "no stop"
IN_WORDS = "words"
SCHEMA = "json_schema"
CHOSEN = "answer"  # the schema's only field
_STRUCTURE = re.compile(
    r"response_?format|json[_ ]?schema|structured|guided|grammar|schema|constrain|json[_ ]mode|json[_ ]object"
)


def letters_of(rendered: Rendered) -> list[str]:
    """The letters that the question printed before its options."""
    return [forms[-1].strip() for forms in rendered.options]


def body_of(settings: ApiSettings, rendered: Rendered, changes: Collection[str]) -> dict[str, Any]:
    """The request for one question."""
    chat = settings.endpoint == "chat"
    logprobs = settings.answers == "logprobs"
    limit = NEW_LIMIT if NEW_LIMIT in changes else "max_tokens"
    body: dict[str, Any] = {"model": settings.name, limit: settings.longest_answer()}
    if OWN_TEMPERATURE not in changes:
        body["temperature"] = 0
    if chat:
        body["messages"] = [{"role": "user", "content": rendered.prompt}]
        body |= {"logprobs": True, "top_logprobs": settings.top} if logprobs else {}
    else:
        body["prompt"] = rendered.prompt
        body |= {"logprobs": settings.top} if logprobs else {}
    in_words = settings.answers == "text" or (settings.answers == "choice" and IN_WORDS in changes)
    if in_words and not chat and NO_STOP not in changes:
        body["stop"] = [STOP]
    if settings.answers == "choice" and not in_words:
        body["response_format"] = _format(letters_of(rendered))
    return body


def changed(trouble: Trouble, settings: ApiSettings, used: Collection[str], *, first: bool) -> str:
    """What to say otherwise in the next request; '' where the trouble names nothing that can be changed.

    An endpoint that has answered nothing yet (`first`) and says no more than that the request is bad may know
    no schema.
    """
    if trouble.status not in {400, 404, 415, 422, 500, 501}:
        return ""
    text = trouble.said.lower()
    structured = settings.answers == "choice" and IN_WORDS not in used
    if structured and _STRUCTURE.search(text):
        return IN_WORDS
    if trouble.status not in {400, 422} or concerns_one_question(trouble):
        return ""
    if settings.endpoint == "chat" and "max_tokens" in text and NEW_LIMIT in text and NEW_LIMIT not in used:
        return NEW_LIMIT
    if "temperature" in text and OWN_TEMPERATURE not in used:
        return OWN_TEMPERATURE
    if re.search(r"\bstop\b", text) and settings.endpoint == "completions" and NO_STOP not in used:
        return NO_STOP
    return IN_WORDS if structured and first else ""


def _format(letters: list[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {CHOSEN: {"type": "string", "enum": letters}},
        "required": [CHOSEN],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": CHOSEN, "strict": True, "schema": schema}}
