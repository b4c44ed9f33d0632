"""`maskedadv report`: a page, figures and tables from a result."""

from __future__ import annotations

from pathlib import Path

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import say, tell
from maskedadv.vocabulary import HEADLINES
from maskedadv.words.terminal import to_json


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for the report.")
@click.option(
    "--models",
    type=click.Path(path_type=Path),
    help="CSV of facts: model, family, parameters, active_parameters, origin, kind, tuning, adapted_for.",
)
@click.option(
    "--locales",
    type=click.Path(path_type=Path),
    help="TOML of facts about locales (name, resource_level, home_origins), on top of those shipped.",
)
@click.option(
    "--format",
    "formats",
    default="svg",
    show_default=True,
    help="Formats of the figures, apart by commas: svg, png, pdf, or none.",
)
@click.option(
    "--headline",
    type=click.Choice(HEADLINES),
    help="Gaps that the answer speaks of: plain, paired, or as a test says (auto). Default: as the fit "
    "was told.",
)
@click.option(
    "--dif",
    "dif_folder",
    type=click.Path(path_type=Path),
    help="Output folder of maskedadv dif on the same table: a section on items.",
)
@click.option(
    "--fit-check",
    "fit_check_folder",
    type=click.Path(path_type=Path),
    help="Output folder of maskedadv fit-check on the same table: a section on the fit of the model.",
)
@click.option(
    "--compare",
    "comparison_folder",
    type=click.Path(path_type=Path),
    help="Output folder of maskedadv compare on the same table: a section on predictions.",
)
@click.option("--title", help="Heading of the page.")
@click.option("--note", "notes", multiple=True, help="A sentence that readers must know; may be repeated.")
@click.option("--overwrite", is_flag=True, help="Replace the report of another result.")
@json_option
def command(
    results: Path,
    output: Path,
    models: Path | None,
    locales: Path | None,
    formats: str,
    headline: str | None,
    dif_folder: Path | None,
    fit_check_folder: Path | None,
    comparison_folder: Path | None,
    title: str | None,
    notes: tuple[str, ...],
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a page (index.html), figures and tables of RESULTS, a folder that `maskedadv fit` wrote.

    The page is one file that loads nothing. Tables are CSV (all digits) and LaTeX.
    """
    from maskedadv.reports.exhibit import by_reason
    from maskedadv.reports.write import write_report
    from maskedadv.result.save import load

    checks: dict[str, object] = {}
    if dif_folder is not None:
        from maskedadv.assumptions import load_dif

        checks["dif"] = load_dif(dif_folder)
    if fit_check_folder is not None:
        from maskedadv.assumptions import load_fit_check

        checks["fit-check"] = load_fit_check(fit_check_folder)
    if comparison_folder is not None:
        from maskedadv.cross_validation import load_comparison

        checks["compare"] = load_comparison(comparison_folder)
    chosen = [] if formats == "none" else [v.strip() for v in formats.split(",") if v.strip()]
    result = load(results)
    if headline is not None:
        result = result.with_headline(headline)
    report = write_report(
        result,
        output,
        models=models,
        locales=locales,
        formats=chosen,
        overwrite=overwrite,
        progress=tell,
        title=title,
        notes=notes,
        checks=checks,
    )
    for warning in report.warnings:
        say(f"Warning: {warning}", err=True)
    for titles, reason in by_reason(report.omitted):
        say(f"Not shown: {titles}: {reason}", err=True)
    if as_json:
        say(
            to_json(
                {
                    "output": str(output),
                    "page": str(output / "index.html"),
                    "exhibits": list(report.exhibits),
                    "omitted": {o.title: o.reason for o in report.omitted},
                    "warnings": list(report.warnings),
                }
            )
        )
        return
    say(f"{len(report.exhibits)} exhibits; open {output / 'index.html'}")
