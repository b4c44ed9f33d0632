"""The options by which commands of `maskedadv items` reach models behind an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.say import remark, say

if TYPE_CHECKING:
    from maskedadv.scoring.endpoints.settings import ApiSettings

_OPTIONS = (
    click.option(
        "--api",
        "url",
        required=True,
        help="Base address of an OpenAI-compatible endpoint, or the name of an environment variable that "
        "holds it. The key is taken from OPENAI_API_KEY.",
    ),
    click.option(
        "--words", "in_words", is_flag=True, help="Do not ask for structured output, even where there is."
    ),
    click.option("--max-answer-tokens", default=2048, show_default=True, help="Longest answer."),
    click.option("--concurrency", default=8, show_default=True, help="Questions at a time."),
    click.option("--retries", default=5, show_default=True, help="Tries after the first."),
    click.option("--timeout", default=120.0, show_default=True, help="Seconds that a try may take."),
    click.option("--price-in", default=0.0, help="Price of a million tokens read."),
    click.option("--price-out", default=0.0, help="Price of a million tokens written."),
    click.option("--max-cost", type=float, help="Stop before this is passed, all models and tries together."),
    click.option("--plan", is_flag=True, help="Say what is left to ask, and what it may cost; ask nothing."),
    click.option("--again", is_flag=True, help="Ask anew where a server failed."),
    click.option("--overwrite", is_flag=True, help="Replace another file of this name."),
)


def model_options(function: Any) -> Any:
    """How models are reached, and what they may cost."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def settings_of_models(
    models: tuple[str, ...],
    *,
    in_words: bool,
    max_cost: float | None,
    **options: Any,
) -> dict[str, ApiSettings]:
    """Settings by the name that a model gets in the table."""
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.endpoints.purse import Purse
    from maskedadv.scoring.endpoints.settings import ApiSettings

    purse = None if max_cost is None else Purse(max_cost)
    found: dict[str, ApiSettings] = {}
    for text in models:
        name, equals, model = text.partition("=")
        if not name or (equals and not model):
            raise BadSetting(f"-m {text!r}: write a model, or NAME=MODEL.")
        if name in found:
            raise BadSetting(f"two models are called {name!r}; name them apart with -m NAME=MODEL.")
        answers = "text" if in_words else "choice"
        found[name] = ApiSettings(model or name, answers=answers, purse=purse, **options)
    return found


def raw_answers(output: Path) -> Path:
    """The file beside a table that keeps every raw answer."""
    return output.with_name(output.name + ".said")


def echo_plan(rows: list[tuple[str, ApiSettings, tuple[int, tuple[int, int], tuple[int, int]]]]) -> None:
    """What is left to ask, and what it costs: about, and at most."""
    from maskedadv.scoring.endpoints.cost import price
    from maskedadv.words.terminal import format_table

    table = []
    for name, settings, (count, usual, most) in rows:
        priced = settings.price_in or settings.price_out
        money = [f"{price(settings, *tokens):,.2f}" if priced else "-" for tokens in (usual, most)]
        table.append([name, f"{count:,}", f"{usual[0]:,}", *money])
    say(format_table(["model", "to ask", "tokens read", "about", "at most"], table))
    if any(s.price_in or s.price_out for _, s, _ in rows):
        remark(
            "About: four bytes a token, and answers as long as they may be. At most: a token for every byte, "
            "and every answer repaired once. Tries of a server that fails may cost as much again; "
            "--max-cost holds for all of them."
        )
