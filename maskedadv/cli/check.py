"""`maskedadv check`: what a response table holds."""

from __future__ import annotations

import sys
from typing import Any

import click

from maskedadv.cli.options import json_option, responses_argument, settings_options
from maskedadv.cli.say import say
from maskedadv.words.numbers import number, plural
from maskedadv.words.terminal import format_table, records, to_json, wrap


@click.command()
@responses_argument
@settings_options(
    "locale",
    "pivot",
    "min_accuracy",
    "min_accuracy_on",
    "response",
    "estimator",
    "guessing",
    "options",
    response="",
)
@click.option("--cells", "show_cells", is_flag=True, help="Also list every cell (model, subset, language).")
@json_option
def command(responses: str, show_cells: bool, as_json: bool, **given: Any) -> None:
    """Read RESPONSES (CSV, Parquet file or folder), check it and say what it holds.

    Without --response: binary where the table has a column correct, else soft.
    Leaves with exit code 2 if the table is refused, or if a locale cannot be fitted.
    """
    from dataclasses import asdict

    from maskedadv.design.check import check

    given["locale"] = given["locale"] or None
    found = check(responses, **given)
    problems = {k: why for k, why in found.locales().items() if why}
    if as_json:
        say(
            to_json(
                {
                    "answers": found.answers,
                    "models": found.models,
                    "items": found.items,
                    "languages": found.languages,
                    "pivot": found.pivot,
                    "response": found.response,
                    "blocks": records(found.blocks),
                    "cells": records(found.cells),
                    "dropped": [asdict(d) for d in found.dropped],
                    "notes": found.notes,
                    "cannot_be_fitted": problems,
                }
            )
        )
        sys.exit(2 if problems else 0)
    say(
        f"{plural(found.answers, 'answer')} ({found.response}) of {plural(found.models, 'model')} in "
        f"{plural(len(found.languages), 'language')};\n"
        f"{found.items['CA']:,} CA and {found.items['CS']:,} CS items; pivot {found.pivot}."
    )
    say()
    rows = [
        [
            b["locale"],
            b["subset"],
            f"{b['models']}",
            f"{b['items']}",
            f"{b['shared_items']}",
            f"{b['answers']}",
            "-" if b["cells"] == 0 else f"{100 * b['missing']:.1f}%",
            number(b["accuracy_local"], 3),
            number(b["accuracy_pivot"], 3),
            f"{b['uninformative']}",
            f"{b['components']}",
            "yes" if b["fittable"] else "no",
        ]
        for b in records(found.blocks)
    ]
    header = [
        "locale",
        "set",
        "models",
        "items",
        "both",
        "answers",
        "miss",
        "local",
        "pivot",
        "same",
        "parts",
        "fit",
    ]
    say(format_table(header, rows))
    say(
        "\nboth: items asked in both languages; miss: answers missing; local, pivot:\n"
        "accuracy in the two languages; same: items that every cell answered alike (no\n"
        "information on joint gaps); parts: connected components (levels compare only\n"
        "inside one)."
    )
    if show_cells:
        say()
        say(
            format_table(
                ["locale", "model", "set", "language", "items", "answers", "missing", "accuracy"],
                [
                    [
                        c["locale"],
                        c["model"],
                        c["subset"],
                        c["language"],
                        f"{c['items']}",
                        f"{c['answers']}",
                        f"{100 * c['missing']:.1f}%",
                        number(c["accuracy"], 3),
                    ]
                    for c in records(found.cells)
                ],
                left=(0, 1, 2, 3),
            )
        )
    for note in found.notes:
        say("\n" + wrap(f"Note: {note}."))
    if found.dropped:
        say(f"\nModels left out for accuracy at or under {given['min_accuracy']:g}:")
        for d in found.dropped:
            say(wrap(str(d), indent="  "))
    for name, why in problems.items():
        say("\n" + wrap(f"Locale {name} cannot be fitted: {why}."))
    sys.exit(2 if problems else 0)
