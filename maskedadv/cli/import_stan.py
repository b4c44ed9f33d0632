"""`maskedadv export-stan` and `import-stan`: sampling with CmdStan somewhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from maskedadv.cli.options import responses_argument, settings_of, settings_options
from maskedadv.cli.say import say

_SHARED = ("locale", "pivot", "min_accuracy", "response", "options", "guessing", "seed", "priors")


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@settings_options("estimator", "chains", *_SHARED)
def export_command(responses: str, output: Path, **given: Any) -> None:
    """Write what CmdStan needs to sample the locales of RESPONSES: program, data and starting values.

    Further folders hold the program of pairs and, where options are known, those with the guessing floor.
    Sample there, keep the CSV files, and read them here with `maskedadv import-stan`.
    """
    from maskedadv.responses import read_responses
    from maskedadv.sampling.exchange import write_stan

    table = read_responses(responses)
    settings = settings_of(given, method="nuts")
    for folder in write_stan(table, settings, output):
        say(str(folder))


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
@click.option(
    "--paired-csv",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A chain's file of the program of pairs; once per chain.",
)
@click.option(
    "--paired-floor-csv",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A chain's file of the program of pairs, run on the data with the guessing floor; once per chain.",
)
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@settings_options(*_SHARED, "level")
def import_command(
    responses: str,
    csv: tuple[Path, ...],
    output: Path,
    floor_csv: tuple[Path, ...],
    paired_csv: tuple[Path, ...],
    paired_floor_csv: tuple[Path, ...],
    overwrite: bool,
    **given: Any,
) -> None:
    """Make a result of the Stan CSV files of one locale's chains, sampled elsewhere from our programs.

    RESPONSES and the options are those that `maskedadv export-stan` was given; CSV are the chains' files.
    """
    from maskedadv.cli.fit import summary
    from maskedadv.errors import BadSetting
    from maskedadv.responses import read_responses
    from maskedadv.result.save import check_output
    from maskedadv.sampling.exchange import read_stan

    if len(given["locale"]) != 1:
        raise BadSetting("name the one locale whose draws the CSV files hold, with --locale.")
    check_output(output, overwrite=overwrite)
    settings = settings_of(given, method="nuts")
    result = read_stan(read_responses(responses), settings, csv, floor_csv, paired_csv, paired_floor_csv)
    result.save(output, overwrite=overwrite)
    for warning in result.warnings:
        say(f"Warning: {warning}", err=True)
    say(summary(result))
    say(f"\nWritten to {output}\nAll gaps: maskedadv gaps {output}")
