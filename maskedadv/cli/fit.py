"""`maskedadv fit`: estimate the gaps and write a result folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.options import json_option, responses_argument, table_options
from maskedadv.cli.show import gap_table
from maskedadv.cli.text import records, to_json

if TYPE_CHECKING:
    from maskedadv.results import Fit


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the result.")
@click.option("--method", type=click.Choice(["optimize"]), default="optimize", show_default=True)
@click.option(
    "--estimator",
    type=click.Choice(["joint", "marginal", "auto"]),
    default="joint",
    show_default=True,
    help="joint: the papers' estimator, for many models. marginal: unbiased with few models too.",
)
@click.option("--response", type=click.Choice(["binary", "soft"]), default="binary", show_default=True)
@table_options
@click.option(
    "--scope",
    type=click.Choice(["locale", "joint"]),
    default="locale",
    show_default=True,
    help="joint: a CA item has one difficulty in all languages.",
)
@click.option(
    "--interval",
    type=click.Choice(["robust", "information", "bootstrap"]),
    default="robust",
    show_default=True,
    help="robust: sandwich clustered by item. bootstrap: items resampled.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--replicates", type=int, default=1000, show_default=True, help="Bootstrap replicates.")
@click.option(
    "--engine", type=click.Choice(["auto", "cmdstan", "embedded"]), default="auto", show_default=True
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--jobs", type=int, default=1, show_default=True, help="Blocks fitted at the same time.")
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@json_option
def command(
    responses: str,
    output: Path,
    method: str,
    estimator: str,
    response: str,
    locale: tuple[str, ...],
    pivot: str,
    min_accuracy: float,
    scope: str,
    interval: str,
    level: float,
    replicates: int,
    engine: str,
    seed: int,
    jobs: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Estimate abilities and the three gaps of RESPONSES and write them to a folder.

    RESPONSES is a CSV or Parquet file, or a folder of Parquet files; see `maskedadv check`.
    """
    from maskedadv.errors import BadSetting
    from maskedadv.fitting.run import run
    from maskedadv.fitting.settings import Settings
    from maskedadv.responses import read_responses
    from maskedadv.saving import check_output, load, same_run

    settings = Settings(
        method=method,
        estimator=estimator,
        response=response,
        locale=locale or None,
        scope=scope,
        pivot=pivot,
        min_accuracy=min_accuracy,
        interval=interval,
        level=level,
        replicates=replicates,
        engine=engine,
        seed=seed,
    )
    if jobs < 1:
        raise BadSetting(f"--jobs must be 1 or more (is {jobs}).")
    if output.is_file():
        check_output(output, overwrite=overwrite)
    table = read_responses(responses)
    if same_run(output, table.fingerprint, settings) and not overwrite:
        click.echo(f"{output} already holds this very run; nothing to do (--overwrite fits again).", err=True)
        result = load(output)
    else:
        check_output(output, overwrite=overwrite)
        result = run(table, settings, jobs=jobs, progress=lambda line: click.echo(f"  {line}", err=True))
        result.save(output, overwrite=overwrite)
    for warning in result.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if as_json:
        click.echo(
            to_json({"output": str(output), "warnings": result.warnings, "means": records(result.means())})
        )
        return
    print_summary(result)
    click.echo(f"\nWritten to {output}\nAll gaps: maskedadv gaps {output}")


def print_summary(result: Fit) -> None:
    """Mean gaps of every locale, in logits."""
    percent = f"{100 * result.settings.level:g}%"
    click.echo(f"Mean gaps over models (logit, {percent} {result.settings.interval} intervals):\n")
    click.echo(gap_table(result.means()))
