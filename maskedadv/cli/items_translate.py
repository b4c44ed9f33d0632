"""`maskedadv items translate`: counterparts of local items by a model."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.items_models import (
    echo_plan,
    model_options,
    raw_answers,
    settings_of_models,
)
from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say, say_over
from maskedadv.words.numbers import number
from maskedadv.words.terminal import clean, format_table, to_json

if TYPE_CHECKING:
    import pyarrow as pa


@click.command("translate")
@click.argument("items", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-m", "--model", required=True, metavar="[NAME=]MODEL", help="Name at the endpoint; NAME in the table."
)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Table to write, .parquet."
)
@click.option("--to", "target", default="en", show_default=True, help="Language to translate into.")
@click.option("--back", is_flag=True, help="Translate back, and compare.")
@click.option(
    "--back-model", metavar="[NAME=]MODEL", help="Who translates back, where it is not the translator."
)
@model_options
@json_option
def command(
    items: tuple[Path, ...],
    model: str,
    output: Path,
    target: str,
    back: bool,
    back_model: str | None,
    plan: bool,
    again: bool,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Have a model translate ITEMS that are not asked in the language --to yet.

    Options keep number and order. Numbers, units and names are compared, and what a person should look at is
    flagged, with the reason. Every raw answer is kept in OUTPUT.said as it comes; the same command again goes
    on where it was interrupted.
    """
    from maskedadv.errors import BadSetting, EmptyTable
    from maskedadv.scoring.item_sets.asking import most_left
    from maskedadv.scoring.item_sets.said import SaidLog
    from maskedadv.scoring.item_sets.steps import failed, refuse_other, step_file
    from maskedadv.scoring.item_sets.translate import (
        items_to_translate,
        translate_items,
        translation_key,
        translation_requests,
    )
    from maskedadv.scoring.items.sources import read_items

    if output.suffix != ".parquet":
        raise BadSetting(f"{output}: the output ends in .parquet.")
    wanted = items_to_translate(read_items(items, unlabelled=True).items, target)
    if not wanted:
        raise EmptyTable(f"every item is asked in {target} already; there is nothing to translate.")
    models = settings_of_models((model, back_model) if back_model else (model,), **options)
    translator, *others = models.items()
    returner = others[0] if others else translator if back else None
    key = translation_key(wanted, translator, target, returner)
    refuse_other(output, key, overwrite=overwrite)
    with closing(SaidLog(raw_answers(output))) as log:
        if plan:
            asked = translation_requests(wanted, target)
            rows = [(*translator, most_left(translator[1], asked, log))]
            if returner is not None:
                remark("Translating back costs about as much again.")
            return echo_plan(rows)
        table, _ = step_file(
            output,
            key,
            lambda: translate_items(wanted, translator, log, target=target, back=returner, report=say_over),
            again=again,
        )
    if as_json:
        say(to_json({"languages": translation_counts(table)}))
    else:
        say(print_translations(table))
        say(f"\nWritten to {clean(str(output))}.")
    if count := failed(table):
        remark(f"{count:,} translations are missing since a server failed; --again asks for them.")
    return None


def translation_counts(table: pa.Table) -> list[dict[str, Any]]:
    """By language: items, translated, flagged, missing, and how often each flag and reason occurs."""
    found: dict[str, dict[str, Any]] = {}
    for row in table.to_pylist():
        own = found.setdefault(
            row["language"],
            {"items": 0, "missing": 0, "flagged": 0, "why": Counter(), "similarities": []},
        )
        own["items"] += 1
        own["missing"] += bool(row["reason"])
        own["flagged"] += bool(row["flags"])
        own["why"].update([row["reason"]] if row["reason"] else row["flags"])
        own["similarities"] += [] if row["similarity"] is None else [row["similarity"]]
    return [
        {
            "language": language,
            **{name: own[name] for name in ("items", "missing", "flagged")},
            "similarity": sum(own["similarities"]) / len(own["similarities"])
            if own["similarities"]
            else None,
            "why": dict(own["why"].most_common()),
        }
        for language, own in sorted(found.items())
    ]


def print_translations(table: pa.Table) -> str:
    """Counts by language, and how often each flag and each reason occurs."""
    found = translation_counts(table)
    nan = float("nan")
    rows = [
        [
            r["language"],
            *(f"{r[name]:,}" for name in ("items", "flagged", "missing")),
            number(nan if r["similarity"] is None else r["similarity"]),
        ]
        for r in found
    ]
    text = format_table(["language", "items", "flagged", "missing", "similarity"], rows)
    why: Counter[str] = Counter()
    for r in found:
        why.update(r["why"])
    if why:
        text += "\n\nFlags and reasons:\n" + "\n".join(f"  {n:,} {kind}" for kind, n in why.most_common())
    return text
