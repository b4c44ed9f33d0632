"""`maskedadv diagnose`: can the draws of a result be used."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.words.numbers import number
from maskedadv.words.terminal import WIDTH, clean, format_table, to_json

EXIT_DO_NOT_USE = 3


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--plots", type=click.Path(path_type=Path), help="Also write rank, ESS and energy plots here.")
@json_option
def command(results: Path, plots: Path | None, as_json: bool) -> int:
    """Say of every locale of RESULTS whether its draws can be used: fine, look, or do not use.

    RESULTS is a folder that `maskedadv fit --method nuts` wrote. Leaves with exit code 3 if any locale is
    not to be used. docs/reference/diagnostics.md explains every number.
    """
    from maskedadv.diagnostics import diagnose
    from maskedadv.diagnostics.verdict import DO_NOT_USE
    from maskedadv.result.save import load

    fit = load(results)
    found = diagnose(fit)
    if plots is not None:
        from maskedadv.diagnostics.plots import write_plots
        from maskedadv.result.draws import file_names

        for base, posteriors in fit.posteriors.items():
            suffix = "" if base == "plain" else f"-{base}"
            for locale, name in file_names(list(posteriors)).items():
                title = f"{locale} ({base})" if suffix else locale
                folder = plots / f"{Path(name).stem}{suffix}"
                for path in write_plots(posteriors[locale].tree(), title, folder):
                    say(f"wrote {path}", err=True)
    if as_json:
        rows = [
            {
                "locale": v.locale,
                "variant": v.variant,
                "verdict": v.verdict,
                "findings": [asdict(f) for f in v.findings],
                **asdict(v.measures),
            }
            for v in found
        ]
        say(to_json(rows))
    else:
        header = ("locale", "verdict", "R-hat", "all", "bulk ESS", "tail", "all", "div.", "E-BFMI", "MCSE/sd")
        table = []
        for v in found:
            m = v.measures
            least = min(m.ess_bulk_all, m.ess_tail_all)
            table.append(
                [
                    v.label,
                    v.verdict,
                    number(m.rhat_gaps, 3),
                    number(m.rhat_all, 3),
                    number(m.ess_bulk_gaps, 0),
                    number(m.ess_tail_gaps, 0),
                    number(least, 0),
                    str(m.divergences),
                    number(m.bfmi),
                    number(m.mcse_ratio, 3),
                ]
            )
        say(format_table(header, table, left=(0, 1)))
        say("R-hat, ESS and MCSE are the worst over all gaps; 'all' over every quantity.")
        for v in found:
            for f in v.findings:
                text = f"{clean(v.label)}: {f.level}: {clean(f.reason)}. Remedy: {f.remedy}."
                say(textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  "))
    return EXIT_DO_NOT_USE if any(v.verdict == DO_NOT_USE for v in found) else 0
