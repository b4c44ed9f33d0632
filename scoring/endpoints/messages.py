"""Free requests to an endpoint: a talk of messages whose last answer is to be one object of JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from maskedadv.scoring.endpoints.adapt import post_adapting
from maskedadv.scoring.endpoints.bodies import IN_WORDS, NEW_LIMIT, OWN_TEMPERATURE, SCHEMA
from maskedadv.scoring.endpoints.cost import most_tokens
from maskedadv.scoring.endpoints.patience import note_answer, patiently, show
from maskedadv.scoring.endpoints.secrets import hide
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.statements import CUT_OFF
from maskedadv.scoring.endpoints.talk import Talk
from maskedadv.scoring.endpoints.trouble import REFUSED, Trouble, concerns_one_question
from maskedadv.scoring.launch.store import FAILED

Messages = tuple[tuple[str, str], ...]
"""Roles (system, user, assistant) and texts."""


class Said(NamedTuple):
    """What an endpoint made of one request.

    Attributes
    ----------
    text
        The answer without secrets; what was said instead, where it was refused.
    reason
        Why there is none: refused, too_long, answer_cut_off, api_...
    asked_with
        What the request said otherwise than usual.
    """

    text: str = ""
    reason: str = ""
    asked_with: str = ""


def ask_messages(talk: Talk, messages: Messages, schema: Mapping[str, Any]) -> Said:
    """Ask, again where that may help; with structured output where settings and endpoint have it.

    Raises
    ------
    EndpointFailed
        No request will be answered.
    CostReached
    """
    settings = talk.settings
    most = most_of_messages(settings, messages, schema)

    def one() -> Said:
        reply, used = post_adapting(
            talk, "chat/completions", lambda used: _body(settings, messages, schema, used), most
        )
        structured = settings.answers == "choice" and IN_WORDS not in used
        how = ", ".join(sorted({*used, SCHEMA if structured else IN_WORDS}))
        if reply.refusal is not None or reply.finish == "content_filter":
            return Said(reply.refusal or reply.text, REFUSED, how)
        full = reply.written is not None and reply.written >= settings.max_answer_tokens
        cut = reply.finish == "length" or (full and reply.finish != "stop")
        return Said(reply.text, CUT_OFF if cut else "", how)

    try:
        found: Said = patiently(talk, one)
    except Trouble as trouble:
        concerned = concerns_one_question(trouble)
        if concerned:
            note_answer(talk)
            show(talk, trouble)
        return Said(hide(trouble.said, talk.secrets), concerned or FAILED + trouble.reason)
    note_answer(talk)
    return found._replace(text=hide(found.text, talk.secrets))


def most_of_messages(
    settings: ApiSettings, messages: Sequence[tuple[str, str]], schema: Mapping[str, Any]
) -> tuple[int, int]:
    """Tokens that a request may have read and written; servers may read the schema as well."""
    texts = [*(text for _, text in messages), json.dumps(schema, ensure_ascii=False)]
    return sum(map(most_tokens, texts)), settings.max_answer_tokens


def _body(
    settings: ApiSettings, messages: Messages, schema: Mapping[str, Any], changes: Collection[str]
) -> dict[str, Any]:
    limit = NEW_LIMIT if NEW_LIMIT in changes else "max_tokens"
    body: dict[str, Any] = {"model": settings.name, limit: settings.max_answer_tokens}
    if OWN_TEMPERATURE not in changes:
        body["temperature"] = 0
    body["messages"] = [{"role": role, "content": text} for role, text in messages]
    if settings.answers == "choice" and IN_WORDS not in changes:
        wrapped = {"name": "answer", "strict": True, "schema": dict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wrapped}
    return body
