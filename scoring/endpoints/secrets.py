"""Keys and passwords: where they may stand, and how they are kept out of whatever is written or shown."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from maskedadv.errors import BadSetting

if TYPE_CHECKING:
    from maskedadv.scoring.endpoints.settings import ApiSettings

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_SECRET_NAMES = re.compile(r"key|token|secret|sig|pass|pwd|auth|cred|code", re.IGNORECASE)
_NO_KEYS = {"", "none", "empty", "null", "dummy", "test", "local", "ollama"}  # what local servers are given
_RUN = 8  # so many characters of a secret give it away
_LEAST = 3
_HIDDEN = "[hidden]"


@dataclass(frozen=True)
class Address:
    """An endpoint's address, taken apart.

    Attributes
    ----------
    clean
        The address without anything secret.
    query
        All its query parameters, secret ones included.
    login
        User and password, joined by a colon; '' for none.
    secrets
        What must never be shown.
    """

    clean: str
    query: dict[str, str]
    login: str
    secrets: tuple[str, ...]


def read_address(url: str) -> Address:
    """Take an address apart.

    Raises
    ------
    BadSetting
        It is no address. The message does not repeat it, as it may hold a password.
    """
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError:
        port, host = None, None
    if host is None or parts.scheme not in {"http", "https"} or re.search(r"\s", host):
        raise BadSetting(
            "--api is no address; write it with http:// or https:// and a host, such as http://localhost:8000/v1."
        )
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    open_query = {k: v for k, v in query.items() if not _SECRET_NAMES.search(k)}
    shown = f"[{host}]" if ":" in host else host
    place = shown if port is None else f"{shown}:{port}"
    clean = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), urlencode(open_query), ""))
    login = ""
    secrets = [v for k, v in query.items() if k not in open_query]
    if parts.username is not None:
        user, password = unquote(parts.username), unquote(parts.password or "")
        login = f"{user}:{password}"
        secrets += [password] if password else [user]
        secrets += [login, base64.b64encode(login.encode()).decode()]
    return Address(clean, query, login, _spellings(secrets))


def address_given(value: str) -> tuple[str, str | None]:
    """The clean address, and the environment variable that holds it whole: None where it is written out.

    Raises
    ------
    BadSetting
        No address, no such variable, or an address with a password or a key that is written out: what a
        command or a setting holds stands in the list of processes and in files.
    """
    if _VARIABLE.fullmatch(value):
        return address_in(value).clean, value
    address = read_address(value)
    if address.secrets:
        raise BadSetting(
            "the address of --api holds a password or a key, which others could read in the list of "
            "processes: put the address into an environment variable and give that variable's name, as in "
            "--api MY_ADDRESS (or the key alone into OPENAI_API_KEY)."
        )
    return address.clean, None


def address_in(variable: str) -> Address:
    """The address that an environment variable holds.

    Raises
    ------
    BadSetting
    """
    value = os.environ.get(variable)
    if not value:
        raise BadSetting(
            f"--api {variable}: there is no such environment variable; give an address, such as "
            "http://localhost:8000/v1, or a variable that holds one."
        )
    return read_address(value)


def hide_of(settings: ApiSettings, text: str) -> str:
    """The text without the secrets that the settings point to."""
    return hide(text, secrets_of(*key_and_address(settings)))


def key_and_address(settings: ApiSettings) -> tuple[str, Address]:
    """What the environment holds for the settings; a key is "none" where there is none."""
    variable = settings.url_variable
    address = read_address(settings.url) if variable is None else address_in(variable)
    return os.environ.get(settings.key_variable) or "none", address


def secrets_of(key: str, address: Address) -> tuple[str, ...]:
    """All that must not be shown of a key and an address; a key also as gateways keep it, in base 64."""
    keys = [key, base64.b64encode(key.encode()).decode()] if key.lower() not in _NO_KEYS else []
    return (*address.secrets, *_spellings(keys))


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, or pieces of them, whatever their case."""
    for secret in secrets:
        size = min(_RUN, len(secret))
        if size < _LEAST:
            continue
        low, known = _lower(text), _lower(secret)
        runs = {known[k : k + size] for k in range(len(known) - size + 1)}
        if not any(run in low for run in runs):
            continue
        covered = bytearray(len(text))
        for k in range(len(low) - size + 1):
            if low[k : k + size] in runs:
                covered[k : k + size] = b"\1" * size
        parts, k = [], 0
        while k < len(text):
            end = k
            while end < len(text) and covered[end]:
                end += 1
            parts.append(_HIDDEN if end > k else text[k])
            k = max(end, k + 1)
        text = "".join(parts)
    return text


def _lower(text: str) -> str:
    """Small letters, one for each: "İ" has a small form of two characters."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    found = {form for secret in secrets for form in (secret, quote(secret, safe="")) if secret}
    return tuple(sorted(found, key=lambda s: (-len(s), s)))
