"""`maskedadv fit`: estimate the gaps and write a result folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.launch_options import launch_options
from maskedadv.cli.options import (
    ALL_SETTINGS,
    json_option,
    responses_argument,
    settings_of,
    settings_options,
)
from maskedadv.cli.say import say, tell
from maskedadv.lazily import import_ahead
from maskedadv.words.numbers import level_text
from maskedadv.words.terminal import records, to_json

if TYPE_CHECKING:
    from maskedadv.design.prepare import Table
    from maskedadv.launchers import Launcher
    from maskedadv.result.fit_result import Fit
    from maskedadv.settings import Settings


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the result.")
@settings_options(*ALL_SETTINGS)
@launch_options("Blocks (nuts: locales)")
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@json_option
def command(
    responses: str, output: Path, how: Launcher, overwrite: bool, as_json: bool, **given: Any
) -> None:
    """Estimate abilities and the gaps of RESPONSES and write them to a folder.

    RESPONSES is a CSV or Parquet file, or a folder of Parquet files; see `maskedadv check`.
    """
    from maskedadv.files.claims import claim

    settings = settings_of(given)
    with claim(output):  # for as long as it runs: a second run there would be lost at the end
        words = partial(_in_words, output=output, as_json=as_json)
        result, told = _fit_into(responses, output, settings, words, how=how, overwrite=overwrite)
    from maskedadv.cli.show import say_warnings

    say_warnings(result)
    say(told())


def _fit_into(
    responses: str,
    output: Path,
    settings: Settings,
    words: Callable[[Fit], str],
    *,
    how: Launcher,
    overwrite: bool,
) -> tuple[Fit, Callable[[], str]]:
    """The result of the run, which lies in the folder at the end, and what gives `words` of it."""
    from maskedadv.responses import open_responses

    if output.is_file():
        from maskedadv.result.save import check_output

        check_output(output, overwrite=overwrite)
    import_ahead(*_LATER)
    opened = [open_responses(responses, tell)]
    from maskedadv.fitting import fit_table
    from maskedadv.launchers import tracked
    from maskedadv.maximum_likelihood.side_by_side import begin
    from maskedadv.result.save import check_output, same_run

    if same_run(output, opened[0].fingerprint, settings) and not overwrite:
        say(f"{output} already holds this very run; nothing to do (--overwrite fits again).", err=True)
        _sweep(output, opened[0].fingerprint, settings, how)
        result = _load_or_say(output)
        return result, partial(words, result)
    check_output(output, overwrite=overwrite)
    with tracked(how, output) as how:
        if settings.method == "nuts":
            result = _run_resumable(opened[0], settings, output, how=how, overwrite=overwrite)
            return result, partial(words, result)
        result = fit_table(opened.pop(), settings, how=how, progress=tell)  # which lets it go
        told = begin(partial(words, result))  # while the disk is waited for
        result.save(output, overwrite=overwrite)
    return result, told


_LATER = (
    "maskedadv.fitting",
    "maskedadv.result.save",
    "maskedadv.likelihoods.relatives",
    "scipy.optimize",
    "h5netcdf",
    "maskedadv.result.means",
    "maskedadv.cli.show",
)
"""What a fit needs once the table is read."""


def _in_words(result: Fit, output: Path, *, as_json: bool) -> str:
    """What the command prints of a result that lies in a folder."""
    if as_json:
        return to_json(
            {
                "output": str(output),
                "warnings": result.warnings,
                "headline": result.headline,
                "means": records(result.means(variant=result.headline)),
                "populations": records(result.populations(variant=result.headline)),
                "variants": records(result.variant_gaps()),
                "links": records(result.links()),
                "departures": records(result.departures()),
                "relatives": records(result.relatives()),
            }
        )
    return f"{summary(result)}\n\nWritten to {output}\nAll gaps: maskedadv gaps {output}"


def _sweep(output: Path, fingerprint: str, settings: Settings, how: Launcher) -> None:
    """Remove what this very run left beside its result if it was killed after it had written it."""
    from maskedadv.engines import choose_engine
    from maskedadv.errors import OutputExists
    from maskedadv.files.unfinished import unfinished_folder
    from maskedadv.launchers import tracked
    from maskedadv.launchers.tracking import units_folder
    from maskedadv.result.unfinished import close_unfinished, open_unfinished

    if units_folder(output).exists():
        with suppress(OutputExists), tracked(how, output):  # another's folder stays
            pass
    if unfinished_folder(output).exists():
        engine = choose_engine(settings.engine)
        with suppress(OutputExists):
            open_unfinished(output, fingerprint, settings, engine.version, overwrite=False)
            close_unfinished(output, keep_results=False)


def _load_or_say(output: Path) -> Fit:
    """A finished result; if it is damaged, the way out is --overwrite."""
    from maskedadv.errors import NotAResult
    from maskedadv.result.save import load

    try:
        return load(output)
    except NotAResult as error:
        raise NotAResult(f"{error} Give --overwrite.") from error


def _run_resumable(table: Table, settings: Settings, output: Path, *, how: Launcher, overwrite: bool) -> Fit:
    """Fit with finished locales kept beside the output, so that the same command completes a broken run."""
    from maskedadv.engines import choose_engine
    from maskedadv.fitting import fit_table
    from maskedadv.result.save import load
    from maskedadv.result.unfinished import close_unfinished, finished_files, open_unfinished

    engine = choose_engine(settings.engine)
    folder = open_unfinished(output, table.fingerprint, settings, engine.version, overwrite=overwrite)
    try:
        result = fit_table(table, settings, how=how, progress=tell, folder=folder)
        result.save(output, overwrite=overwrite)
    except BaseException:
        close_unfinished(output, keep_results=True)
        if folder.exists():
            done = len({path.name for path in finished_files(folder)})
            say(f"{done} finished locales are kept in {folder}; the same command completes it.", err=True)
        raise
    close_unfinished(output, keep_results=False)
    return load(output)


def summary(result: Fit) -> str:
    """Mean gaps of every locale, in logits, and what the variants say."""
    from maskedadv.cli.show import MANY_LOCALES, gap_table, many_locales_text, variant_text

    percent = level_text(result.settings.level)
    first = result.headline
    head = f"Mean gaps over models ({first}; logit, {percent} {result.settings.interval} intervals):\n"
    if result.cube.sizes["locale"] > MANY_LOCALES:
        return f"{head}\n{many_locales_text(result, first)}"
    text = variant_text(result, models=False)
    return f"{head}\n{gap_table(result.means(variant=first))}" + (f"\n\n{text}" if text else "")
