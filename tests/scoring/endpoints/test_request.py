"""Endpoints that take other settings, refuse everything, or are slow when somebody wants to leave."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import EndpointFailed
from tests import interrupting
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import run

pytest.importorskip("httpx2")

from tests.scoring.endpoints.test_ask import Server, ask, server  # noqa: F401


def item_file(path: Path, word: str) -> Path:
    rows = [json.loads(line) for line in write_item_file(path, ("en",)).read_text().splitlines()]
    for n, row in enumerate(rows):
        row["question"] = f"<<{word}>> {n}?"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_model_that_takes_neither_max_tokens_nor_temperature_0(server: Server) -> None:  # noqa: F811
    found = ask(server, [f"new={n}" for n in range(12)], concurrency=3, max_answer_tokens=77)
    assert [a.chosen for a in found] == [1] * 12
    assert {a.asked_with for a in found} == {"default temperature, max_completion_tokens"}
    answered = [b for b in server.bodies if "max_tokens" not in b and "temperature" not in b]
    assert len(answered) == 12
    assert all(b["max_completion_tokens"] == 77 for b in answered)
    assert len(server.bodies) <= 12 + 2 * 3  # found out once, not for every question


def test_only_what_is_refused_is_left_out(server: Server) -> None:  # noqa: F811
    (found,) = ask(server, ["warm=1"])
    assert (found.chosen, found.asked_with) == (1, "default temperature")
    assert [sorted(b.keys() & {"max_tokens", "temperature"}) for b in server.bodies] == [
        ["max_tokens", "temperature"],
        ["max_tokens"],
    ]


def test_log_probabilities_are_asked_for_in_other_words_too(server: Server) -> None:  # noqa: F811
    (found,) = ask(server, ["new=1"], answers="logprobs", top=5)
    assert (found.reason, found.asked_with) == (
        "no_logprobs_given",
        "default temperature, max_completion_tokens",
    )
    assert server.bodies[-1]["max_completion_tokens"] == 1
    assert server.bodies[-1]["top_logprobs"] == 5


def test_changes_are_recorded_in_the_table_and_said(
    server: Server,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    items = item_file(tmp_path / "set.jsonl", "new")
    command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
    assert run(*command, "--max-answer-tokens", 9) == 0
    assert "default temperature, max_completion_tokens" in capsys.readouterr().err
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert set(frame["asked_with"]) == {"default temperature, max_completion_tokens"}
    assert frame["correct"].notna().all()


def test_an_endpoint_that_refuses_every_request_is_given_up_soon(server: Server) -> None:  # noqa: F811
    with pytest.raises(EndpointFailed, match="400"):
        ask(server, ["status=400"] * 300, concurrency=4)
    assert 10 <= server.tries["status=400"] < 20


def test_a_quota_that_is_used_up_is_not_waited_for(server: Server) -> None:  # noqa: F811
    with pytest.raises(EndpointFailed, match="quota"):
        ask(server, ["quota"], backoff=60.0)
    assert server.tries["quota"] == 1


def test_an_interrupt_does_not_wait_for_a_slow_server(server: Server, tmp_path: Path) -> None:  # noqa: F811
    items = item_file(tmp_path / "set.jsonl", "drip")
    command = [sys.executable, "-m", "maskedadv", "score", "run", str(items), "-o", str(tmp_path / "out")]
    process = interrupting.start([*command, "-m", "m", "--api", server.url, "--timeout", "60"])
    try:
        for _ in range(600):
            if server.bodies:
                break
            time.sleep(0.1)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=50)
    finally:
        process.kill()
    assert time.monotonic() - begun < 5
    assert process.returncode == 130
    assert "Interrupted" in said
    assert not list((tmp_path / "out").rglob("*.partial"))
