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

from maskedadv.scoring.endpoints.cost import price
from maskedadv.scoring.endpoints.secrets import hide, key_and_address, secrets_of
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.trouble import (
    BAD_RESPONSE,
    CONNECTION,
    TIMEOUT,
    Trouble,
    refusal,
)

_MOST_BYTES = 64 << 20  # of a response; log-probabilities of a long prompt have some ten
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
