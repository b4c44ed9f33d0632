"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

responses_argument = click.argument("responses", type=click.Path(path_type=str))


def table_options(command: F) -> F:
    """--locale, --pivot and --min-accuracy: what part of a table is meant."""
    for option in (
        click.option(
            "--min-accuracy",
            type=float,
            default=0.35,
            show_default=True,
            help="Leave a model out of a locale unless it exceeds this in each of its cells; 0 keeps all.",
        ),
        click.option("--pivot", default="en", show_default=True, help="Language to compare with."),
        click.option(
            "--locale",
            "locale",
            multiple=True,
            help="Local language to take; may be given several times. Default: all but the pivot.",
        ),
    ):
        command = option(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
