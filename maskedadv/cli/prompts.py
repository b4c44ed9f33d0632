"""`maskedadv prompts`: how questions are asked in each language."""

from __future__ import annotations

from pathlib import Path

import click

from maskedadv.cli.say import say, say_data
from maskedadv.words.terminal import clean, format_table

_FILE = click.option("--prompts", "file", type=click.Path(path_type=Path), help="Prompts of your own on top.")


@click.group()
def command() -> None:
    """How questions are asked in each language."""


@command.command("list")
@_FILE
def list_languages(file: Path | None) -> None:
    """The languages that have a prompt, with labels and an example of the country cue."""
    from maskedadv.scoring.prompts.prompts import load_prompts

    prompts = load_prompts(file)
    rows = []
    for code, words in sorted(prompts.languages.items()):
        cue = words.cue.format(place=next(iter(words.places.values()))) if words.places else ""
        rows.append([code, words.question + words.colon, words.answer + words.colon, cue.strip()])
    say(format_table(["language", "question", "answer", "cue"], rows, left=(0, 1, 2, 3)))


@command.command("show")
@click.option("--language", required=True, help="Language to show, such as zh.")
@click.option("--country", help="Country of the cue; default: the language's first.")
@_FILE
def show(language: str, country: str | None, file: Path | None) -> None:
    """Print the prompt of one language for a placeholder question."""
    from maskedadv.scoring.items.items import Item
    from maskedadv.scoring.prompts.prompts import hash_of, load_prompts, render, words_of

    prompts = load_prompts(file)
    places = words_of(language, prompts).places
    place = country or next(iter(places), "")
    item = Item("example", "CS", language, "…?", ("…", "…", "…", "…"), 0, place)
    rendered = render(item, prompts)
    say_data(rendered.prompt + "\n")
    forms = ", ".join(repr(form) for forms in rendered.options for form in forms)
    say(
        clean(f"Continuations: {forms}. Prompt version {prompts.version}, hash {hash_of([rendered])[:12]}."),
        err=True,
    )
