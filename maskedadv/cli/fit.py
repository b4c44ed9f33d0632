"""`maskedadv fit`: estimate the gaps and write a result folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.options import json_option, responses_argument, table_options
from maskedadv.cli.show import gap_table, say_warnings, variant_text
from maskedadv.words.numbers import level_text
from maskedadv.words.terminal import records, to_json

if TYPE_CHECKING:
    from maskedadv.responses import Responses
    from maskedadv.result.fit_result import Fit
    from maskedadv.settings import Settings


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the result.")
@click.option(
    "--method",
    type=click.Choice(["optimize", "nuts"]),
    default="optimize",
    show_default=True,
    help="optimize: maximum likelihood. nuts: the full posterior.",
)
@click.option(
    "--estimator",
    type=click.Choice(["joint", "marginal", "auto"]),
    help="optimize: joint (default), the papers' estimator, for many models, or marginal, unbiased with few "
    "models too. nuts: the same posterior either way; auto (default) takes the cheaper.",
)
@click.option("--response", type=click.Choice(["binary", "soft", "crm"]), default="binary", show_default=True)
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
    help="optimize: robust (default), a sandwich clustered by item; information; bootstrap, items resampled.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--replicates", type=int, default=1000, show_default=True, help="Bootstrap replicates.")
@click.option(
    "--engine", type=click.Choice(["auto", "cmdstan", "embedded"]), default="auto", show_default=True
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--chains", type=int, default=4, show_default=True, help="NUTS: chains a locale.")
@click.option("--warmup", type=int, default=1000, show_default=True, help="NUTS: warmup iterations a chain.")
@click.option("--draws", type=int, default=1000, show_default=True, help="NUTS: draws kept a chain.")
@click.option("--adapt-delta", type=float, default=0.9, show_default=True, help="NUTS: target acceptance.")
@click.option(
    "--max-treedepth", type=int, default=10, show_default=True, help="NUTS: longest trajectory, 2^N."
)
@click.option(
    "--metric",
    type=click.Choice(["diag_e", "dense_e", "unit_e"]),
    default="diag_e",
    show_default=True,
    help="NUTS: form of the mass matrix.",
)
@click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="NAME=NUMBER",
    help="NUTS: replace a prior; see docs/explanation.",
)
@click.option(
    "--guessing",
    default="auto",
    show_default=True,
    metavar="auto|none|chance|NUMBER",
    help="Floor of the 'floor' variant: chance is 1/options of each item; auto where options are known.",
)
@click.option("--options", type=int, help="Options of the items that have no n_options in the table.")
@click.option(
    "--link",
    type=click.Choice(["auto", "none", "english"]),
    default="auto",
    show_default=True,
    help="The 'linked' variant: CS gaps on the CA scale by the spread of pivot abilities; 8 models or more.",
)
@click.option(
    "--variants",
    type=click.Choice(["auto", "none"]),
    default="auto",
    show_default=True,
    help="none: the papers' gaps only.",
)
@click.option(
    "--jobs", type=int, default=1, show_default=True, help="Blocks (nuts: locales) fitted at the same time."
)
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@json_option
def command(
    responses: str,
    output: Path,
    method: str,
    estimator: str | None,
    response: str,
    locale: tuple[str, ...],
    pivot: str,
    min_accuracy: float,
    scope: str,
    interval: str | None,
    level: float,
    replicates: int,
    engine: str,
    seed: int,
    chains: int,
    warmup: int,
    draws: int,
    adapt_delta: float,
    max_treedepth: int,
    metric: str,
    priors: tuple[str, ...],
    guessing: str,
    options: int | None,
    link: str,
    variants: str,
    jobs: int,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Estimate abilities and the three gaps of RESPONSES and write them to a folder.

    RESPONSES is a CSV or Parquet file, or a folder of Parquet files; see `maskedadv check`.
    """
    from maskedadv.errors import BadSetting
    from maskedadv.fitting import run
    from maskedadv.responses import read_responses
    from maskedadv.result.save import check_output, same_run
    from maskedadv.sampling.priors import parse_priors
    from maskedadv.settings import Settings

    settings = Settings(
        method=method,
        estimator=estimator or "",
        response=response,
        locale=locale or None,
        scope=scope,
        pivot=pivot,
        min_accuracy=min_accuracy,
        interval=interval or "",
        level=level,
        replicates=replicates,
        engine=engine,
        seed=seed,
        chains=chains,
        warmup=warmup,
        draws=draws,
        adapt_delta=adapt_delta,
        max_treedepth=max_treedepth,
        metric=metric,
        priors=parse_priors(priors),
        guessing=guessing,
        options=options,
        link=link,
        variants=variants,
    )
    if jobs < 1:
        raise BadSetting(f"--jobs must be 1 or more (is {jobs}).")
    if output.is_file():
        check_output(output, overwrite=overwrite)
    table = read_responses(responses)
    if same_run(output, table.fingerprint, settings) and not overwrite:
        click.echo(f"{output} already holds this very run; nothing to do (--overwrite fits again).", err=True)
        result = _load_or_say(output)
    else:
        check_output(output, overwrite=overwrite)
        if method == "nuts":
            result = _run_resumable(table, settings, output, jobs=jobs, overwrite=overwrite)
        else:
            result = run(table, settings, jobs=jobs, progress=_tell)
            result.save(output, overwrite=overwrite)
    say_warnings(result)
    if as_json:
        click.echo(
            to_json(
                {
                    "output": str(output),
                    "warnings": result.warnings,
                    "means": records(result.means()),
                    "variants": records(result.variant_gaps()),
                    "links": records(result.links()),
                }
            )
        )
        return
    print_summary(result)
    click.echo(f"\nWritten to {output}\nAll gaps: maskedadv gaps {output}")


def _load_or_say(output: Path) -> Fit:
    """A finished result; if it is damaged, the way out is --overwrite."""
    from maskedadv.errors import NotAResult
    from maskedadv.result.save import load

    try:
        return load(output)
    except NotAResult as error:
        raise NotAResult(f"{error} Give --overwrite.") from error


def _tell(line: str) -> None:
    click.echo(f"  {line}", err=True)


def _run_resumable(table: Responses, settings: Settings, output: Path, *, jobs: int, overwrite: bool) -> Fit:
    """Fit with finished locales kept beside the output, so that the same command completes a broken run."""
    from maskedadv.engines import choose_engine
    from maskedadv.fitting import run
    from maskedadv.result.save import load
    from maskedadv.result.unfinished import close_unfinished, finished_files, open_unfinished

    engine = choose_engine(settings.engine)
    folder = open_unfinished(output, table.fingerprint, settings, engine.version, overwrite=overwrite)
    try:
        run(table, settings, jobs=jobs, progress=_tell, folder=folder).save(output, overwrite=overwrite)
    except BaseException:
        close_unfinished(output, keep_results=True)
        if folder.exists():
            done = len({path.name for path in finished_files(folder)})
            click.echo(
                f"{done} finished locales are kept in {folder}; the same command completes it.", err=True
            )
        raise
    close_unfinished(output, keep_results=False)
    return load(output)


def print_summary(result: Fit) -> None:
    """Mean gaps of every locale, in logits."""
    percent = level_text(result.settings.level)
    click.echo(f"Mean gaps over models (logit, {percent} {result.settings.interval} intervals):\n")
    click.echo(gap_table(result.means()))
    if text := variant_text(result, models=False):
        click.echo(f"\n{text}")
