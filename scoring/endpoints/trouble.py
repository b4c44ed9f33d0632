"""What an endpoint says instead of an answer, and what it means: for one question, for all, for now."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

# Why one question has no answer, whatever is tried.
REFUSED = "refused"
TOO_LONG = "too_long"
# ... and why a try gave none; where a status did, its number.
TIMEOUT = "timeout"
CONNECTION = "connection"
BAD_RESPONSE = "bad_response"

_ONE_QUESTION = {400, 413, 422}
_FOR_EVERY_QUESTION = {401, 402, 404, 405, 429}
_TRY_AGAIN = {408, 409, 425, 429}
_SHOWN = 300

_TOKENS = (
    r"(?<![\w-])tokens?(?![\w-])|context|n_ctx|sequence|"
    r"(?:prompt|inputs?|messages?)`?\s+(?:\w+\s+){0,2}(?:is|are|length)"
)
_EXCEEDS = (
    r"exceed|too (?:long|many|large)|longer than|maximum|at most|limit|must be <=|must have less|less than|"
    r"overflow|reduce the length|greater than"
)
_TOO_LONG = re.compile(
    rf"context_length|exceed_context|prompt is too long|input is too long|(?:{_TOKENS}).*(?:{_EXCEEDS})|"
    rf"(?:{_EXCEEDS}).*(?:{_TOKENS})|range of input length|reduce the length of|model token limit|"
    r"(?:输入|提示|上下文|prompt|token).{0,20}(?:超|过长|太长)|超.{0,10}(?:长度|上下文)",
    re.DOTALL,
)
# Tokens a minute are a matter of time, tokens of an answer one of settings.
_NOT_LONG = re.compile(
    r"per (?:minute|min|day|hour|second)|\btp[md]\b|rate.?limit|quota|"
    r"(?:completion tokens|max_tokens|max_completion_tokens)(?!.*(?:messages|prompt|context|input))"
)
_CONTENT = re.compile(
    r"content[_ -]?filter|content[_ ]policy|content exists risk|data_inspection_failed|inappropriate content|"
    r"usage (?:policy|policies|guidelines)|responsibleai|prohibited.?content|safety (?:system|reason)|"
    r"moderation|flagged|敏感|不安全|违规"
)
_MEANING = tuple(  # of words, where no status is given, or one that says less
    (status, re.compile(words))
    for status, words in (
        (
            402,
            r"insufficient[_ ](?:quota|credit|balance|fund)|exceeded your current quota|payment required|"
            r"billing|arrear|out of credits|余额不足|欠费",
        ),
        (429, r"rate.?limit|too many requests|throttl|slow down|请求过多|限流"),
        (
            401,
            r"(?:invalid|incorrect|wrong|missing|no)[_ ](?:api[_ -]?|auth\w* )?key|unauthori[sz]ed|"
            r"authentication|permission|forbidden|access denied",
        ),
        (404, r"model[_ ]not[_ ]found|no such model|model .{0,80}(?:does not exist|not found|not exist)"),
        (503, r"overload|temporar|try again|unavailable|timed? ?out|capacity|internal|busy|upstream"),
    )
)
_NUMBER = re.compile(r'"(?:code|status|status_code|http_status|error_code|statuscode)"\s*:\s*"?([45]\d\d)\b')
_KEYS = ("code", "status", "type", "message", "msg", "error_msg", "status_msg", "detail", "error", "errors")


class Trouble(Exception):
    """One try without an answer.

    Attributes
    ----------
    reason
        The status as text, or timeout, connection, bad_response.
    status
        The status that the words or the number of an error mean; 0 where there is none.
    said
        What the endpoint said, in one line, without secrets.
    wait
        Seconds that it wants to be left alone.
    paid
        Whether the tokens may have been used and counted nevertheless.
    """

    def __init__(
        self, reason: str, said: str = "", *, status: int = 0, wait: float = 0.0, paid: bool = False
    ) -> None:
        super().__init__(f"{reason}: {said}" if said else reason)
        self.reason, self.said, self.status, self.wait, self.paid = reason, said, status, wait, paid


def refusal(status: int, content: str, headers: Mapping[str, str], *, inside: bool = False) -> Trouble:
    """The trouble that an error response is; `inside`: it came with the status 200 and has its own in it."""
    said = _one_line(_message(content))
    meant = _meaning(content.lower(), status)
    if inside and not meant:
        return Trouble(BAD_RESPONSE, said, paid=True)
    return Trouble(str(meant or status), said, status=meant or status, wait=_wait(headers))


def concerns_one_question(trouble: Trouble, text: str = "") -> str:
    """The reason, where an endpoint refuses a question for its content or its length; else ''."""
    if not trouble.status or trouble.status in _FOR_EVERY_QUESTION:
        return ""
    low = (text or trouble.said).lower()
    if _TOO_LONG.search(low) and not _NOT_LONG.search(low):
        return TOO_LONG
    refused = trouble.status in {*_ONE_QUESTION, 403, 451}
    return REFUSED if refused and _CONTENT.search(low) else ""


def rejects_request(trouble: Trouble) -> bool:
    """Whether the request itself was refused: by what all questions share, or by something in this one."""
    return trouble.status in _ONE_QUESTION


def may_pass(trouble: Trouble) -> bool:
    """Whether a later try may go better."""
    return not trouble.status or trouble.status in _TRY_AGAIN or trouble.status >= 500


def error_inside(record: Any) -> Any:
    """The error that a response of status 200 carries instead of an answer; None where it carries none."""
    if not isinstance(record, dict):
        return None
    for place in (record, *(c for c in _list(record.get("choices")) if isinstance(c, dict))):
        if place.get("error"):
            return place["error"]
    if _list(record.get("choices")):
        return None
    if record.get("object") == "error" or any(
        record.get(k) for k in ("message", "detail", "error_msg", "errors", "base_resp", "msg", "error_code")
    ):
        return record
    return None


def _meaning(text: str, status: int) -> int:
    """What status the words of an error mean, where its own says less."""
    if status == 429 and _MEANING[0][1].search(text):
        return 402
    if status not in {0, 200}:
        return status
    number = _NUMBER.search(text)
    if number:
        return _meaning(text, int(number[1]))
    if _CONTENT.search(text) or (_TOO_LONG.search(text) and not _NOT_LONG.search(text)):
        return 400
    return next((meant for meant, words in _MEANING if words.search(text)), 0)


def _message(content: str) -> str:
    """The message inside an error, however it is wrapped; the whole text where none is found."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return re.sub(r"<[^<>]*>", " ", content)
    found: list[str] = []

    def look(value: Any, depth: int) -> None:
        if isinstance(value, str) and value.strip() and depth and value not in found:
            found.append(value)
        elif isinstance(value, dict) and depth < 6:
            for key in (*_KEYS, "base_resp", "reason"):
                look(value.get(key), depth + 1)
        elif isinstance(value, list) and depth < 6:
            for entry in value[:3]:
                look(entry, depth + 1)

    look(record, 0)
    sentences = [text for text in found if " " in text]
    return "; ".join(sentences or found) or content


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


def _wait(headers: Mapping[str, str]) -> float:
    """Seconds from Retry-After, which is a number or a date; milliseconds where they are given."""
    given = headers.get("retry-after-ms")
    if given:
        try:
            if 0 <= (seconds := float(given) / 1000) < float("inf"):
                return seconds
        except ValueError:
            pass
    given = (headers.get("retry-after") or "").strip()
    try:
        seconds = float(given)
        return max(seconds, 0.0) if seconds < float("inf") else 0.0
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(given).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    try:  # by the server's own clock, which need not be this machine's
        now = parsedate_to_datetime(headers.get("date") or "").timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        now = time.time()
    return max(until - now, 0.0)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
