"""What of Label Studio's HTTP API a review needs, with nothing but the standard library."""

from __future__ import annotations

import itertools
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from maskedadv.errors import BadSetting, ReviewServerFailed

_SECONDS = 120
_BATCH = 200
_PERSONAL = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")  # a personal access token is a JWT


@dataclass(frozen=True)
class Server:
    """A Label Studio that runs.

    Attributes
    ----------
    url
        Its address, without a slash at the end.
    token
        A legacy token, or a personal access token; never shown.
    """

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Server({self.url!r})"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token goes where it was meant to go, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def check_url(url: str) -> str:
    """The address, without a slash at its end.

    Raises
    ------
    BadSetting
        It is none, or holds a password. It is not repeated, as it may be secret.
    """
    try:
        parts = urlsplit(url)
        odd = parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment
    except ValueError:
        odd = True
    if odd:
        raise BadSetting(
            "--url is no address; write it with http:// or https://, such as http://localhost:8080."
        )
    if parts.username is not None:
        raise BadSetting(
            "the address of --url holds a password; a token belongs into an environment variable."
        )
    return url.rstrip("/")


def alive(url: str) -> bool:
    """Whether a Label Studio answers there now."""
    try:
        with _opener(url).open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def projects(server: Server, title: str) -> list[dict[str, Any]]:
    """Projects of exactly this title."""
    found = call(server, "GET", "/api/projects?" + urlencode({"title": title, "page_size": 1000}))
    return [x for x in found["results"] if x["title"] == title]


def make_project(server: Server, title: str, config: str, instruction: str, per_item: int) -> int:
    """Make a project; its number."""
    body = {
        "title": title,
        "label_config": config,
        "expert_instruction": instruction,
        "show_instruction": True,
        "maximum_annotations": per_item,
        "show_annotation_history": False,
        "show_collab_predictions": True,
        "enable_empty_annotation": False,
    }
    return int(call(server, "POST", "/api/projects", body)["id"])


def task_keys(server: Server, project: int) -> set[tuple[str, str]]:
    """Item and language of the tasks that a project has."""
    found: set[tuple[str, str]] = set()
    for page in itertools.count(1):
        query = urlencode({"project": project, "page": page, "page_size": _BATCH, "fields": "all"})
        answer = call(server, "GET", f"/api/tasks?{query}")
        found |= {(t["meta"]["item"], t["meta"]["language"]) for t in answer["tasks"] if t.get("meta")}
        if page * _BATCH >= answer["total"]:
            break
    return found


def add_tasks(server: Server, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
    """Add tasks as `label_studio_work.task_json` writes them."""
    for k in range(0, len(tasks), _BATCH):
        call(server, "POST", f"/api/projects/{project}/import", list(tasks[k : k + _BATCH]))


def exported(server: Server, project: int) -> list[dict[str, Any]]:
    """All tasks of a project that have an annotation, with these."""
    found = call(server, "GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=false")
    return list(found)


def annotators(server: Server) -> dict[int, str]:
    """Addresses of all accounts by their number."""
    return {int(x["id"]): str(x["email"]) for x in call(server, "GET", "/api/users")}


def call(server: Server, method: str, path: str, body: Any = None) -> Any:
    """The JSON that the server answers.

    Raises
    ------
    ReviewServerFailed
        It refuses, or does not answer. What it says is shown in short, without the token.
    """
    kind = "Token"
    token = server.token
    if _PERSONAL.fullmatch(token):
        kind, token = "Bearer", _send(server, "POST", "/api/token/refresh", {"refresh": token}, {})["access"]
    return _send(server, method, path, body, {"Authorization": f"{kind} {token}"})


def _send(server: Server, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Any:
    data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8")
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json", **headers})  # noqa: S310
    request.method = method
    try:
        with _opener(server.url).open(request, timeout=_SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        said = " ".join(error.read(2000).decode("utf-8", "replace").split())[:300]
        why = {401: "the token is not accepted", 403: "the token may not do that"}.get(error.code, said)
        raise ReviewServerFailed(
            f"Label Studio at {server.url} refuses {method} {path.split('?')[0]} ({error.code}): "
            f"{why.replace(server.token, '[hidden]')}."
        ) from None
    except (OSError, ValueError) as error:
        raise ReviewServerFailed(
            f"Label Studio at {server.url} does not answer as it should ({type(error).__name__}: {error}); "
            "is it running?"
        ) from None


def _opener(url: str) -> urllib.request.OpenerDirector:
    own = urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}
    return urllib.request.build_opener(_NoRedirect, *([urllib.request.ProxyHandler({})] if own else []))
