"""Endpoints: a server that misbehaves in every way at once, and one that serves a real model."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.plan import Unit, make_pieces
from maskedadv.scoring.prompts.prompts import Rendered, load_prompts
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import run

pytest.importorskip("httpx2")

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints import ask as api
from maskedadv.scoring.endpoints import cost
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.talk import connect


class Server(ThreadingHTTPServer):
    """Answers by what stands in the question; counts tries by question."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tries: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.busy = self.most = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: Any) -> None:
        """Clients that hung up are part of the test."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][0]["content"] if "messages" in body else body["prompt"]
        word = text.split("<<")[1].split(">>")[0]
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.tries[word] += 1
            tries = self.server.tries[word]
            self.server.busy += 1
            self.server.most = max(self.server.most, self.server.busy)
        try:
            self.answer(word, tries, body)
        finally:
            with self.server.lock:
                self.server.busy -= 1

    def answer(self, word: str, tries: int, body: dict[str, Any]) -> None:
        chat = "messages" in body
        kind, _, value = word.partition("=")
        if kind == "new" and "max_tokens" in body:
            text = "Unsupported parameter: 'max_tokens' is not supported with this model. "
            return self.refuse(400, text + "Use 'max_completion_tokens' instead.", "unsupported_parameter")
        if kind in {"new", "warm"} and "temperature" in body:
            text = (
                "'temperature' does not support 0 with this model. Only the default (1) value is supported."
            )
            return self.refuse(400, f"Unsupported value: {text}", "unsupported_value")
        if kind == "long":
            return self.refuse(400, "This model's maximum context length is 8 tokens.", None)
        if kind == "content":
            return self.refuse(400, "Content Exists Risk", "invalid_request_error")
        if kind == "quota":
            return self.refuse(429, "You exceeded your current quota", "insufficient_quota")
        if kind in {"drip", "stall", "break-off"}:
            return self.drip({"drip": 300, "stall": 1, "break-off": 3}[kind], 2.0 * (kind == "stall"))
        if kind == "status":
            return self.send(int(value), {"error": {"message": "no", "code": "x"}})
        if kind == "once" and tries == 1:
            return self.send(int(value), {"error": {"message": "later"}}, {"Retry-After": "0"})
        if kind == "filter":
            return self.send(400, {"error": {"message": "no", "code": "content_filter"}})
        if kind == "slow":
            time.sleep(3)
        if kind == "hang-up":
            self.close_connection = True
            return None
        if kind == "no-json":
            return self.raw(200, b"<html>Bad gateway</html>", "application/json")
        if kind == "half-json":
            return self.raw(200, b'{"choices": [{"mess', "application/json")
        if kind == "odd-json":
            return self.send(200, {"choices": []})
        time.sleep(0.02)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        message: dict[str, Any] = {"role": "assistant", "content": value if kind == "say" else "Answer: B"}
        if kind == "refuse":
            message |= {"content": None, "refusal": "I will not."}
        if kind == "cut":
            message["content"] = "Let us think"
            choice["finish_reason"] = "length"
        if kind == "null":
            message["content"] = None
        if kind == "top":
            top = {t: float(x) for t, x in (pair.split(":") for pair in value.split(";"))}
            if chat:
                content = [{"token": t, "logprob": x, "bytes": None} for t, x in top.items()]
                choice["logprobs"] = {"content": [{**content[0], "top_logprobs": content}], "refusal": None}
            else:
                choice["logprobs"] = {
                    "tokens": [next(iter(top))],
                    "token_logprobs": [0.0],
                    "top_logprobs": [top],
                    "text_offset": [0],
                }
        choice |= {"message": message} if chat else {"text": message["content"] or ""}
        return self.send(
            200,
            {
                "id": "1",
                "object": "chat.completion" if chat else "text_completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
            },
        )

    def refuse(self, status: int, message: str, code: str | None) -> None:
        self.send(status, {"error": {"message": message, "code": code, "type": "invalid_request_error"}})

    def drip(self, times: int, rest: float) -> None:
        """A response that never comes to its end: in small pieces, stalled, or broken off."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for _ in range(times):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)
        time.sleep(rest)
        self.close_connection = True

    def send(self, status: int, content: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self.raw(status, json.dumps(content).encode(), "application/json", headers)

    def raw(self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


def settings(server: Server, **more: Any) -> ApiSettings:
    return ApiSettings("m", server.url, **{"retries": 2, "timeout": 1.0, "backoff": 0.05, **more})


def item(word: str, number: int, answer: int = 1, language: str = "en") -> Item:
    return Item(f"q{number:02}", "CA", language, f"<<{word}>>", ("a", "b", "c", "d"), answer)


def ask(server: Server, words: list[str], **more: Any) -> list[Any]:
    pieces = make_pieces({"s": [item(word, n) for n, word in enumerate(words)]}, load_prompts())
    found: dict[int, Any] = {}
    wanted = [(pieces[0], range(len(words)))]
    api.answer("m", settings(server, **more), {}, wanted, lambda _, a: found.update(a), lambda _: None)
    return [found[k] for k in range(len(words))]


MISBEHAVIOUR = {
    "good": (1, "", 1),
    "long": (None, "too_long", 1),
    "content": (None, "refused", 1),
    "refuse": (None, "refused", 1),
    "filter": (None, "refused", 1),
    "null": (None, "no_answer_stated", 1),
    "status=429": (None, "api_429", 3),
    "status=500": (None, "api_500", 3),
    "status=503": (None, "api_503", 3),
    "once=429": (1, "", 2),
    "once=500": (1, "", 2),
    "slow": (None, "api_timeout", 3),
    "hang-up": (None, "api_connection", 3),
    "drip": (None, "api_timeout", 3),
    "stall": (None, "api_timeout", 3),
    "break-off": (None, "api_connection", 3),
    "status=400": (None, "api_400", 1),
    "status=422": (None, "api_422", 1),
    "no-json": (None, "api_bad_response", 3),
    "half-json": (None, "api_bad_response", 3),
    "odd-json": (None, "api_bad_response", 3),
    "cut": (None, "answer_cut_off", 1),
    "say=ANSWER: None of the above": (None, "no_answer_stated", 1),
    "say=**B**": (1, "", 1),
    "say=(b)": (1, "", 1),
    "say=$C$": (2, "", 1),
    "say=": (None, "no_answer_stated", 1),
}


def test_a_server_that_misbehaves(server: Server) -> None:
    found = ask(server, list(MISBEHAVIOUR), concurrency=6)
    seen = {w: (a.chosen, a.reason, server.tries[w]) for w, a in zip(MISBEHAVIOUR, found, strict=True)}
    assert seen == MISBEHAVIOUR
    assert all(body["temperature"] == 0 for body in server.bodies)
    assert {a.asked_with for a in found if a.chosen is not None} == {""}


def test_no_more_questions_at_a_time_than_allowed(server: Server) -> None:
    assert [a.chosen for a in ask(server, ["good"] * 40, concurrency=6)] == [1] * 40
    assert 1 < server.most <= 6


def test_statements_in_other_languages(server: Server) -> None:
    words = [("say=الإجابة: ب", "ar", 1), ("say=答案是Ｃ", "zh", 2)]
    for word, language, option in words:
        talk = connect(settings(server))
        rendered = Rendered(f"<<{word}>>", ((" A",), (" B",), (" C",), (" D",)))
        answer = api.ask_one(talk, item(word, 0, language=language), rendered)
        assert (answer.chosen, talk.read, talk.written) == (option, 10, 3)


@pytest.mark.parametrize("status", [401, 402, 404])
def test_what_concerns_every_question_stops_the_model(server: Server, status: int) -> None:
    with pytest.raises(EndpointFailed, match=str(status)):
        ask(server, [f"status={status}"])
    assert server.tries[f"status={status}"] == 1


def test_log_probabilities_behind_a_chat(server: Server) -> None:
    words = ["top=A:-0.5; B:-1.5;B:-2;C:-3;D:-4;x:-0.1", "top=A:-0.01;B:-5;C:-6", "top=x:-0.1;y:-2", "good"]
    full, part, none, without = ask(server, words, answers="logprobs")
    b = math.log(math.exp(-1.5) + math.exp(-2))
    assert full.logprobs == pytest.approx([-0.5, b, -3, -4])
    assert full.reason == ""
    assert part.logprobs[:3] == pytest.approx([-0.01, -5, -6])
    assert math.isnan(part.logprobs[3])
    assert part.reason == none.reason == "option_not_in_top"
    assert all(map(math.isnan, none.logprobs))
    assert without.reason == "no_logprobs_given"
    assert all(b["max_tokens"] == 1 and b["top_logprobs"] == 20 for b in server.bodies)


def test_log_probabilities_of_a_completion_are_of_the_form_in_place(server: Server) -> None:
    word = "top= A:-0.5;A:-0.1; B:-1; C:-2; D:-3"
    (found,) = ask(server, [word], answers="logprobs", endpoint="completions")
    assert found.logprobs == pytest.approx([-0.5, -1, -2, -3])


def test_the_command_counts_and_takes_up_what_failed(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(x) for x in write_item_file(tmp_path / "set.jsonl", ("en",)).read_text().splitlines()]
    for n, row in enumerate(rows):
        row["question"] = f"<<{'once=500' if n == 5 else 'say=B'} {n}>>".replace(" 5", "").replace(
            "B ", "B\n"
        )
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["score", "run", tmp_path / "set.jsonl", "-o", tmp_path / "out", "-m", "m", "--api", server.url]
    command += ["--retries", 0, "--price-in", 2, "--price-out", 10]
    assert run("score", "plan", *command[2:]) == 0
    assert "at most" in capsys.readouterr().out
    assert run(*command) == 0
    printed = capsys.readouterr()
    assert "1 api_500" in printed.out
    assert "cost 0.00" in printed.err
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert frame["correct"].isna().sum() == 1
    asked = server.tries.total()
    assert run(*command) == 0
    assert server.tries.total() == asked  # nothing is asked twice by itself
    assert run(*command, "--again") == 0
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert frame["correct"].notna().all()
    assert frame["said"].str.len().gt(0).all()


def test_a_wrong_key_fails_the_model_with_its_reason(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(x) for x in write_item_file(tmp_path / "set.jsonl", ("en",)).read_text().splitlines()]
    for row in rows:
        row["question"] = "<<status=401>>"
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["score", "run", tmp_path / "set.jsonl", "-o", tmp_path / "out", "-m", "m", "--api", server.url]
    assert run(*command) == 1
    assert "401" in capsys.readouterr().err
    assert not (tmp_path / "out" / "responses.parquet").exists()


@pytest.mark.slow
def test_transformers_serve_with_a_tiny_model(tiny_model: Path, tmp_path: Path) -> None:
    """A real server with a real (random) model: whatever it says, the run ends with a row for every item."""
    command = Path(sys.executable).with_name("transformers")
    if not command.is_file():
        pytest.skip("the command transformers is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    log = (tmp_path / "serve.log").open("wb")
    serving = subprocess.Popen(
        [command, "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
        env=environment,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        for _ in range(120):
            if serving.poll() is not None:
                pytest.skip(
                    f"transformers serve does not start: {(tmp_path / 'serve.log').read_text()[-300:]}"
                )
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
                break
            except OSError:
                time.sleep(1)
        items = write_item_file(tmp_path / "set.jsonl", ("en",), 2)
        command_line = ["score", "run", items, "-o", tmp_path / "out", "-m", f"tiny={tiny_model}"]
        command_line += [
            "--api",
            f"http://127.0.0.1:{port}/v1",
            "--endpoint",
            "chat",
            "--max-answer-tokens",
            8,
        ]
        assert run(*command_line, "--concurrency", 1) == 0
    finally:
        os.killpg(serving.pid, signal.SIGTERM)
        serving.wait(30)
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert len(frame) == 4
    assert frame["said"].notna().all()


def test_a_log_probability_costs_one_token_written() -> None:
    pieces = make_pieces({"s": [item("x" * 400, n) for n in range(3)]}, load_prompts())
    for answers, longest in (("text", 512), ("logprobs", 1)):
        read, written = cost.estimate(ApiSettings("m", "http://x/v1", answers=answers), pieces)
        assert written == 3 * longest
        assert 3 * 100 < read < 3 * 150


def test_unit_of_an_endpoint_is_known_by_what_decides_its_answers() -> None:
    a = ApiSettings("m", "http://x/v1", concurrency=1, retries=1)
    b = ApiSettings("m", "http://x/v1", concurrency=9, retries=9, price_in=1.0)
    c = ApiSettings("m", "http://y/v1")
    assert a.identity() == b.identity() != c.identity()
    assert Unit("m", a, ()).model == "m"
