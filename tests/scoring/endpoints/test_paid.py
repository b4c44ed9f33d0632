"""Answers that were paid for: kept through kills, never replaced by something worse, never asked twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("httpx2")

from maskedadv.scoring.launch.journal import read_journal
from tests.scoring.endpoints.scripted import Response, chat, serve, write_questions
from tests.scoring.launch.test_launch import ENVIRONMENT, run

DEAD = "http://127.0.0.1:9/v1"


def number_of(body: dict[str, Any]) -> int:
    return int(body["messages"][0]["content"].split("number ")[1].split("?")[0])


def command(items: Path, out: Path, url: str, *more: object) -> list[object]:
    return ["score", "run", items, "-o", out, "-m", "m", "--api", url, *more]


def rows(out: Path) -> pd.DataFrame:
    return pd.read_parquet(out / "responses.parquet")


def test_again_asks_only_what_failed_and_replaces_nothing_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, out = write_questions(tmp_path / "set.jsonl", 30), tmp_path / "out"
    state = {"bad": {4, 11, 12}, "all": False}

    def respond(_path: str, body: dict[str, Any]) -> Response:
        if state["all"] or number_of(body) in state["bad"]:
            return 500, {"error": {"message": "out of order"}}, {}
        return 200, chat(f"Answer: B (the {len(server.requests)}th)"), {}

    with serve(respond) as server:
        asked = command(items, out, server.url, "--retries", 0, "--concurrency", 2)
        assert run(*asked) == 0
        first = rows(out)
        assert first["correct"].notna().sum() == 27
        assert "--again" in capsys.readouterr().out
        before = len(server.requests)
        assert run(*asked) == 0
        assert len(server.requests) == before

        state["all"] = True  # the server is broken for all
        assert run(*asked, "--again") == 1
        pd.testing.assert_frame_equal(rows(out), first)
        assert len(server.requests) == before + 3

        state |= {"all": False, "bad": {11}}
        assert run(*asked, "--again") == 0
        assert len(server.requests) == before + 6
        second = rows(out)
        assert second["correct"].notna().sum() == 29
        good = first["correct"].notna()
        pd.testing.assert_frame_equal(second[good], first[good])
    # ... and gone altogether
    assert run(*command(items, tmp_path / "out", server.url, "--retries", 0, "--again")) == 1
    pd.testing.assert_frame_equal(rows(out), second)


def test_a_server_that_went_away_takes_no_good_answer_with_it(tmp_path: Path) -> None:
    """The table of an earlier run, all good but some; then --again with nobody there."""
    items, out = write_questions(tmp_path / "set.jsonl", 60), tmp_path / "out"

    def respond(_path: str, body: dict[str, Any]) -> Response:
        return (500, {}, {}) if number_of(body) % 10 == 3 else (200, chat(), {})

    with serve(respond) as server:
        assert run(*command(items, out, server.url, "--retries", 0)) == 0
    first = rows(out)
    assert first["correct"].notna().sum() == 54
    code = run(*command(items, out, server.url, "--retries", 2, "--again"))
    pd.testing.assert_frame_equal(rows(out), first)
    assert code == 1


@pytest.mark.parametrize("kind", ["nobody there", "500", "503 html", "no such host", "nonsense"])
def test_an_endpoint_that_answers_nothing_is_left_soon(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, out = write_questions(tmp_path / "set.jsonl", 200), tmp_path / "out"
    replies: dict[str, Response] = {
        "500": (500, {"error": {"message": "broken"}}, {}),
        "503 html": (503, b"<html><h1>Service Unavailable</h1></html>", {}),
        "nonsense": (200, b"<html>Welcome!</html>", {}),
    }
    with serve(lambda _p, _b: replies[kind]) as server:
        url = {"nobody there": DEAD, "no such host": "http://no-such-host.invalid/v1"}.get(kind, server.url)
        assert run(*command(items, out, url, "--retries", 2, "--concurrency", 4)) == 1
    assert len(server.requests) <= 30
    said = " ".join(capsys.readouterr().err.split())
    assert "1 of 1 models failed" in said
    assert "200 of m" in said
    assert not (out / "responses.parquet").exists()


def test_a_server_that_dies_half_way_is_left_and_its_answers_are_kept(tmp_path: Path) -> None:
    items, out = write_questions(tmp_path / "set.jsonl", 300), tmp_path / "out"
    state = {"alive": 100}
    asked: Counter[int] = Counter()

    def respond(_path: str, body: dict[str, Any]) -> Response:
        if state["alive"] <= 0:
            return 502, {}, {}
        state["alive"] -= 1
        asked[number_of(body)] += 1
        return 200, chat(), {}

    with serve(respond) as server:
        again = command(items, out, server.url, "--retries", 0, "--concurrency", 1)
        assert run(*again) == 1
        assert len(server.requests) < 150
        state["alive"] = 1000
        assert run(*again) == 0
    assert set(asked.values()) == {1}
    assert rows(out)["correct"].notna().all()


def test_nothing_observed_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items, out = write_questions(tmp_path / "set.jsonl", 6), tmp_path / "out"
    with serve(lambda _p, _b: (200, chat("I cannot say."), {})) as server:
        assert run(*command(items, out, server.url)) == 1
    assert "nothing was observed (m: 6 no_answer_stated)" in " ".join(capsys.readouterr().err.split())
    assert len(rows(out)) == 6


def test_odd_usage_and_a_lone_surrogate_lose_no_piece(tmp_path: Path) -> None:
    items, out = write_questions(tmp_path / "set.jsonl", 12), tmp_path / "out"
    odd: list[Any] = [
        {"prompt_tokens": "x"},
        [],
        {"prompt_tokens": -3, "completion_tokens": 1e400},
        "usage",
        None,
    ]

    def respond(_path: str, body: dict[str, Any]) -> Response:
        n = number_of(body)
        return 200, {**chat("Answer: B \ud83d"), "usage": odd[n % len(odd)]}, {}

    with serve(respond) as server:
        assert run(*command(items, out, server.url)) == 0
        assert run(*command(items, out, server.url)) == 0
    assert len(server.requests) == 12
    assert set(rows(out)["said"]) == {"Answer: B \ufffd"}


def test_low_option_mass_of_a_whole_model_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.scoring.endpoints.scripted import top

    items, out = write_questions(tmp_path / "set.jsonl", 6), tmp_path / "out"
    pairs = [("The", -0.001), *((letter, -12.0 - k) for k, letter in enumerate("BACD"))]
    with serve(lambda _p, _b: (200, chat("The", **top(pairs)), {})) as server:
        assert run(*command(items, out, server.url, "--answers", "logprobs")) == 0
    assert "median of option_mass" in " ".join(capsys.readouterr().err.split())


# --- kills ----------------------------------------------------------------------------------------


def kill_at_random(items: Path, out: Path, kills: int, seed: int) -> tuple[int, Counter[int], dict[int, int]]:
    """Kill a run through an endpoint again and again; then let it end.

    Gives the kills at work, how often each question was asked, and how often one that was kept was asked.
    """
    rng = random.Random(seed)
    asked: Counter[int] = Counter()
    kept: set[int] = set()
    again: dict[int, int] = {}
    lock = threading.Lock()

    def respond(_path: str, body: dict[str, Any]) -> Response:
        n = number_of(body)
        with lock:
            asked[n] += 1
            if n in kept:
                again[n] = again.get(n, 0) + 1
        time.sleep(0.005)
        return 200, chat(f"Answer: {'ABCD'[n % 3]}"), {}

    killed = 0
    with serve(respond) as server:
        line = [sys.executable, "-m", "maskedadv", *map(str, command(items, out, server.url))]
        while killed < kills:
            begun = sum(asked.values())
            process = subprocess.Popen(
                line, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            wanted = rng.randrange(1, 12)
            while process.poll() is None and sum(asked.values()) < begun + wanted:
                time.sleep(0.002)
            time.sleep(rng.random() * 0.01)
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            time.sleep(0.02)  # requests under way reach the server
            with lock:
                for path in out.rglob("*.journal"):
                    kept |= {int(sorted_names(items)[k][1:]) for k in read_journal(path, 10_000)}
        assert subprocess.run(line, env=ENVIRONMENT, capture_output=True).returncode == 0
    return killed, asked, again


def sorted_names(items: Path) -> list[str]:
    return sorted(json.loads(line)["item"] for line in items.read_text("utf-8").splitlines())


def check_kills(tmp_path: Path, questions: int, kills: int) -> int:
    items = write_questions(tmp_path / "set.jsonl", questions)
    killed, asked, again = kill_at_random(items, tmp_path / "out", kills, 3)
    assert again == {}  # nothing that was kept was asked again
    assert set(asked) == set(range(questions))
    assert sum(asked.values()) <= questions + 8 * killed  # only what was under way at a kill
    with serve(lambda _p, b: (200, chat(f"Answer: {'ABCD'[number_of(b) % 3]}"), {})) as calm:
        assert run(*command(items, tmp_path / "calm", calm.url)) == 0
    pd.testing.assert_frame_equal(rows(tmp_path / "out"), rows(tmp_path / "calm"))
    assert not list((tmp_path / "out").rglob("*.journal"))
    return killed


def test_killed_in_the_middle_of_a_language(tmp_path: Path) -> None:
    assert check_kills(tmp_path, 40, 2) >= 1


@pytest.mark.slow
def test_killed_fifty_times(tmp_path: Path) -> None:
    assert check_kills(tmp_path, 400, 50) == 50


def test_an_interrupt_keeps_what_was_answered(tmp_path: Path) -> None:
    """An interrupted run leaves its answers and no temporary file."""
    items = write_questions(tmp_path / "set.jsonl", 400)
    asked: list[int] = []

    def slower(*_: object) -> tuple[int, object, dict[str, str]]:
        asked.append(1)  # however busy the machine, the run is not over before the interrupt comes
        time.sleep(0.0 if len(asked) < 100 else 0.5)
        return 200, chat(), {}

    with serve(slower) as server:
        line = [sys.executable, "-m", "maskedadv", *map(str, command(items, tmp_path / "out", server.url))]
        process = subprocess.Popen(
            line,
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while len(server.requests) < 50:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        process.wait(60)
    assert not list((tmp_path / "out").rglob("*.partial"))
    (journal,) = (tmp_path / "out").rglob("*.journal")
    assert len(read_journal(journal, 400)) >= 40
