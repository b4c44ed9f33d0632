"""`maskedadv demo`: the main job on bundled real outcomes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import click

from maskedadv.cli.options import settings_options
from maskedadv.cli.show import gap_table, variant_text
from maskedadv.words.terminal import WIDTH

CAVEATS = (
    "These six systems are one family: Qwen2.5-32B-Instruct and one fine-tune of it at five budgets of "
    "reasoning tokens. Their gaps are not six independent findings.",
    "CS here means culturally sensitive and is mostly Western: these items are not the locales' own "
    "culture, so a knowledge gap here says little about access to local knowledge.",
    "The written answers behind these outcomes were read by an older, weaker rule: read again, 2.4 points "
    "more are right in English and 0.2 to 1.3 points more in the other languages, so English does better "
    "than shown.",
    "36 intervals of each kind are shown; about two in 36 would miss zero by chance alone.",
)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the result folder here.")
@settings_options("engine")
def command(output: Path | None, engine: str) -> None:
    """Fit real outcomes of six systems in six locales, print the gaps and say what they mean."""
    from dataclasses import replace

    from maskedadv import datasets
    from maskedadv.cli.show import with_means
    from maskedadv.fitting import fit
    from maskedadv.responses import read_responses
    from maskedadv.result.in_words import read_gaps
    from maskedadv.result.save import check_output

    table = read_responses(datasets.global_mmlu_lite())
    if output is not None:
        # A demo may be repeated on its own folder; anybody else's result is never replaced.
        check_output(output, overwrite=_is_demo(output))
    result = fit(
        table,
        estimator="marginal",
        engine=engine,
        progress=lambda line: click.echo(f"  {line}", err=True),
    )
    first = result.headline
    how = "every model by itself" if first == "paired" else "marginal maximum likelihood"
    click.echo(f"Gaps in logits, 95% intervals clustered by item ({how}):\n")
    click.echo(gap_table(with_means(result.gaps(variant=first), result.means(variant=first))))
    if text := variant_text(result, models=False):
        click.echo(f"\n{text}")
    click.echo("\nWhat this says")
    for sentence in read_gaps(result):
        click.echo(_wrapped(sentence))
    click.echo("\nBefore you conclude anything")
    for sentence in CAVEATS:
        click.echo(_wrapped(sentence))
    for warning in result.warnings:
        click.echo(_wrapped(f"Note: {warning}"))
    if output is not None:
        result = replace(result, info=replace(result.info, demo=True))
        result.save(output, overwrite=_is_demo(output))
        from maskedadv.reports.write import write_report

        click.echo("  drawing the report", err=True)
        write_report(result, output / "report", notes=CAVEATS)
    click.echo("\nWhat to run next")
    me = _own_command()
    if output is not None:
        page = shlex.quote(str(output / "report" / "index.html"))
        click.echo(f"  open {page} in a browser   (all of this with figures)")
        click.echo(f"  {me} gaps {shlex.quote(str(output))} --locale zh   (one locale of this result)")
    click.echo(f"  {me} check RESPONSES.csv   (is your own table ready?)")
    click.echo(f"  {me} fit RESPONSES.csv -o results --estimator marginal")
    click.echo(f"  {me} gaps results --format markdown")


def _own_command() -> str:
    """What to type for this very installation: its environment need not be activated, or be another one."""
    folder = Path(sys.executable).parent
    found = shutil.which("maskedadv")
    if found and Path(found).resolve().parent == folder.resolve():
        return "maskedadv"
    if own := shutil.which("maskedadv", path=str(folder)):
        near = os.path.relpath(own)
        return shlex.quote(own if near.startswith(os.pardir) else near)
    return f"{shlex.quote(sys.executable)} -m maskedadv"


def _is_demo(output: Path) -> bool:
    try:
        info = json.loads((output / "fit.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(info, dict) and bool(info.get("demo"))


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
