"""The talk with one endpoint: a request within a time and a size, and what all threads know of it."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.cost import price
from maskedadv.scoring.endpoints.secrets import hide, key_and_address, secrets_of
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.trouble import (
    BAD_RESPONSE,
    CONNECTION,
    TIMEOUT,
    Trouble,
    concerns_one_question,
    may_pass,
    refusal,
    rejects_request,
)

_MOST_BYTES = 64 << 20  # of a response; log-probabilities of a long prompt have some ten
_SHOWN = 5  # different things that an endpoint says are shown
_TRIES = 10  # tries without an answer, and none ever: nobody is there
_FEW = 3  # ... to so many questions
_LOST = 30  # questions in a row without an answer, after others had one
_LONGEST_WAIT = 60.0  # seconds between tries, where the endpoint asks for no other time
_LONGEST_PAUSE = 900.0
_NOT_SENT = {
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "UnsupportedProtocol",
    "InvalidURL",
    "ProxyError",
}


@dataclass
class Talk:
    """What the threads that ask one endpoint share.

    Attributes
    ----------
    post
        Sends a body to a path and gives the body of the response; raises `Trouble`.
    secrets
        What must not be shown.
    report
        Told in words what the user should know.
    changes
        What requests say otherwise, from what the endpoint refused so far.
    stop
        Set when nobody waits for answers any more.
    answered
        Questions that the endpoint had a word for.
    tries, lost, rejected
        Tries, and questions, without an answer since the last one; questions whose request was refused.
    read, written
        Tokens so far; those of tries that may have been paid without an answer count with their bound.
    said
        What the endpoint said and was shown.
    not_before
        Time before which no request is sent, since the endpoint asked for it.
    """

    settings: ApiSettings
    post: Callable[[str, dict[str, Any]], bytes]
    secrets: tuple[str, ...]
    report: Callable[[str], None]
    name: str
    changes: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    answered: int = 0
    tries: int = 0
    lost: int = 0
    rejected: int = 0
    read: int = 0
    written: int = 0
    said: set[str] = field(default_factory=set)
    not_before: float = 0.0


def connect(settings: ApiSettings, name: str = "", report: Callable[[str], None] = lambda _: None) -> Talk:
    """A talk that leaves trying again to its caller; local servers need no key."""
    key, address = key_and_address(settings)
    secrets = secrets_of(key, address)
    headers = {"Authorization": f"Bearer {key}"}
    if address.login:
        headers["Authorization"] = f"Basic {base64.b64encode(address.login.encode()).decode()}"
    client = httpx2.Client(
        headers=headers,
        params=address.query,
        timeout=settings.timeout,
        follow_redirects=True,
        limits=httpx2.Limits(max_connections=settings.concurrency + 1),
    )

    def post(path: str, body: dict[str, Any]) -> bytes:
        return _post(client, _join(address.clean, path), body, settings.timeout, secrets)

    return Talk(settings, post, secrets, report, name or settings.name)


def _join(base: str, path: str) -> str:
    """An address below the base; a path that begins with a slash is below the server itself."""
    parts = urlsplit(base)
    whole = parts.path.removesuffix("/v1") + path if path.startswith("/") else f"{parts.path}/{path}"
    return urlunsplit((parts.scheme, parts.netloc, whole, "", ""))


def _post(client: Any, url: str, body: dict[str, Any], seconds: float, secrets: tuple[str, ...]) -> bytes:
    """Send a body; the response's, whole.

    Raises
    ------
    Trouble
        No response within the time, or one that is no answer.
    """
    # The client's own timeout is for each piece of a response; one that drips would never run out of it.
    deadline = time.monotonic() + seconds
    content = bytearray()
    sent = json.dumps(body).encode()  # ASCII: a lone half of a character cannot be sent otherwise
    try:
        with client.stream(
            "POST", url, content=sent, headers={"Content-Type": "application/json"}
        ) as response:
            status, headers = response.status_code, dict(response.headers)
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:
                    raise Trouble(TIMEOUT, f"the response took more than {seconds:g} seconds", paid=True)
                if len(content) > _MOST_BYTES:
                    break
    except Trouble:
        raise
    except Exception as error:  # the HTTP library's own, of many kinds
        kind = type(error).__name__
        reason = TIMEOUT if "Timeout" in kind else CONNECTION
        said = hide(f"{kind}: {error}", secrets)
        raise Trouble(reason, said, paid=kind not in _NOT_SENT) from None
    if len(content) > _MOST_BYTES:
        raise Trouble(BAD_RESPONSE, f"a response of more than {_MOST_BYTES >> 20} MiB", paid=True)
    if status >= 300:
        text = hide(content[: 1 << 16].decode("utf-8", "replace"), secrets)
        raise refusal(status, text, headers)
    return bytes(content)


def paid_post(
    talk: Talk, path: str, body: dict[str, Any], most: tuple[int, int], usage: Callable[[bytes], Any]
) -> Any:
    """Send a body whose tokens are at most `most`, read the response, and count what it cost.

    Parameters
    ----------
    usage
        Reads the response; what it gives has `read` and `written`, None where the endpoint does not tell.

    Raises
    ------
    Trouble, CostReached
    """
    settings = talk.settings
    aside = price(settings, *most)
    if settings.purse is not None:
        settings.purse.set_aside(aside)
    tokens: tuple[int, int] = (0, 0)
    try:
        reply = usage(talk.post(path, body))
        tokens = (
            most[0] if reply.read is None else reply.read,
            most[1] if reply.written is None else reply.written,
        )
        return reply
    except Trouble as trouble:
        tokens = most if trouble.paid else (0, 0)
        raise
    except BaseException:
        tokens = most
        raise
    finally:
        if settings.purse is not None:
            settings.purse.settle(aside, price(settings, *tokens))
        with talk.lock:
            talk.read, talk.written = talk.read + tokens[0], talk.written + tokens[1]


def wait_for_turn(talk: Talk) -> bool:
    """Wait as long as the endpoint asked for; whether the talk goes on."""
    while (left := talk.not_before - time.monotonic()) > 0:
        if talk.stop.wait(min(left, 1.0)):
            return False
    return not talk.stop.is_set()


def note_answer(talk: Talk) -> None:
    """The endpoint had a word for a question."""
    with talk.lock:
        talk.answered += 1
        talk.tries = talk.lost = 0


def note_trouble(talk: Talk, trouble: Trouble) -> None:
    """A try had no answer: show once what the endpoint said, wait as it asks, give up where it is in vain.

    Raises
    ------
    EndpointFailed
        The trouble is every question's, or nobody answers.
    """
    if trouble.wait > _LONGEST_PAUSE:
        raise _failed(talk, trouble, f"asks to be left alone for {trouble.wait:,.0f} seconds")
    if trouble.wait:
        talk.not_before = max(talk.not_before, time.monotonic() + trouble.wait)
    show(talk, trouble)
    if rejects_request(trouble):
        with talk.lock:
            talk.rejected += 1
            vain = not talk.answered and talk.rejected >= _TRIES
        if vain:
            raise _failed(talk, trouble, f"refused {_TRIES} questions and answered none")
    elif not may_pass(trouble):
        raise _failed(talk, trouble, "refuses what every question needs")
    with talk.lock:
        talk.tries += 1


def note_lost(talk: Talk, trouble: Trouble) -> None:
    """A question had no answer after all tries.

    Raises
    ------
    EndpointFailed
        So had many in a row, or a few where none ever had one.
    """
    with talk.lock:
        talk.lost += 1
        never = not talk.answered and talk.lost >= _FEW and talk.tries >= _TRIES
        vain = never or talk.lost >= _LOST
    if vain:
        raise _failed(talk, trouble, f"gave no answer to {talk.lost} questions in a row")


def refuse_silence(talk: Talk) -> None:
    """Refuse to call it an answer where no question at all had any, be they few.

    Raises
    ------
    EndpointFailed
    """
    if talk.lost and not talk.answered:
        raise EndpointFailed(f"the endpoint gave no answer to {talk.lost} questions, and none to any other")


def show(talk: Talk, trouble: Trouble) -> None:
    """Report what an endpoint said, each thing once."""
    said = hide(trouble.said, talk.secrets)
    alike = "".join("0" if c.isdigit() else c for c in f"{trouble.reason} {said}")
    with talk.lock:
        new = alike not in talk.said and len(talk.said) < _SHOWN
        talk.said.add(alike)
    if new and said:
        talk.report(f"{talk.name}: the endpoint says ({trouble.reason}): {said}")


def _failed(talk: Talk, trouble: Trouble, what: str) -> EndpointFailed:
    talk.stop.set()
    said = hide(str(trouble), talk.secrets)
    return EndpointFailed(f"the endpoint {what} ({said}); what it answered is kept")


def patiently(talk: Talk, one: Callable[[], Any], *, counts: bool = True) -> Any:
    """What `one` gives, tried again while that may help.

    Parameters
    ----------
    counts
        Whether the tries say something of the questions; the request for a tokenizer does not.

    Raises
    ------
    Trouble
        The last try's, or one that concerns this question.
    EndpointFailed
        No question will be answered.
    """
    settings, last = talk.settings, Trouble("stopped")
    for attempt in range(settings.retries + 1):
        if not wait_for_turn(talk):
            raise last
        try:
            return one()
        except Trouble as trouble:
            last = trouble
        if not counts and not may_pass(last):
            raise last
        if counts:
            if concerns_one_question(last):
                raise last
            note_trouble(talk, last)
            if rejects_request(last):
                raise last
        wait = min(settings.backoff * 2**attempt, _LONGEST_WAIT)
        if attempt < settings.retries and talk.stop.wait(wait):
            raise last
    if counts:
        note_lost(talk, last)
    raise last
