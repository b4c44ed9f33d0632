"""The options that `maskedadv score plan` and `maskedadv score run` share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_OPTIONS = (
    click.argument("items", nargs=-1, required=True, type=click.Path(path_type=Path)),
    click.option(
        "-m",
        "--model",
        "models",
        multiple=True,
        required=True,
        metavar="[NAME=]MODEL[@REVISION]",
        help="Folder or name on the hub (or at the endpoint); NAME stands in the table. Repeatable.",
    ),
    click.option(
        "-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the answers."
    ),
    click.option("--language", "languages", multiple=True, help="Only these languages; repeatable."),
    click.option("--prompts", "prompt_file", type=click.Path(path_type=Path), help="Prompts of your own."),
    click.option(
        "--letter-forms",
        type=click.Choice(["context", "both"]),
        default="context",
        show_default=True,
        help="The letter as it stands after the label, or the sum over that and the bare letter.",
    ),
    click.option("--drop-bad", is_flag=True, help="Leave out items that cannot be asked, and count them."),
    click.option("--dtype", default="auto", show_default=True, help="float32, bfloat16 or float16."),
    click.option(
        "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1; split: one model, all GPUs."
    ),
    click.option("--attention", default="auto", show_default=True, help="sdpa, eager, flash_attention_2."),
    click.option(
        "--max-tokens-per-batch", default="auto", show_default=True, help="Tokens of a pass, with padding."
    ),
    click.option("--trust-remote-code", is_flag=True, help="Run code that comes with a model."),
    click.option(
        "--api",
        "url",
        help="Base address of an OpenAI-compatible endpoint that has the models, or the name of an "
        "environment variable that holds it (an address with a password must not be written here).",
    ),
    click.option(
        "--answers",
        type=click.Choice(["text", "choice", "logprobs", "loglikelihood"]),
        default="text",
        show_default=True,
        help="API: written answers; one of the letters by structured output; log-probabilities of the first "
        "token; those of the options as a local model gives them.",
    ),
    click.option(
        "--endpoint",
        type=click.Choice(["chat", "completions"]),
        default="chat",
        show_default=True,
        help="API.",
    ),
    click.option(
        "--top-logprobs", default=20, show_default=True, help="API: most probable tokens asked for."
    ),
    click.option("--max-answer-tokens", default=512, show_default=True, help="API: longest answer."),
    click.option("--concurrency", default=8, show_default=True, help="API: questions at a time."),
    click.option("--retries", default=5, show_default=True, help="API: tries after the first."),
    click.option("--timeout", default=120.0, show_default=True, help="API: seconds a try may take."),
    click.option(
        "--tokenizer", help="API, loglikelihood: the model's tokenizer; default: the server's /tokenize."
    ),
    click.option("--price-in", default=0.0, help="API: price of a million tokens read."),
    click.option("--price-out", default=0.0, help="API: price of a million tokens written."),
    click.option(
        "--max-cost", type=float, help="API: stop before this is passed, all models and tries together."
    ),
)


def score_options(function: Any) -> Any:
    """Items, models, and how they are asked."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
