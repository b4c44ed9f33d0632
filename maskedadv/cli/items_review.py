"""`maskedadv items review`: people check labels and translations, and what they say decides."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say
from maskedadv.words.numbers import number
from maskedadv.words.terminal import clean, format_table, to_json

if TYPE_CHECKING:
    import pyarrow as pa

    from maskedadv.annotation import AnnotationResult


@click.group("review")
def command() -> None:
    """People check items: labels and translations."""


@command.command("start")
@click.argument("paths", metavar="ITEMS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the review.")
@click.option(
    "--translations",
    type=click.Path(path_type=Path),
    help="Counterparts that a model made, with its flags.",
)
@click.option(
    "--suggest",
    type=click.Path(path_type=Path),
    help="A model's labels to start from. Agreement with it then says little.",
)
@click.option(
    "--reviewer", "reviewers", multiple=True, help="Name of somebody who gets an account; repeatable."
)
@click.option("--per-item", default=3, show_default=True, help="How many people look at an item.")
@click.option("--port", default=8080, show_default=True, help="Port on 127.0.0.1; 0 for any that is free.")
@click.option("--environment", type=click.Path(path_type=Path), help="Folder to install Label Studio in.")
@click.option(
    "--tool", default="label-studio", show_default=True, type=click.Choice(["label-studio", "argilla"])
)
@click.option("--url", default="", help="A server of your own instead.")
@click.option("--token-variable", default="", help="Environment variable with the token of --url.")
@click.option("--workspace", default="", help="Workspace of Argilla. Default: its first.")
def start(
    paths: tuple[Path, ...], output: Path, translations: Path | None, suggest: Path | None, **options: Any
) -> None:
    """Let people check ITEMS (files of the project's own schema) in Label Studio.

    Installs Label Studio into an environment of its own the first time, makes accounts and a project for each
    language, and serves them on 127.0.0.1 until Ctrl-C. The same command goes on later.
    """
    from maskedadv.scoring.item_sets import tables
    from maskedadv.scoring.item_sets.review import started
    from maskedadv.scoring.item_sets.review.folder import accounts_path
    from maskedadv.scoring.items.sources import read_items

    found = read_items(paths)
    made = (
        None
        if translations is None
        else tables.read_table(translations, tables.TRANSLATIONS, "the translations")
    )
    labels = (
        None
        if suggest is None
        else tables.read_table(suggest, tables.ANNOTATIONS, "the labels to start from")
    )
    with started(found.items, output, translations=made, suggest=labels, report=_say, **options) as review:
        say(f"{review.n_tasks:,} items to look at:")
        for name, address in review.pages.items():
            say(f"  {name}: {address}")
        if options["url"]:
            say(f"They are at {review.url}. When people are done: maskedadv items review export {output} ...")
            return
        say(f"Label Studio runs at {review.url}; accounts and passwords: {accounts_path(output)}.")
        say("Ctrl-C ends it; nothing is lost, and the same command goes on.")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            say("Label Studio has ended.", err=True)


@command.command("export")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Table to write, .parquet."
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def export(source: Path, output: Path, overwrite: bool) -> None:
    """Write what people did in SOURCE as a table: a row per item, language and person.

    SOURCE is the folder of a review, or a JSON file exported from Label Studio. The table is what
    maskedadv annotation evaluate takes.
    """
    from maskedadv.scoring.item_sets.review import export as exported
    from maskedadv.scoring.item_sets.tables import write_step

    _check(output, overwrite=overwrite)
    table = exported(source, report=_say)
    write_step(output, table)
    people = Counter(table["annotator"].to_pylist())
    items = len({*zip(table["item"].to_pylist(), table["language"].to_pylist(), strict=True)})
    say(
        f"{table.num_rows:,} answers of {len(people)} people on {items:,} items written to "
        f"{clean(str(output))}."
    )
    say(format_table(["person", "items"], [[clean(who), f"{n:,}"] for who, n in sorted(people.items())]))


@command.command("import")
@click.argument(
    "paths",
    metavar="PEOPLE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Decisions to write, .parquet."
)
@click.option("--least", default=2, show_default=True, help="People who must have answered, at least.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
@json_option
def import_(paths: tuple[Path, ...], output: Path, least: int, overwrite: bool, as_json: bool) -> None:
    """Decide by majority of PEOPLE (tables of review export) which items stay, and how they are labelled.

    maskedadv items build takes the decisions. Items that fail stay out, with the reason.
    """
    from maskedadv.annotation import evaluate
    from maskedadv.scoring.item_sets.review import decide
    from maskedadv.scoring.item_sets.review.form import CHOICES
    from maskedadv.scoring.item_sets.review.people import read_people
    from maskedadv.scoring.item_sets.tables import write_step

    _check(output, overwrite=overwrite)
    people = read_people(paths)
    decisions = decide(people, least=least)
    write_step(output, decisions)
    fields = tuple(x.name for x in CHOICES if any(people[x.name].to_pylist()))
    columns = ["item", "language", "annotator", *fields]
    agreement = evaluate(people.select(columns).to_pandas(), wanted=fields)
    kept, out = _counts(decisions)
    if as_json:
        rows = agreement.agreement.to_dict("records")
        say(to_json({"kept": kept, "left_out": out, "agreement": rows}))
        return
    say(f"{kept:,} of {decisions.num_rows:,} items stay; decisions written to {clean(str(output))}.")
    if out:
        say(format_table(["left out because", "items"], [[kind, f"{n:,}"] for kind, n in out.items()]))
    say("\n" + _agreement(agreement))


def _counts(decisions: pa.Table) -> tuple[int, dict[str, int]]:
    """How many items stay, and how many do not by the kind of reason."""
    kinds = Counter(reason.split(":")[0] for reason in decisions["reason"].to_pylist() if reason)
    return decisions.num_rows - sum(kinds.values()), dict(kinds.most_common())


def _agreement(found: AnnotationResult) -> str:
    rows = [
        [r["field"], str(r["n_items"]), number(100 * r["unanimous"], 1), number(r["alpha"])]
        for r in found.agreement.to_dict("records")
        if r["language"] == "all"
    ]
    return format_table(["agreement of people", "items", "all agree %", "alpha"], rows)


def _check(output: Path, *, overwrite: bool) -> None:
    from maskedadv.errors import BadSetting
    from maskedadv.files.atomic import check_table_output

    if output.suffix != ".parquet":
        raise BadSetting(f"{output}: the output ends in .parquet.")
    check_table_output(output, overwrite=overwrite)


def _say(text: str) -> None:
    remark(clean(text) + " ...")
