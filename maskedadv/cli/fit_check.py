"""`maskedadv fit-check`: does the Rasch model fit?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from maskedadv.cli.options import json_option, refuse_folder, responses_argument, settings_options
from maskedadv.cli.say import say, tell
from maskedadv.words.numbers import number
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.assumptions.model_fit import FitCheck


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the tables.")
@click.option(
    "--models",
    type=click.Path(path_type=Path),
    help="Model table (model, family): Andersen's test by family.",
)
@click.option(
    "--replicates", default=200, show_default=True, help="Tables drawn for the references of models."
)
@click.option("--alpha", default=0.05, show_default=True, help="False discovery rate of the flags.")
@click.option("--top", default=10, show_default=True, help="Items and models listed; 0 for all.")
@settings_options("locale", "pivot", "min_accuracy", "seed")
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@json_option
def command(
    responses: str,
    output: Path | None,
    models: Path | None,
    replicates: int,
    alpha: float,
    top: int,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Check how well the Rasch model fits RESPONSES, locale by locale and subset by subset.

    Prints how many items and models stray from it, how well the answers tell them apart, Andersen's tests by
    difficulty, language and group of models, and whether CA and CS share a dimension.
    docs/how-to/fit-check.md explains the columns.
    """
    from maskedadv.assumptions.model_fit import MARK, fit_check
    from maskedadv.models_table import family_column

    families = None if models is None else family_column(models)
    given["locale"] = given["locale"] or None

    found = fit_check(
        responses,
        families=families,
        replicates=replicates,
        alpha=alpha,
        progress=tell,
        begin=refuse_folder(output, MARK, overwrite=overwrite),
        **given,
    )
    if output is not None:
        found.save(output, overwrite=overwrite)
        say(f"Written to {output}; for the page: maskedadv report ... --fit-check {output}", err=True)
    if as_json:
        names = ("blocks", "andersen", "dimensions", "items", "cells")
        say(to_json({"notes": found.notes, **{k: records(getattr(found, k)) for k in names}}))
        return
    say(summary(found, top))


def summary(found: FitCheck, top: int) -> str:
    """Everything that the command prints, in 80 columns."""
    parts = [_blocks(found.blocks), _strays(found, top), _andersen(found.andersen)]
    if len(found.dimensions):
        parts.append(_dimensions(found.dimensions))
    parts += [wrap(f"Note: {note}{'' if note.endswith('.') else '.'}") for note in found.notes]
    return "\n\n".join(parts)


def _blocks(frame: pd.DataFrame) -> str:
    rows = [
        [
            r["locale"],
            r["subset"],
            f"{r['items_fitted']}",
            f"{r['items_flagged']}",
            f"{r['cells']}",
            f"{r['cells_flagged']}",
            number(r["reliability_items"]),
            number(r["reliability_local"]),
            number(r["reliability_pivot"]),
        ]
        for r in records(frame)
    ]
    header = ("locale", "set", "items", "stray", "cells", "stray", "rel. items", "models local", "pivot")
    told = (
        "items: those that not all cells answered alike; stray: infit or outfit flagged; rel.: separation "
        "reliability, the share of the variance of estimates that is not error, of items and of models in "
        "the local and in the pivot language (below 0: less spread than error)."
    )
    return f"{format_table(header, rows, left=(0, 1))}\n\n{wrap(told)}"


def _strays(found: FitCheck, top: int) -> str:
    """The items and cells that stray most."""
    items = found.items.assign(name=found.items["item"], kind="item")
    cells = found.cells.assign(name=found.cells["model"] + " " + found.cells["language"], kind="cell")
    both = pd.concat([items, cells], ignore_index=True)
    both["p"] = both[["infit_p", "outfit_p"]].min(axis=1)
    both = both[both["p"].notna()].sort_values("p", kind="stable")
    shown = both if top <= 0 else both.head(top)
    rows = [
        [
            r["locale"],
            r["subset"],
            r["name"],
            number(r["infit"]),
            f"{r['infit_p']:.4f}"[1:] if r["infit_p"] < 1 else "1",
            number(r["outfit"]),
            f"{r['outfit_p']:.4f}"[1:] if r["outfit_p"] < 1 else "1",
            "*" if r["flagged"] else "",
        ]
        for r in records(shown)
    ]
    header = ("locale", "set", "item or cell", "infit", "p", "outfit", "p", "")
    lines = [
        "Items and cells that stray most (mean squares; 1 is expected, * flagged):",
        "",
        format_table(header, rows, left=(0, 1, 2, 7)),
    ]
    return "\n".join(lines)


def _andersen(frame: pd.DataFrame) -> str:
    rows = [
        [
            r["locale"],
            r["subset"],
            r["split"],
            r["groups"],
            number(r["statistic"], 1),
            number(r["expected"], 1),
            "-" if pd.isna(r["p"]) else f"{r['p']:.4f}"[1:] if r["p"] < 0.99995 else "1",
            number(r["inflation"], 1),
        ]
        for r in records(frame)
    ]
    header = ("locale", "set", "split", "groups", "LR", "expected", "p", "infl.")
    told = (
        "Andersen's tests: do models stand as far apart on easy items as on hard ones (items), are items as "
        "difficult for both groups (the others)? infl.: variance of the items' deviates, 1 for independent "
        "models; where it is above 1, p is too small."
    )
    return f"{format_table(header, rows, left=(0, 1, 2, 3))}\n\n{wrap(told)}"


def _dimensions(frame: pd.DataFrame) -> str:
    rows = [
        [
            r["locale"],
            r["language"],
            f"{r['models']}",
            number(r["correlation"]),
            number(r["corrected"]),
            number(r["ratio"]),
            number(r["misfit"], 1),
            f"{r['df']}",
            "-" if pd.isna(r["p"]) else f"{r['p']:.3f}"[1:] if r["p"] < 0.9995 else "1",
        ]
        for r in records(frame)
    ]
    header = ("locale", "language", "models", "corr.", "corrected", "ratio", "misfit", "df", "p")
    told = (
        "CA against CS abilities of the models in one language: correlation, corrected for error (- where "
        "estimates vary no more than their errors), ratio of spreads CS/CA and misfit if both are one trait."
    )
    reasons = sorted({wrap(f"{r['locale']}: {r['reason']}.") for r in records(frame) if r["reason"]})
    return "\n".join([format_table(header, rows, left=(0, 1)), "", wrap(told), *reasons[:3]])
