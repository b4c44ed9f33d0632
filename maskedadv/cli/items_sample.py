"""`maskedadv items sample`: a sample of items by locale and subject."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.words.terminal import clean, format_table, to_json


@click.command("sample")
@click.argument("items", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File to write, .jsonl or .parquet.",
)
@click.option("--cap", default=1000, show_default=True, help="Most items of a locale.")
@click.option(
    "--subject", default="subject", show_default=True, help="Column with the subject in the items' source."
)
@click.option("--no-subject", is_flag=True, help="Take no heed of subjects.")
@click.option(
    "--subset", type=click.Choice(["CA", "CS"]), help="Sample only these; the others stay. Default: all."
)
@click.option("--pivot", default="en", show_default=True, help="Language whose rows follow the local ones.")
@click.option("--seed", default=1, show_default=True, help="Of the random order of items.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@json_option
def command(
    items: tuple[Path, ...],
    output: Path,
    cap: int,
    subject: str,
    no_subject: bool,
    subset: str | None,
    pivot: str,
    seed: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Take at most CAP of the ITEMS of each locale, in proportion to their subjects.

    Of every subject at least one. The same seed takes the same items, whatever their order in the files.
    """
    from maskedadv.errors import OutputExists
    from maskedadv.scoring.item_sets.item_files import check_item_file, write_item_file
    from maskedadv.scoring.item_sets.sample import sample_items
    from maskedadv.scoring.items.sources import read_items

    check_item_file(output)
    if output.is_dir() or (output.exists() and not overwrite):
        raise OutputExists(f"{output} exists; choose another name or give --overwrite.")
    found = read_items(items, unlabelled=True).items
    named = None if no_subject else subject
    sample = sample_items(found, cap, subject=named, subset=subset, pivot=pivot, seed=seed)
    write_item_file(output, sample.items)
    if as_json:
        say(to_json({"items": len(sample.items), "strata": [asdict(s) for s in sample.strata]}))
        return
    rows = [[s.language, s.subject, f"{s.available:,}", f"{s.taken:,}"] for s in sample.strata]
    say(format_table(["language", "subject", "available", "taken"], rows, left=(0, 1)))
    say(f"\n{len(sample.items):,} of {len(found):,} items (seed {seed}) written to {clean(str(output))}.")
