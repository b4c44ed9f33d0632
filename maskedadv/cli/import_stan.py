"""`maskedadv export-stan` and `import-stan`: sampling with CmdStan somewhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from maskedadv.cli.options import responses_argument, table_options


def _sampling_options(command: Any) -> Any:
    for option in (
        click.option("--prior", "priors", multiple=True, metavar="NAME=NUMBER", help="As for fit."),
        click.option("--seed", type=int, default=1, show_default=True),
        click.option("--response", type=click.Choice(["binary", "crm"]), default="binary", show_default=True),
        click.option("--guessing", default="auto", show_default=True, help="As for fit."),
        click.option("--options", type=int, help="As for fit."),
        table_options,
    ):
        command = option(command)
    return command


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--estimator", type=click.Choice(["joint", "marginal", "auto"]), default="auto")
@click.option("--chains", type=int, default=4, show_default=True, help="Starting values to write.")
@_sampling_options
def export_command(
    responses: str,
    output: Path,
    estimator: str,
    chains: int,
    response: str,
    locale: tuple[str, ...],
    pivot: str,
    min_accuracy: float,
    seed: int,
    priors: tuple[str, ...],
    guessing: str,
    options: int | None,
) -> None:
    """Write what CmdStan needs to sample the locales of RESPONSES: program, data and starting values.

    Where options are known, a second folder per locale holds the program with the guessing floor. Sample
    there, keep the CSV files, and read them here with `maskedadv import-stan`.
    """
    from maskedadv.design.blocks import choose_locales
    from maskedadv.responses import read_responses
    from maskedadv.sampling.exchange import write_stan
    from maskedadv.sampling.priors import parse_priors
    from maskedadv.settings import Settings

    table = read_responses(responses)
    settings = Settings(
        method="nuts",
        estimator=estimator,
        response=response,
        locale=tuple(choose_locales(table, locale or None, pivot)),
        pivot=pivot,
        min_accuracy=min_accuracy,
        seed=seed,
        chains=chains,
        priors=parse_priors(priors),
        guessing=guessing,
        options=options,
    )
    for folder in write_stan(table, settings, output):
        click.echo(folder)


@click.command()
@responses_argument
@click.argument("csv", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the result.")
@click.option(
    "--floor-csv",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A chain's file of the program with the guessing floor; once per chain.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@_sampling_options
def import_command(
    responses: str,
    csv: tuple[Path, ...],
    output: Path,
    floor_csv: tuple[Path, ...],
    level: float,
    overwrite: bool,
    response: str,
    locale: tuple[str, ...],
    pivot: str,
    min_accuracy: float,
    seed: int,
    priors: tuple[str, ...],
    guessing: str,
    options: int | None,
) -> None:
    """Make a result of the Stan CSV files of one locale's chains, sampled elsewhere from our programs.

    RESPONSES and the options are those that `maskedadv export-stan` was given; CSV are the chains' files.
    """
    from maskedadv.cli.fit import print_summary
    from maskedadv.errors import BadSetting
    from maskedadv.responses import read_responses
    from maskedadv.result.save import check_output
    from maskedadv.sampling.exchange import read_stan
    from maskedadv.sampling.priors import parse_priors
    from maskedadv.settings import Settings

    if len(locale) != 1:
        raise BadSetting("name the one locale whose draws the CSV files hold, with --locale.")
    check_output(output, overwrite=overwrite)
    settings = Settings(
        method="nuts",
        response=response,
        locale=locale,
        pivot=pivot,
        min_accuracy=min_accuracy,
        level=level,
        seed=seed,
        priors=parse_priors(priors),
        guessing=guessing,
        options=options,
    )
    result = read_stan(read_responses(responses), settings, csv, floor_csv)
    result.save(output, overwrite=overwrite)
    for warning in result.warnings:
        click.echo(f"Warning: {warning}", err=True)
    print_summary(result)
    click.echo(f"\nWritten to {output}\nAll gaps: maskedadv gaps {output}")
