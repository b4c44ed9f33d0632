"""`maskedadv demo`: the main job on bundled real outcomes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from maskedadv.cli.show import gap_table, variant_text
from maskedadv.cli.text import WIDTH

CAVEATS = (
    "These six systems are one family: Qwen2.5-32B-Instruct and one fine-tune of it at five budgets of "
    "reasoning tokens. Their gaps are not six independent findings.",
    "CS here means culturally sensitive and is mostly Western: these items are not the locales' own "
    "culture, so a knowledge gap here says little about access to local knowledge.",
    "36 intervals of each kind are shown; about two in 36 would miss zero by chance alone.",
)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the result folder here.")
@click.option(
    "--engine", type=click.Choice(["auto", "cmdstan", "embedded"]), default="auto", show_default=True
)
def command(output: Path | None, engine: str) -> None:
    """Fit real outcomes of six systems in six locales, print the gaps and say what they mean."""
    from maskedadv import datasets
    from maskedadv.cli.show import with_means
    from maskedadv.fitting.run import fit
    from maskedadv.reading import read_gaps
    from maskedadv.saving import check_output

    if output is not None:
        check_output(output, overwrite=True)
    result = fit(
        datasets.global_mmlu_lite(),
        estimator="marginal",
        engine=engine,
        progress=lambda line: click.echo(f"  {line}", err=True),
    )
    click.echo("Gaps in logits, 95% intervals clustered by item (marginal maximum likelihood):\n")
    click.echo(gap_table(with_means(result.gaps(), result.means())))
    if len(result.variants) > 1:
        click.echo(f"\n{variant_text(result, models=False)}")
    click.echo("\nWhat this says")
    for sentence in read_gaps(result):
        click.echo(_wrapped(sentence))
    click.echo("\nBefore you conclude anything")
    for sentence in CAVEATS:
        click.echo(_wrapped(sentence))
    for warning in result.warnings:
        click.echo(_wrapped(f"Note: {warning}"))
    click.echo("\nWhat to run next")
    if output is not None:
        result.save(output, overwrite=True)
        from reports.write import write_report

        click.echo("  drawing the report", err=True)
        write_report(result, output / "report", notes=CAVEATS)
        click.echo(f"  open {output / 'report' / 'index.html'}   (all of this as a page with figures)")
        click.echo(f"  maskedadv gaps {output} --locale zh   (one locale of this result)")
    click.echo("  maskedadv check RESPONSES.csv   (is your own table ready?)")
    click.echo("  maskedadv fit RESPONSES.csv -o results --estimator marginal")
    click.echo("  maskedadv gaps results --format markdown")


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
