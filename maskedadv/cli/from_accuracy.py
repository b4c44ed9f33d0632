"""`maskedadv from-accuracy`: approximate gaps from published accuracies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import pandas as pd

from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.settings import LEVEL
from maskedadv.vocabulary import MEAN
from maskedadv.words.numbers import level_text, number
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.published_accuracies.variants import AccuracyVariants


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table")
@click.option("--pivot", default="en", show_default=True, help="Language to compare with.")
@click.option("--locale", multiple=True, help="Local language; repeatable. Default: all but the pivot.")
@click.option("--model", multiple=True, help="Print only these models; repeatable.")
@click.option("--options", "n_options", type=int, help="Options per question; marks accuracies at chance.")
@click.option("--percent", is_flag=True, help="Accuracies are percentages.")
@click.option("--level", type=float, default=LEVEL, show_default=True, help="Level of the intervals.")
@click.option(
    "--variants", is_flag=True, help="Also the knowledge gap with the guessing floor and on the linked scale."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also to this file: .csv or .parquet.")
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@json_option
def command(
    table: str,
    pivot: str,
    locale: tuple[str, ...],
    model: tuple[str, ...],
    n_options: int | None,
    percent: bool,
    level: float,
    variants: bool,
    output: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Approximate gaps from TABLE: model, subset, language, accuracy, n_items (CSV or Parquet).

    `bertaqa` stands for the bundled accuracies on BertaQA. With answers per item, import them and use
    `maskedadv fit` instead: these gaps are approximate.
    """
    from maskedadv.datasets import bertaqa
    from maskedadv.errors import BadSetting
    from maskedadv.files.atomic import check_table_output, write_table
    from maskedadv.published_accuracies.gaps import gaps_from_accuracy
    from maskedadv.published_accuracies.variants import variants_from_accuracy

    if output is not None:
        check_table_output(output, overwrite=overwrite)
    bundled = table == "bertaqa" and not Path(table).exists()
    found = gaps_from_accuracy(
        bertaqa() if bundled else table,
        pivot=pivot,
        locale=locale or None,
        n_options=n_options,
        percent=percent,
        level=level,
    )
    other = variants_from_accuracy(found) if variants else None
    gaps = found.gaps
    if unknown := sorted(set(model) - set(gaps["model"])):
        raise BadSetting(f"the table holds no model {unknown[0]!r}.")
    gaps = gaps[gaps["model"].isin(model)] if model else gaps
    if output is not None:
        write_table(gaps, output)
    if as_json:
        method = "approximate: differences of logits of accuracies"
        out = {"method": method, "pivot": pivot, "level": level, "gaps": records(gaps)}
        if other is not None:
            out |= {"variants": records(other.gaps), "links": records(other.links)}
        say(to_json(out))
        return
    say(f"APPROXIMATE gaps in logits, {pivot} subtracted, from accuracies (no items).\n")
    say(_text(gaps, level))
    if gaps["note"].str.contains("at chance").any():
        say(
            "\n* an accuracy within two standard errors of chance: there the gap is a floor,\n"
            "  not a measurement."
        )
    say(
        "\nsd 0-3: span of the gap for item difficulties of standard deviation 0 (as\n"
        "printed) to 3; the spread of items draws gaps towards zero. Answers to the same\n"
        "items in two languages are treated as independent, so intervals are too wide."
    )
    if other is not None:
        say(f"\n{_variants(other, model)}")


def _variants(found: AccuracyVariants, model: tuple[str, ...]) -> str:
    """The four knowledge gaps side by side, and the links."""
    gaps = found.gaps
    if model:
        gaps = gaps[gaps["model"].isin([*model, MEAN])]
    names = [str(v) for v in dict.fromkeys(gaps["variant"])]
    cells: dict[tuple[str, str], dict[str, str]] = {}
    means: dict[str, str] = {}
    for r in records(gaps):
        known = pd.notna(r["estimate"])
        text = f"{number(r['estimate'])} ({number(r['sd'])})" if known else "-"
        cells.setdefault((r["locale"], r["model"]), {})[r["variant"]] = text
        if r["model"] == MEAN:
            means[r["locale"]] = r["note"]
    rows = [
        [locale, "(mean)" if name == MEAN else name, *(own.get(v, "-") for v in names)]
        for (locale, name), own in cells.items()
    ]
    lines = [
        "Knowledge gap under other assumptions (logit, standard deviation in brackets):",
        "",
        format_table(["locale", "model", *names], rows, left=(0, 1)),
        "",
    ]
    lines += [
        wrap(f"Mean of {locale}: over the {n} that have a gap under every variant.")
        for locale, n in means.items()
    ]
    for r in records(found.links):
        about = (
            f"{number(r['ratio'])} [{number(r['lower'])}, {number(r['upper'])}], {r['models']} models"
            if pd.notna(r["ratio"])
            else r["note"]
        )
        lines.append(wrap(f"Link of {r['locale']}, {r['variant']} (spread on CS over that on CA): {about}."))
    return "\n".join(lines)


def _text(gaps: pd.DataFrame, level: float) -> str:
    several = len(set(gaps["locale"])) > 1
    rows = [
        [
            *([row["locale"]] if several else []),
            row["model"],
            row["gap"].removesuffix("_gap"),
            number(row["estimate"]),
            number(row["sd"]),
            f"[{number(row['lower'])}, {number(row['upper'])}]",
            f"[{number(row['band_low'])}, {number(row['band_high'])}]",
            "*" if "at chance" in row["note"] else "",
        ]
        for row in records(gaps)
    ]
    header = [
        *(["locale"] if several else []),
        "model",
        "gap",
        "est",
        "sd",
        level_text(level),
        "sd 0-3",
        "",
    ]
    return format_table(header, rows, left=(0, 1, 2) if several else (0, 1))
