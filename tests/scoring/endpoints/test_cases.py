"""Odd replies of real servers, each with what has to come of it: tests/data/endpoint, a folder each."""

from __future__ import annotations

import json
import math
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("httpx2")

from tests.scoring.endpoints.scripted import Response, serve
from tests.scoring.launch.test_launch import run

CASES = Path(__file__).parents[2] / "data" / "endpoint"
# name: options of the command, exit code, columns of the only row, words of the command
EXPECTED: dict[str, tuple[tuple[str, ...], int, dict[str, Any], str]] = {
    "api_content_list": ((), 0, {"correct": 1, "reason": "", "said": "The answer is B."}, ""),
    "api_context_size": (
        (),
        1,
        {"correct": None, "reason": "too_long"},
        "exceeds the available context size",
    ),
    "api_cut_off_thinking": ((), 1, {"correct": None, "reason": "answer_cut_off"}, ""),
    "api_llamacpp_completions_logprobs": (
        ("--answers", "logprobs", "--endpoint", "completions"),
        0,
        {"correct": 1, "reason": "", "option_logprobs": [-1.8, -0.22, -4.0, -5.0], "p_correct": 0.8083},
        "",
    ),
    "api_logprobs_greedy": (
        ("--answers", "logprobs"),
        0,
        {"correct": 1, "reason": "option_not_in_top", "p_correct": None, "crm_logit": None},
        "",
    ),
    "api_logprobs_thinking_first": (
        ("--answers", "logprobs"),
        1,
        {"correct": None, "reason": "thinks_first", "p_correct": None},
        "thinks_first",
    ),
    "api_logprobs_token_marks": (
        ("--answers", "logprobs"),
        0,
        {"correct": 1, "reason": "", "p_correct": 0.8051},
        "",
    ),
    "prompts_own_language": (
        ("--prompts", str(CASES / "prompts_own_language" / "prompts.toml")),
        0,
        {"correct": 1, "reason": ""},
        "",
    ),
}


def replay(name: str, tmp_path: Path, *options: str) -> tuple[int, Path]:
    folder = CASES / name
    status = int((folder / "status").read_text()) if (folder / "status").exists() else 200
    content = json.loads((folder / "response.json").read_text("utf-8"))
    with serve(lambda _path, _body: (status, content, {})) as server:
        command = (
            "score",
            "run",
            folder / "item.jsonl",
            "-o",
            tmp_path / "out",
            "-m",
            "m",
            "--api",
            server.url,
        )
        return run(*command, "--retries", "1", *options), tmp_path / "out" / "responses.parquet"


@pytest.mark.parametrize("name", EXPECTED)
def test_case(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options, code, columns, words = EXPECTED[name]
    found, table = replay(name, tmp_path, *options)
    said = " ".join(capsys.readouterr().err.split())
    assert found == code
    (row,) = pd.read_parquet(table).to_dict("records")
    for column, expected in columns.items():
        value = row[column]
        if expected is None:
            assert pd.isna(value), column
        elif isinstance(expected, list):
            assert list(value) == pytest.approx(expected)
        elif isinstance(expected, float):
            assert math.isclose(value, expected, abs_tol=1e-4), column
        else:
            assert value == expected, column
    assert words in said


def test_an_error_in_a_response_of_status_200_is_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, table = replay("api_error_in_200", tmp_path)
    said = capsys.readouterr().err
    assert code == 1
    assert "402" in said
    assert "Insufficient credits" in said
    assert not table.exists()


def test_a_date_to_wait_for_is_waited_for(tmp_path: Path) -> None:
    folder = CASES / "api_retry_after_date"
    content = json.loads((folder / "response.json").read_text("utf-8"))
    begun: list[float] = []

    def respond(_path: str, _body: dict[str, Any]) -> Response:
        begun.append(time.time())
        if begun[-1] - begun[0] < 3:
            until = formatdate(begun[0] + 4, usegmt=True)
            return 429, {"error": {"message": "slow down"}}, {"Retry-After": until}
        return 200, content, {}

    with serve(respond) as server:
        command = (
            "score",
            "run",
            folder / "item.jsonl",
            "-o",
            tmp_path / "out",
            "-m",
            "m",
            "--api",
            server.url,
        )
        assert run(*command, "--retries", "1") == 0
    assert len(begun) == 2
    assert set(pd.read_parquet(tmp_path / "out" / "responses.parquet")["correct"]) == {1}
