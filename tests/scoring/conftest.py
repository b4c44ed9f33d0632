"""Tiny models and tokenizers that the scoring tests share; nothing is downloaded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")

TEXTS = [
    "Question: What is the capital of Norway?\nA. Oslo\nB. Bergen\nC. Tromsø\nD. Hamar\nAnswer: A",
    "问题：中国的首都是哪里？\nA. 上海\nB. 北京\n答案：B",
    "सवाल: भारत की राजधानी क्या है?\nA. मुंबई\nB. दिल्ली\nउत्तर: B",
]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Threads that wait for each other on a busy machine make tiny models crawl."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def byte_tokenizer() -> Any:
    """A byte-level BPE tokenizer of 400 tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer


@pytest.fixture(scope="session")
def tiny_model(byte_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama of 30,000 parameters with its tokenizer, as a folder."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("models") / "tiny"
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=400,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    model = transformers.LlamaForCausalLM(config)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.3)
    model.save_pretrained(folder)
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_tokenizer, bos_token="<s>", eos_token="</s>"
    )
    wrapped.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    wrapped.save_pretrained(folder)
    return folder


def write_item_file(path: Path, languages: tuple[str, ...] = ("en", "zh"), count: int = 6) -> Path:
    """A small item file: `count` CA and `count` CS items in each language."""
    rows = [
        {
            "item": f"{subset}-{n}",
            "subset": subset,
            "language": language,
            "question": f"{language} {subset} question {n}, {'word ' * (n % 5)}?",
            "options": [f"option {k} of {n}" for k in range(2 + n % 4)],
            "answer": "AB"[n % 2],
        }
        for language in languages
        for subset in ("CA", "CS")
        for n in range(count)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path
