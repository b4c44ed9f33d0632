"""`maskedadv items`: item files of public sets, checked and brought into one schema."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli import (
    items_annotate,
    items_build,
    items_page,
    items_review,
    items_sample,
    items_translate,
)
from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.words.terminal import WIDTH, clean, format_table, shorten, to_json

if TYPE_CHECKING:
    from maskedadv.scoring.items.items import Item, Problem
    from maskedadv.scoring.items.sources import ItemSet


@click.group()
def command() -> None:
    """Multiple-choice items: read, check, convert; label, sample, translate, and build sets of them."""


def inputs(function: Any) -> Any:
    """PATHS, and what the files do not say."""
    for option in (
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="NAME=COLUMN",
            help="Another name of item, language, subset, question, options, answer or country; repeatable.",
        ),
        click.option(
            "--label",
            "labels",
            multiple=True,
            metavar="VALUE=CA|CS",
            help="What a value of the subset's column means; repeatable.",
        ),
        click.option("--key", help="How answers are keyed: letter, from-0, from-1 or text."),
        click.option("--country", help="Country of the locale cue of all CS items, such as CN."),
        click.option(
            "--subset-from", type=click.Path(path_type=Path), help="File with CA/CS labels by item id."
        ),
        click.option("--subset", type=click.Choice(["CA", "CS"]), help="Label of items without one."),
        click.option("--language", help="Language of all items, such as zh."),
        click.option(
            "--source", default="items", show_default=True, help="Public set; see maskedadv items sources."
        ),
        click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path)),
    ):
        function = option(function)
    return function


@command.command("sources")
def sources() -> None:
    """The public sets whose files can be read as they are."""
    from maskedadv.scoring.items.sources import source_names

    say(format_table(["source", "where from"], [[n, a] for n, a in source_names().items()], left=(0, 1)))


@command.command("check")
@inputs
@click.option("--pivot", default="en", show_default=True, help="Language that all items should be asked in.")
@click.option("--limit", default=10, show_default=True, help="Problems listed of each kind; 0 for all.")
@json_option
def check(limit: int, pivot: str, as_json: bool, **options: Any) -> None:
    """Count the items in PATHS (files or folders), and list what is wrong with them.

    Problems of one item: no right option, empty or equal options, hidden characters, damaged text. Between
    languages: another right option than in the others, an item without a counterpart.

    Leaves with exit code 2 if an item cannot be asked, which maskedadv score refuses, too, or if there is
    none; what differs between languages, or may be meant, is only told.
    """
    from maskedadv.scoring.items.items import TOLD, check_items

    found = _read(drop_bad=True, **options)
    problems = [*found.problems, *check_items(found.items, pivot)]
    code = 2 if not found.items or any(p.kind not in TOLD for p in problems) else 0
    if as_json:
        say(to_json(_report(found, problems)))
        sys.exit(code)
    say(_counts(found.items))
    for reason, count in found.dropped.items():
        say(f"{count:,} rows left out: {reason}.", err=True)
    if not found.items:
        say("\nNo item is left to ask.")
    elif not problems:
        say("\nNo problem found.")
    for kind, number in Counter(p.kind for p in problems).items():
        say(f"\n{kind}: {number:,}")
        some = [p for p in problems if p.kind == kind]
        for p in some[: limit or None]:
            where = f" [{p.language}]" if p.language else ""
            say(shorten(clean(f"  {p.item}{where}" + (f": {p.detail}" if p.detail else "")), WIDTH))
        if limit and number > limit:
            say(f"  ... and {number - limit:,} more (--limit 0 lists all)")
    sys.exit(code)


@command.command("convert")
@inputs
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write, .jsonl.")
@click.option("--clean", "cleaned", is_flag=True, help="Remove hidden characters; line ends become one kind.")
@click.option("--drop-bad", is_flag=True, help="Leave out rows that cannot be read, and count them.")
@click.option(
    "--unlabelled", is_flag=True, help="Keep items that are not labelled CA or CS, for items annotate."
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def convert(output: Path, cleaned: bool, overwrite: bool, **options: Any) -> None:
    """Write the items in PATHS as JSON lines in the project's own schema."""
    from maskedadv.errors import BadSetting, OutputExists
    from maskedadv.scoring.items.items import clean as clean_item
    from maskedadv.scoring.items.sources import write_items

    if output.suffix != ".jsonl":
        raise BadSetting(f"{output}: the output ends in .jsonl.")
    if output.exists() and not overwrite:
        raise OutputExists(f"{output} exists; choose another name or give --overwrite.")
    found = _read(**options)
    items = [clean_item(item) if cleaned else item for item in found.items]
    write_items(output, items)
    say(f"{len(items):,} items written to {clean(str(output))}.")
    for reason, count in found.dropped.items():
        say(f"{count:,} rows left out: {reason}.", err=True)


def _read(
    paths: tuple[Path, ...],
    source: str,
    subset_from: Path | None,
    columns: tuple[str, ...],
    labels: tuple[str, ...],
    **options: Any,
) -> ItemSet:
    from maskedadv.scoring.importers.labels import read_labels
    from maskedadv.scoring.items.sources import read_items

    if bad := [text for text in labels if "=" not in text]:
        raise click.UsageError(f"--label {bad[0]}: write VALUE=CA or VALUE=CS.")
    return read_items(
        paths,
        source,
        labels=read_labels(subset_from) if subset_from is not None else None,
        columns=parse_columns(columns),
        meanings={value: label for value, _, label in (text.rpartition("=") for text in labels)},
        **options,
    )


def parse_columns(columns: tuple[str, ...]) -> dict[str, str]:
    """NAME=COLUMN options as a dictionary."""
    if bad := [c for c in columns if "=" not in c]:
        raise click.UsageError(f"--column {bad[0]}: write NAME=COLUMN, such as item=sample_id.")
    return dict(c.split("=", 1) for c in columns)


def _counts(items: tuple[Item, ...]) -> str:
    numbers = Counter((x.language, x.subset) for x in items)
    rows = [
        [language, f"{numbers[language, 'CA']:,}", f"{numbers[language, 'CS']:,}"]
        for language in sorted({x.language for x in items})
    ]
    return format_table(["language", "CA", "CS"], rows)


def _report(found: ItemSet, problems: list[Problem]) -> dict[str, Any]:
    numbers = Counter((x.language, x.subset) for x in found.items)
    return {
        "items": [
            {"language": language, "subset": subset, "count": count}
            for (language, subset), count in sorted(numbers.items())
        ],
        "dropped": dict(found.dropped),
        "problems": [
            {"kind": p.kind, "item": p.item, "language": p.language, "detail": p.detail, "where": p.where}
            for p in problems
        ],
    }


for _module in (items_annotate, items_sample, items_translate, items_review, items_build, items_page):
    command.add_command(_module.command)
