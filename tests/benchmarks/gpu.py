"""`make bench-gpu`: scoring on a GPU beside lm-evaluation-harness, in under six minutes on one H200.

A random Llama of 1.1 billion parameters, so that nothing is downloaded. `--tiny` runs all of it with a small
model on the CPU, to see that it works before a GPU is paid for; its numbers mean nothing.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

N_ITEMS, N_THEIRS = 2800, 400  # as Global-MMLU-Lite in seven languages, and in one
BUDGETS = (4096, 8192, 16384, 65536)
AIM = {"share of the matrix limit": 0.65, "padding": 0.03, "times the harness": 3.0}


def run(*, tiny: bool = False) -> list[str]:
    """Markdown lines: items a second, share of the matrix limit, padding and peak memory."""
    import torch

    from maskedadv.scoring.models.size import matrix_rate
    from tests.benchmarks.scoring import harness, maskedadv, questions

    device = torch.device("cpu" if tiny else "cuda")
    dtype = torch.float32 if tiny else torch.bfloat16
    tokenizer, model = _model(tiny=tiny)
    model = model.to(device, dtype)
    rendered = questions(40 if tiny else N_ITEMS)
    few = rendered[: 10 if tiny else N_THEIRS]
    ends = {id(m.weight): m.weight.numel() for m in (model.get_input_embeddings(), model.lm_head)}
    body = sum(p.numel() for p in model.parameters()) - sum(ends.values())
    rate = matrix_rate(device, dtype)
    name = "the CPU, with numbers that mean nothing" if tiny else torch.cuda.get_device_name(device)
    short = str(dtype).removeprefix("torch.")
    theirs = harness(model, tokenizer, few, (4,) if tiny else (32, 64), device.type, short)
    lines = [
        f"Random Llama, {body / 1e6:,.0f} million parameters in the body, {short}, on {name}; matrix rate "
        f"{rate / 1e12:.2f} TFLOP/s; {len(rendered)} four-option items ({len(few)} for the harness).",
        "",
        "| | items/s | times the harness | share of the matrix limit | padding | peak memory, GiB |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| {theirs.what} | {len(few) / theirs.seconds:.1f} | 1.0 | | | |",
    ]
    for tokens in BUDGETS[:2] if tiny else BUDGETS:
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        ours, read, _, padding = maskedadv(model, tokenizer, rendered, tokens)
        peak = torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else 0.0
        speed, times = len(rendered) / ours.seconds, len(rendered) / ours.seconds * theirs.seconds / len(few)
        share = 2 * body * read / ours.seconds / rate
        lines.append(
            f"| maskedadv, {tokens:,} tokens a pass | {speed:.1f} | {times:.1f} | {share:.2f} | "
            f"{100 * padding:.1f}% | {peak:.1f} |"
        )
        difference = np.abs(ours.values[: len(few)] - theirs.values).max()
    aims = ", ".join(f"{what} {value}" for what, value in AIM.items())
    return [
        *lines,
        "",
        f"Largest difference of a log-probability from the harness's: {difference:.1e}, whose head is not in "
        f"float32. Seconds are of everything from text to numbers. Aims: {aims}.",
    ]


def _model(*, tiny: bool) -> tuple[Any, Any]:
    from tests.benchmarks.scoring import llama, small_tokenizer

    tokenizer = small_tokenizer()
    if tiny:
        return tokenizer, llama(len(tokenizer), 32, 64, 2, 4)
    return tokenizer, llama(32000, 2048, 5632, 22, 32, num_key_value_heads=4, tie_word_embeddings=False)


if __name__ == "__main__":
    print("\n".join(run(tiny="--tiny" in sys.argv[1:])))
