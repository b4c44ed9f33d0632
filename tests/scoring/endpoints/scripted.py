"""An endpoint that answers by a function, from a request's path and body to a response."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from maskedadv.scoring.items.items import Item
from maskedadv.scoring.prompts.prompts import Rendered, load_prompts, render

# Status, body (an object is sent as JSON), headers.
Response = tuple[int, Any, dict[str, str]]


@dataclass
class Scripted:
    """A running endpoint, and what it was asked."""

    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serve(respond: Callable[[str, dict[str, Any]], Response]) -> Iterator[Scripted]:
    """Serve until the end of the block."""
    state = Scripted()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state.requests.append((self.path, body))
                state.headers.append(dict(self.headers))
            status, content, headers = respond(self.path, body)
            sent = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: Any) -> None:
            """Clients that hung up are part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def chat(content: Any = "Answer: B", finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat's response."""
    message = {"role": "assistant", "content": content}
    return {
        "choices": [{"index": 0, "finish_reason": finish, "message": message, **more}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }


def top(pairs: list[tuple[str, float]], data: list[bytes] | None = None) -> dict[str, Any]:
    """First tokens in the shape of a chat."""
    entries: list[dict[str, Any]] = [{"token": t, "logprob": x, "bytes": None} for t, x in pairs]
    for entry, own in zip(entries, data or [], strict=False):
        entry["bytes"] = list(own)
    return {"logprobs": {"content": [{**entries[0], "top_logprobs": entries}]}}


def question(answer: int = 1, language: str = "en", name: str = "q0") -> tuple[Item, Rendered]:
    """One question and its text."""
    item = Item(name, "CA", language, "Which one?", ("red", "green", "blue", "black"), answer)
    return item, render(item, load_prompts())


def write_questions(path: Path, count: int, language: str = "en") -> Path:
    """An item file of `count` questions."""
    rows = [
        {
            "item": f"q{n:03}",
            "subset": ("CA", "CS")[n % 2],
            "language": language,
            "question": f"Which one is number {n}?",
            "options": ["red", "green", "blue", "black"],
            "answer": "ABCD"[n % 4],
        }
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
