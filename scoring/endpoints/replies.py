"""A response's body as an answer: JSON, or the pieces of an event stream put together; nothing is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from maskedadv.scoring.endpoints.trouble import BAD_RESPONSE, Trouble, error_inside, refusal

_MOST_TOKENS = 1 << 31  # more were not used for one question
# Why a model stopped, in the words of servers, and in those of OpenAI.
_FINISH = {
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length", "incomplete"), "length"),
    **dict.fromkeys(("safety", "sensitive", "refusal", "prohibited_content", "recitation"), "content_filter"),
}
_FAILED = {"error", "network_error", "insufficient_system_resource", "abort"}


@dataclass(frozen=True)
class Reply:
    """What one question was answered.

    Attributes
    ----------
    text
        What the model wrote, without what it thought; '' for nothing.
    finish
        Why it stopped: stop, length, content_filter, ...
    refusal
        Its words, where it refused; None where it did not.
    choices
        The choices as they came.
    read, written
        Tokens; None where the endpoint does not tell, or tells nonsense.
    """

    text: str
    finish: str
    refusal: str | None
    choices: list[dict[str, Any]]
    read: int | None
    written: int | None


class Repeated(dict[str, Any]):
    """An object of JSON that names a key twice; `pairs` has all of them."""

    pairs: tuple[tuple[str, Any], ...] = ()


def read_reply(content: bytes) -> Reply:
    """Read a body of status 200.

    Raises
    ------
    Trouble
        It is no answer: an error, no JSON, or none with choices.
    """
    try:
        text = content.decode("utf-8-sig")
        record = _parse(text)
    except (ValueError, RecursionError) as error:
        said = content[:300].decode("utf-8", "replace")
        raise Trouble(BAD_RESPONSE, f"no JSON ({' '.join(said.split())})", paid=True) from error
    inside = error_inside(record)
    if inside is not None:
        raise refusal(0, json.dumps(inside, ensure_ascii=False), {}, inside=True)
    choices = record.get("choices") if isinstance(record, dict) else None
    if not isinstance(choices, list) or not choices or not all(isinstance(c, dict) for c in choices):
        raise Trouble(BAD_RESPONSE, f"no choices in {text[:200]!r}", paid=True)
    choice = choices[0]
    message = choice.get("message")
    if message is None:
        message = {"content": choice.get("text")}
    if not isinstance(message, dict):
        raise Trouble(BAD_RESPONSE, f"the message is no object in {text[:200]!r}", paid=True)
    finish = str(choice.get("finish_reason") or "").lower()
    if finish in _FAILED:
        raise Trouble(BAD_RESPONSE, f"the answer ended with {finish}", paid=True)
    finish = _FINISH.get(finish, finish)
    said, refused = _text(message.get("content"))
    refused = str(message.get("refusal") or refused or "")
    read, written = _usage(record.get("usage"))
    return Reply(
        clean_text(said),
        finish,
        clean_text(refused) or None,
        choices,
        read,
        written,
    )


def clean_text(text: str) -> str:
    """Text that can be written: halves of a character that were sent apart are joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _parse(text: str) -> Any:
    stripped = text.lstrip()
    if stripped.startswith(("data:", "event:", "id:", ":", "retry:")):
        return _join_stream(stripped)
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated = Repeated(found)
    repeated.pairs = tuple(pairs)
    return repeated


@dataclass
class _Joined:
    """The pieces of one answer so far."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    content: list[Any] = field(default_factory=list)
    choice: dict[str, Any] = field(default_factory=dict)


def _join_stream(text: str) -> Any:
    """One response out of the events of a stream."""
    joined, chat = _Joined(), False
    whole: dict[str, Any] = {}
    for piece in _events(text):
        if not isinstance(piece, dict) or error_inside(piece) is not None:
            return piece
        whole |= {k: v for k, v in piece.items() if k != "choices" and v is not None}
        for choice in piece.get("choices") or []:
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                chat = _add(joined, choice) or chat
    if not joined.choice:
        return whole
    said = "".join(joined.text)
    if joined.content:
        joined.choice["logprobs"] = {"content": joined.content}
    shape = (
        {"message": {"content": said, "refusal": "".join(joined.refusal) or None}} if chat else {"text": said}
    )
    return {**whole, "choices": [{**joined.choice, **shape}]}


def _events(text: str) -> Iterator[Any]:
    """What the data lines of a stream hold; some servers leave out the empty line between two events."""
    data = ""
    for line in re.split(r"\r\n|\n|\r", text):  # not at U+2028, which JSON may hold
        if not line.startswith("data:"):
            continue
        data += line[5:].strip()
        if not data or data == "[DONE]":
            data = ""
            continue
        try:
            piece = json.loads(data, object_pairs_hook=_object)
        except ValueError:  # goes on in the next line
            data += "\n"
            continue
        data = ""
        yield piece
    if data:
        raise ValueError("the stream ends within an event")


def _add(joined: _Joined, choice: dict[str, Any]) -> bool:
    """Add a piece; whether it is a chat's."""
    delta = choice.get("delta", choice.get("message"))
    chat = isinstance(delta, dict)
    content = delta.get("content") if isinstance(delta, dict) else choice.get("text")
    said, refused = _text(content)
    joined.text.append(said)
    refused = (delta.get("refusal") if isinstance(delta, dict) else None) or refused
    if refused:
        joined.refusal.append(str(refused))
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list):
        joined.content += logprobs["content"]
    elif logprobs is not None:
        joined.choice.setdefault("logprobs", logprobs)
    joined.choice |= {
        k: v for k, v in choice.items() if k not in {"delta", "message", "text", "logprobs"} and v is not None
    }
    return chat


def _text(content: Any) -> tuple[str, str]:
    """What is written and what is refused in a message's content: text, or a list of parts."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else [content]
    said, refused = [], []
    for part in parts:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            if kind in {"text", "output_text"}:
                value = part.get("text", part.get("content", ""))
                said.append(str(value.get("value", "")) if isinstance(value, dict) else str(value or ""))
            elif kind == "refusal":
                refused.append(str(part.get("refusal") or part.get("text") or "refused"))
        else:
            raise Trouble(BAD_RESPONSE, "the answer is no text", paid=True)
    return "".join(said), "".join(refused)


def _usage(usage: Any) -> tuple[int | None, int | None]:
    if not isinstance(usage, dict):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_TOKENS:
        return None
    return int(value)
