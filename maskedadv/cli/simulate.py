"""`maskedadv simulate`: a response table with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from maskedadv.cli.options import plan_of, plan_options
from maskedadv.cli.say import say
from maskedadv.words.numbers import number, plural
from maskedadv.words.terminal import format_table, records, wrap


@click.command()
@click.argument("results", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the tables.")
@plan_options()
@click.option("--overwrite", is_flag=True, help="Replace another simulation in the folder.")
def command(results: Path | None, output: Path, overwrite: bool, **given: Any) -> None:
    """Simulate a response table, from plain numbers or in the likeness of RESULTS, its truth beside it.

    RESULTS is a folder that `maskedadv fit` wrote (--estimator marginal is best): its models, items,
    abilities and missing answers are taken for the truth. On top of it go --knowledge-gap (of every model,
    such as 0), --dif-share, --dif-size, --missing and --seed.
    """
    from maskedadv.files.folders import check_folder
    from maskedadv.result.save import load
    from maskedadv.simulation.table import MARKER, simulate

    check_folder(output, MARKER, None, overwrite=overwrite)
    made = simulate(result=None if results is None else load(results), **plan_of(given))
    made.save(output, overwrite=overwrite)
    count = f"{plural(len(made.responses), 'answer')} of {plural(len(made.models), 'model')}"
    means = made.truth.groupby(["locale", "gap"], sort=False)["truth"].agg(["mean", "std"]).reset_index()
    rows = [
        [r["locale"], r["gap"].removesuffix("_gap"), number(r["mean"]), number(r["std"])]
        for r in records(means)
    ]
    say("True gaps (logit), mean and sd over models:\n")
    say(format_table(("locale", "gap", "mean", "sd"), rows, left=(0, 1)))
    say(
        "\n"
        + wrap(
            f"Written to {output}: {count} in responses.csv; the truth in truth.csv (gaps), cells.csv "
            "(abilities), items.csv; families in models.csv; all numbers in simulation.json."
        )
    )
    say(f"Fit it: maskedadv fit {output / 'responses.csv'} -o DIR")
