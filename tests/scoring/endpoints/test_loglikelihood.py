"""Whole log-probabilities through a server that computes them: what the local backend computes."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("httpx2")
pytest.importorskip("torch")

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.loglikelihood import make_codec, score_options
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.talk import connect
from maskedadv.scoring.models.encode import Encoded
from tests.scoring.conftest import write_item_file
from tests.scoring.endpoints.scripted import Response, Scripted, serve
from tests.scoring.launch.test_launch import run

LANGUAGES = ("en", "zh", "ar", "hi")


class Real:
    """A server's answers, computed by a real model: prompt_logprobs as vLLM, echo as the older interface."""

    def __init__(
        self, folder: Path, *, modes: tuple[str, ...] = ("prompt_logprobs", "echo"), lists: bool = True
    ):
        import transformers

        self.modes, self.lists = modes, lists
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.lock = threading.Lock()

    def logprobs(self, ids: list[int]) -> list[float]:
        import torch

        with self.lock, torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([ids])).logits[0, :-1].double().log_softmax(-1)
        return [float(row[token]) for row, token in zip(logits, ids[1:], strict=True)]

    def __call__(self, path: str, body: dict[str, Any]) -> Response:
        if path == "/tokenize":
            ids = self.tokenizer(body["prompt"], add_special_tokens=body["add_special_tokens"])["input_ids"]
            return 200, {"tokens": ids, "count": len(ids)}, {}
        if path == "/detokenize":
            return 200, {"prompt": self.tokenizer.decode(body["tokens"])}, {}
        assert path == "/v1/completions"
        prompts = body["prompt"]
        if not isinstance(prompts[0], list):
            prompts = [prompts]
        elif not self.lists:
            return 422, {"detail": [{"msg": "prompt: value is not a valid list of integers"}]}, {}
        if max(map(len, prompts)) >= 512:
            return 400, {"error": {"message": "This model's maximum context length is 512 tokens."}}, {}
        choices = [self.choice(k, ids, body) for k, ids in enumerate(prompts)]
        usage = {"prompt_tokens": sum(map(len, prompts)), "completion_tokens": len(prompts)}
        return 200, {"choices": choices[::-1], "usage": usage}, {}  # order is told by the index

    def choice(self, place: int, ids: list[int], body: dict[str, Any]) -> dict[str, Any]:
        values = self.logprobs(ids)
        choice: dict[str, Any] = {"index": place, "text": "x", "finish_reason": "length", "logprobs": None}
        if "prompt_logprobs" in body and "prompt_logprobs" in self.modes:
            rows = [
                {str(t): {"logprob": x, "rank": 1}, "0": {"logprob": -1.0}}
                for t, x in zip(ids[1:], values, strict=True)
            ]
            choice["prompt_logprobs"] = [None, *rows]
        if body.get("echo") and "echo" in self.modes:
            choice["logprobs"] = {"tokens": ["t"] * (len(ids) + 1), "token_logprobs": [None, *values, -0.5]}
        return choice


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_item_file(tmp_path_factory.mktemp("items") / "set.jsonl", LANGUAGES, 4)


@pytest.fixture(scope="module")
def local(tiny_model: Path, items: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    out = tmp_path_factory.mktemp("local")
    assert run("score", "run", items, "-o", out, "-m", f"m={tiny_model}", "--device", "cpu") == 0
    return pd.read_parquet(out / "responses.parquet")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Prompts whose letters are several tokens long, and items that need them."""
    folder = tmp_path_factory.mktemp("several")
    words = 'question = "Q"\nanswer = "A"\ncolon = ":"\nword_space = " "\ncue = "{place}, "\nplaces = {}\n'
    letters = 'letters = ["①甲", "②乙", "③丙", "ক", "খ", "x9"]\n'
    (folder / "mine.toml").write_text(f'version = "1"\n[en]\n{words}{letters}[zh]\n{words}{letters}', "utf-8")
    return folder / "mine.toml", write_item_file(folder / "set.jsonl", ("en", "zh"), 4)


def compare(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    assert list(found["item"]) == list(expected["item"])
    for a, b in zip(found["option_logprobs"], expected["option_logprobs"], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    for column in ("correct", "n_tail_tokens", "reason", "tied"):
        pd.testing.assert_series_equal(found[column], expected[column])
    np.testing.assert_allclose(found["crm_logit"], expected["crm_logit"], atol=1e-4)
    np.testing.assert_allclose(found["option_mass"], expected["option_mass"], atol=1e-4)


def asked(server: Scripted, items: Path, out: Path, *more: object) -> pd.DataFrame:
    command = ("score", "run", items, "-o", out, "-m", "m", "--api", server.url, "--answers", "loglikelihood")
    assert run(*command, *more) == 0
    return pd.read_parquet(out / "responses.parquet")


@pytest.mark.parametrize("mode", ["prompt_logprobs", "echo"])
@pytest.mark.parametrize("lists", [True, False])
def test_a_server_gives_what_the_local_backend_computes(
    mode: str, lists: bool, tiny_model: Path, items: Path, local: pd.DataFrame, tmp_path: Path
) -> None:
    with serve(Real(tiny_model, modes=(mode,), lists=lists)) as server:
        found = asked(server, items, tmp_path / "out")
    compare(found, local)
    assert set(found["asked_with"]) == {mode}
    assert {path for path, _ in server.requests} == {"/tokenize", "/detokenize", "/v1/completions"}


@pytest.mark.parametrize("named", [True, False])
def test_options_of_several_tokens(
    named: bool, tiny_model: Path, several: tuple[Path, Path], tmp_path: Path
) -> None:
    """Tails and all, with the server's tokenizer and with one that is named."""
    prompts, items = several
    command = ("score", "run", items, "-o", tmp_path / "local", "-m", f"m={tiny_model}", "--device", "cpu")
    assert run(*command, "--prompts", prompts) == 0
    expected = pd.read_parquet(tmp_path / "local" / "responses.parquet")
    assert expected["n_tail_tokens"].max() > 3
    more = ("--tokenizer", tiny_model) if named else ()
    with serve(Real(tiny_model)) as server:
        found = asked(server, items, tmp_path / "out", "--prompts", prompts, *more)
    compare(found, expected)
    assert named != any(path == "/tokenize" for path, _ in server.requests)


def test_both_forms_of_the_letters_and_a_run_that_is_taken_up(
    tiny_model: Path, items: Path, tmp_path: Path
) -> None:
    command = ("score", "run", items, "-o", tmp_path / "local", "-m", f"m={tiny_model}", "--device", "cpu")
    assert run(*command, "--letter-forms", "both") == 0
    real, state = Real(tiny_model), {"left": 9}

    def dying(path: str, body: dict[str, Any]) -> Response:
        if path == "/v1/completions":
            if state["left"] <= 0:
                return 503, {"error": {"message": "shutting down"}}, {}
            state["left"] -= 1
        return real(path, body)

    more = ("--letter-forms", "both", "--retries", 0)
    with serve(dying) as server:
        first = asked(server, items, tmp_path / "out", *more)
        assert first["correct"].notna().sum() == 9
        state["left"] = 10_000
        found = asked(server, items, tmp_path / "out", *more, "--again")
    assert state["left"] == 10_000 - 23  # the nine are not asked again
    compare(found, pd.read_parquet(tmp_path / "local" / "responses.parquet"))


def test_too_long_is_the_servers_word(tiny_model: Path, tmp_path: Path) -> None:
    path = write_item_file(tmp_path / "set.jsonl", ("en",), 2)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["question"] = "long " * 600
    path.write_text("\n".join(map(json.dumps, rows)))
    with serve(Real(tiny_model)) as server:
        found = asked(server, path, tmp_path / "out")
    assert list(found["reason"]) == ["", "too_long", "", ""]


def test_many_requests_are_in_flight(tiny_model: Path, items: Path, tmp_path: Path) -> None:
    """All questions wait for each other at a gate that opens when eight are there."""
    real, gate = Real(tiny_model), threading.Barrier(8)

    def gated(path: str, body: dict[str, Any]) -> Response:
        if path == "/v1/completions":
            gate.wait(60)
        return real(path, body)

    with serve(gated) as server:
        assert len(asked(server, items, tmp_path / "out", "--concurrency", 8)) == 32


ENCODED = Encoded((1, 2, 3), (((4,),), ((5, 6),)))


def values(*numbers: Any) -> dict[str, Any]:
    """A choice of vLLM's for the option 5 6."""
    return {
        "index": 0,
        "text": "",
        "prompt_logprobs": [None, *[{str(t): {"logprob": x}} for t, x in numbers]],
    }


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (
            {"choices": [{"index": k, "text": "x", "logprobs": None} for k in range(2)]},
            "gives no log-probabilities",
        ),
        (
            {
                "choices": [
                    {"index": k, "text": "", "logprobs": {"token_logprobs": [-1.0]}} for k in range(2)
                ],
            },
            "gives no log-probabilities",
        ),
        (
            {"choices": [{"index": k, "text": ""} for k in range(2)], "usage": {"prompt_tokens": 11}},
            "read 11 tokens where 9 were sent",
        ),
    ],
)
def test_a_server_that_cannot_is_refused_in_words(response: dict[str, Any], said: str) -> None:
    with serve(lambda _p, _b: (200, response, {})) as server:
        talk = connect(ApiSettings("m", server.url, answers="loglikelihood"))
        with pytest.raises(EndpointFailed, match=said):
            score_options(talk, ENCODED)


@pytest.mark.parametrize("bad", [-9999.0, None, "x", 3.0, float("nan")])
def test_a_number_that_is_none_makes_the_answer_not_observed(bad: Any) -> None:
    def respond(_path: str, _body: dict[str, Any]) -> Response:
        first = values((2, -1.0), (3, -1.0), (4, -0.5))
        second = values((2, -1.0), (3, -1.0), (5, bad), (6, -0.5)) | {"index": 1}
        return 200, {"choices": [first, second]}, {}

    with serve(respond) as server:
        answer = score_options(connect(ApiSettings("m", server.url, answers="loglikelihood")), ENCODED)
    assert answer.reason == "not_finite"
    assert np.isnan(answer.logprobs).all()


def test_a_server_without_a_tokenizer_is_told_what_to_name() -> None:
    with serve(lambda _p, _b: (404, {"detail": "Not Found"}, {})) as server:
        talk = connect(ApiSettings("m", server.url, answers="loglikelihood"))
        with pytest.raises(EndpointFailed, match="--tokenizer"):
            make_codec(talk)
