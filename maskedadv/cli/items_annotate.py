"""`maskedadv items annotate`: models label items."""

from __future__ import annotations

import math
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
from maskedadv.words.terminal import clean, format_table, records, to_json

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@click.command("annotate")
@click.argument("items", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="[NAME=]MODEL",
    help="Name at the endpoint; NAME stands in the table. Repeatable: annotators to compare.",
)
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Table to write, .parquet."
)
@click.option(
    "--definition",
    type=click.Choice(["full", "binary"]),
    default="full",
    show_default=True,
    help="All fields, or CS/CA alone.",
)
@click.option("--language", "languages", multiple=True, help="Only these languages; repeatable.")
@model_options
@json_option
def command(
    items: tuple[Path, ...],
    models: tuple[str, ...],
    output: Path,
    definition: Any,
    languages: tuple[str, ...],
    plan: bool,
    again: bool,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Have models label ITEMS: what knowledge each needs, CS or CA, and why.

    ITEMS are files in the project's schema, labelled or not (see items convert --unlabelled). Every raw
    answer is kept in OUTPUT.said as it comes; the same command again goes on where it was interrupted.
    """
    from maskedadv.errors import BadSetting, EmptyTable
    from maskedadv.scoring.item_sets.annotate import annotate_items, annotation_key, annotation_requests
    from maskedadv.scoring.item_sets.asking import most_left
    from maskedadv.scoring.item_sets.labels import agreement_of
    from maskedadv.scoring.item_sets.said import SaidLog
    from maskedadv.scoring.item_sets.steps import failed, refuse_other, step_file
    from maskedadv.scoring.items.sources import read_items

    if output.suffix != ".parquet":
        raise BadSetting(f"{output}: the output ends in .parquet.")
    found = read_items(items, unlabelled=True).items
    kept = [x for x in found if not languages or x.language in languages]
    if not kept:
        raise EmptyTable(f"no item is in {', '.join(languages)}; see --language.")
    settings = settings_of_models(models, **options)
    key = annotation_key(kept, settings, definition)
    refuse_other(output, key, overwrite=overwrite)
    with closing(SaidLog(raw_answers(output))) as log:
        if plan:
            asked = annotation_requests(kept, definition)
            return echo_plan([(n, s, most_left(s, asked, log)) for n, s in settings.items()])
        table, _ = step_file(
            output,
            key,
            lambda: annotate_items(kept, settings, log, definition=definition, report=say_over),
            again=again,
        )
    agreement = agreement_of(table)
    if as_json:
        say(to_json({"annotators": _summary(table), "agreement": records(agreement)}))
    else:
        say(_print(table, agreement))
        say(f"\nWritten to {clean(str(output))}.")
    if count := failed(table):
        remark(f"{count:,} answers are missing since a server failed; --again asks for them.")
    return None


def _summary(table: pa.Table) -> list[dict[str, Any]]:
    """Counts by annotator and language."""
    numbers: dict[tuple[str, str], Counter[str]] = {}
    for row in table.select(["annotator", "language", "cultural_sensitivity_label", "reason"]).to_pylist():
        own = numbers.setdefault((row["annotator"], row["language"]), Counter())
        own.update(["items", row["cultural_sensitivity_label"] or "missing"])
        own.update([f"reason {row['reason']}"] if row["reason"] else [])
    return [
        {
            "annotator": annotator,
            "language": language,
            **{name: own[name] for name in ("items", "CS", "CA", "missing")},
            "reasons": {k.removeprefix("reason "): n for k, n in own.items() if k.startswith("reason ")},
        }
        for (annotator, language), own in sorted(numbers.items())
    ]


def _print(table: pa.Table, agreement: pd.DataFrame) -> str:
    found = _summary(table)
    rows = [
        [r["annotator"], r["language"], *(f"{r[name]:,}" for name in ("items", "CS", "CA", "missing"))]
        for r in found
    ]
    text = format_table(["annotator", "language", "items", "CS", "CA", "missing"], rows, left=(0, 1))
    reasons: Counter[str] = Counter()
    for r in found:
        reasons.update(r["reasons"])
    if reasons:
        text += "\n\nMissing:\n" + "\n".join(f"  {n:,} {reason}" for reason, n in reasons.most_common())
    if len(agreement):
        text += "\n\n" + print_agreement(agreement)
    return text


def print_agreement(agreement: pd.DataFrame) -> str:
    """Agreement by field over all languages, with intervals of alpha."""
    pooled = agreement[agreement["language"] == "all"]
    rows = []
    for _, r in pooled.iterrows():
        known = math.isfinite(r["alpha_lower"])
        interval = f"[{number(r['alpha_lower'])}, {number(r['alpha_upper'])}]" if known else "-"
        values = [number(r[name]) for name in ("unanimous", "pairwise", "alpha")]
        rows.append([r["field"], f"{r['n_items']:,}", *values, interval])
    header = ["field", "items", "all agree", "pairs agree", "alpha", "95%"]
    return format_table(header, rows)
