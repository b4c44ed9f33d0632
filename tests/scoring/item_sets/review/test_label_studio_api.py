"""Talking to a Label Studio: pages, tokens and refusals, with a server that says what a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import BadSetting, NothingToImport, ReviewServerFailed
from maskedadv.scoring.item_sets.review import export, started
from maskedadv.scoring.item_sets.review import label_studio_api as api
from maskedadv.scoring.items.items import Item

ITEMS = [
    Item(f"i{n}", "CS", language, f"{language} {n}?", ("a", "b"), 0)
    for language in ("zh", "en")
    for n in range(205)
]
TOKEN = "a0b1c2d3e4f5a0b1c2d3e4f5"
PERSONAL = "eyJhbGci.eyJ0b2tl.c2lnbmF0"


@dataclass
class Studio:
    """What a Label Studio has, and what it was asked."""

    url: str = ""
    token: str = f"Token {TOKEN}"
    projects: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    breaks_after: int = 1 << 30
    redirect: str = ""


@pytest.fixture
def studio() -> Iterator[Studio]:
    has = Studio()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(text) if text else None
            path, _, query = self.path.partition("?")
            has.asked.append(f"{self.command} {path}")
            if has.redirect:
                self.send_response(302)
                self.send_header("Location", has.redirect)
                self.end_headers()
            elif path == "/api/token/refresh":
                self.say({"access": "for-now"} if body == {"refresh": PERSONAL} else {})
            elif self.headers["Authorization"] != has.token:
                self.say({"detail": f"no such token {self.headers['Authorization']}"}, 401)
            else:
                self.say(*answer(self.command, path, query, body))

        do_POST = do_GET  # noqa: N815

        def say(self, content: Any, code: int = 200) -> None:
            text = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    def answer(command: str, path: str, query: str, body: Any) -> tuple[Any, int]:
        if path == "/api/projects" and command == "POST":
            has.projects.append({"id": len(has.projects) + 1, **body})
            return has.projects[-1], 201
        if path == "/api/projects":
            return {"results": has.projects}, 200
        if path.endswith("/import"):
            if len(has.tasks) >= has.breaks_after:
                return {"detail": "out of order"}, 500
            has.tasks += body
            return {}, 201
        if path == "/api/tasks":
            page, size = (int(dict(p.split("=") for p in query.split("&"))[k]) for k in ("page", "page_size"))
            return {"total": len(has.tasks), "tasks": has.tasks[(page - 1) * size : page * size]}, 200
        if path == "/api/users":
            return [{"id": 7, "email": "ana@example.org"}], 200
        one = {"completed_by": 7, "result": [], "updated_at": "2026-01-01"}
        return [{**has.tasks[0], "annotations": [one]}], 200

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    has.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield has
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("token", "header"), [(TOKEN, f"Token {TOKEN}"), (PERSONAL, "Bearer for-now")])
def test_a_server_of_ones_own_gets_every_task_once(
    studio: Studio, token: str, header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off in the middle and begun again, it gets what is missing; both kinds of token are accepted."""
    monkeypatch.setenv("MY_TOKEN", token)
    studio.token = header
    more: dict[str, Any] = {"url": f"{studio.url}/", "token_variable": "MY_TOKEN", "per_item": 4}
    studio.breaks_after = 200
    with pytest.raises(ReviewServerFailed, match="out of order"), started(ITEMS, tmp_path / "r", **more):
        pass
    assert len(studio.tasks) == 200
    with pytest.raises(NothingToImport, match="start it again"):
        export(tmp_path / "r")
    studio.breaks_after = 1 << 30
    for _ in range(2):
        with started(ITEMS, tmp_path / "r", **more) as review:
            assert review.n_tasks == 205
    assert len(studio.projects) == 1
    assert studio.projects[0]["maximum_annotations"] == 4
    assert [t["meta"]["item"] for t in studio.tasks] == [f"i{n}" for n in range(205)]
    assert export(tmp_path / "r")["annotator"].to_pylist() == ["ana@example.org"]
    assert token not in "".join(p.read_text("utf-8") for p in (tmp_path / "r").iterdir())


def test_a_refused_token_is_told_and_not_shown(studio: Studio) -> None:
    server = api.Server(studio.url, "wrong-token-123456")
    with pytest.raises(ReviewServerFailed, match="token is not accepted") as caught:
        api.annotators(server)
    assert "wrong-token" not in str(caught.value) + repr(server)


def test_a_token_is_not_sent_where_a_server_points(studio: Studio) -> None:
    other = Studio(url=studio.url)
    studio.redirect = f"{other.url}/elsewhere"
    with pytest.raises(ReviewServerFailed, match="302"):
        api.annotators(api.Server(studio.url, TOKEN))
    assert studio.asked == ["GET /api/users"]


def test_nobody_there_is_a_sentence() -> None:
    with pytest.raises(ReviewServerFailed, match="is it running"):
        api.annotators(api.Server("http://127.0.0.1:9", TOKEN))


def test_a_project_that_is_gone_is_told(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    with started(ITEMS[:1], tmp_path / "r", url=studio.url):
        studio.projects.clear()
    with pytest.raises(NothingToImport, match="no project 'zh without English"):
        export(tmp_path / "r")
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    with pytest.raises(BadSetting, match="LABEL_STUDIO_API_KEY"):
        export(tmp_path / "r")
