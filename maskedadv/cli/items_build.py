"""`maskedadv items build`: an item set by one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.items_models import echo_plan
from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say, say_over
from maskedadv.words.terminal import clean, format_table, to_json

if TYPE_CHECKING:
    from maskedadv.scoring.item_sets.build import ItemSetBuilt

_COLUMNS = ("read", "labelled CS", "labelled CA", "sampled", "translated", "flagged", "CS", "CA")
_SHORT = ("read", "as CS", "as CA", "sampled", "transl.", "flagged", "CS", "CA")


@click.command("build")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the set.")
@click.option("--max-cost", type=float, help="Stop before this is passed, all models and tries together.")
@click.option("--plan", is_flag=True, help="Say what is left to ask, and what it may cost; ask nothing.")
@click.option("--again", is_flag=True, help="Ask anew where a server failed.")
@click.option("--overwrite", is_flag=True, help="Take over the folder of another set.")
@json_option
def command(
    file: Path,
    output: Path,
    max_cost: float | None,
    plan: bool,
    again: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Build the item set that FILE (TOML) describes: annotate, sample, translate, review, merge.

    Writes OUTPUT/items.parquet, which maskedadv score takes, and a data card. The same command again makes
    only what is missing or has changed.
    """
    from maskedadv.scoring.endpoints.purse import Purse
    from maskedadv.scoring.item_sets.build import build_item_set, what_is_left

    purse = None if max_cost is None else Purse(max_cost)
    if plan:
        rows = what_is_left(file, output, purse)
        return echo_plan([(f"{step} {name}", settings, left) for step, name, settings, left in rows])
    built = build_item_set(file, output, purse=purse, again=again, overwrite=overwrite, report=say_over)
    say(to_json(built.card) if as_json else _print(built, output))
    if built.reviewed is None:
        remark("No person has looked at the set yet; see maskedadv items review.")
    if built.failed:
        remark(f"{built.failed:,} answers are missing since a server failed; --again asks for them.")
    return None


def _print(built: ItemSetBuilt, output: Path) -> str:
    rows = [[r["language"], *(f"{r[name]:,}" for name in _COLUMNS)] for r in built.card["counts"]]
    text = format_table(["language", *_SHORT], rows)
    left: dict[str, int] = {}
    for r in built.card["left_out"]:
        name = f"{r['step']}: {r['reason']}"
        left[name] = left.get(name, 0) + r["items"]
    if left:
        text += "\n\nLeft out:\n" + "\n".join(f"  {n:,} {name}" for name, n in left.items())
    made = f"Made now: {', '.join(built.made)}." if built.made else "Nothing has changed."
    return f"{text}\n\n{made}\nThe set: {clean(str(output / 'items.parquet'))}; its card: card.md."
