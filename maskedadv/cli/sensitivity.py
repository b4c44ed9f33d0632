"""`maskedadv sensitivity`: do signs or clearness change with the choices of an analysis?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.launch_options import launch_options
from maskedadv.cli.options import json_option, responses_argument, settings_of, settings_options
from maskedadv.cli.say import remark, say, tell
from maskedadv.files.unfinished import journal_file
from maskedadv.vocabulary import GAPS, KNOWLEDGE, SUBSETS, gap_titles
from maskedadv.words.numbers import number
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.launchers import Launcher
    from maskedadv.sensitivity import Sensitivity

NEEDED = {"global_gap": ("CA",), "local_gap": ("CS",), KNOWLEDGE: SUBSETS}
"""Subsets without which a gap is not known."""
SETTINGS = (
    "locale",
    "pivot",
    "min_accuracy",
    "min_accuracy_on",
    "response",
    "options",
    "estimator",
    "scope",
    "guessing",
    "link",
    "headline",
    "interval",
    "level",
    "engine",
)


@click.command()
@responses_argument
@settings_options(*SETTINGS, estimator="auto")
@click.option("--models", type=click.Path(path_type=str), help="Model table with a column family.")
@click.option("--subject", help="Column of RESPONSES with the items' subjects. Default: subject.")
@click.option(
    "--other",
    multiple=True,
    metavar="NAME=TABLE",
    help="The same study under another letter form, prompt or reading; repeatable.",
)
@click.option(
    "--gap", type=click.Choice(list(GAPS)), default=KNOWLEDGE, show_default=True, help="What to tell."
)
@launch_options("Analyses")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Table: .csv or .parquet.")
@click.option("--figure", type=click.Path(path_type=Path), help="Specification curve: .png, .svg or .pdf.")
@click.option("--overwrite", is_flag=True, help="Replace table and figure.")
@json_option
def command(
    responses: str,
    models: str | None,
    subject: str | None,
    other: tuple[str, ...],
    gap: str,
    how: Launcher,
    output: Path | None,
    figure: Path | None,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Fit RESPONSES under other assumptions, estimators and data, and say whether the answer changes.

    One choice at a time: every variant; joint, marginal, one CA difficulty in all languages, discriminations
    that differ (2PL, with and without floor); accuracy filters from 0 to 0.5; missing answers as wrong;
    without each model, family (--models) and subject; other tables (--other).
    """
    from maskedadv.errors import BadSetting, NotEstimable
    from maskedadv.files.atomic import check_table_output, write_table
    from maskedadv.files.claims import claim
    from maskedadv.launchers import tracked
    from maskedadv.responses import read_responses
    from maskedadv.sensitivity import vary
    from maskedadv.sensitivity.reading import by_kind, by_locale, in_words, judged

    others = dict(pair.partition("=")[::2] for pair in other)
    if not all(name and table for name, table in others.items()):
        raise BadSetting("--other is NAME=TABLE, such as --other 'digits=digits.csv'.")
    if output is not None:
        check_table_output(output, overwrite=overwrite)
    if figure is not None:
        from maskedadv.reports.drawing import check_figure

        check_figure(figure, overwrite=overwrite)
    table = read_responses(responses, extras=True)
    lacks = [s for k, s in enumerate(SUBSETS) if s in NEEDED[gap] and not (table.item_subset == k).any()]
    if lacks and not others:  # known before the work
        raise NotEstimable(f"the {gap_titles()[gap]} needs {lacks[0]} items, and the table has none.")
    settings = settings_of(given)
    with claim(output):  # a second run's table would replace the first one's
        with tracked(how, output) as how:
            found = vary(
                table,
                settings=settings,
                models=models,
                subject=subject,
                others=others,
                launcher=how,
                tell=tell,
                journal=journal_file(output),
            )
        if judged(found, gap).empty:
            title = gap_titles()[gap]
            raise NotEstimable(
                f"no {title} is known under any analysis; `maskedadv check` says what is missing."
            )
        if output is not None:
            write_table(found.table, output)
    if figure is not None:
        from maskedadv.reports.drawing import write_figure
        from maskedadv.reports.figures.sensitivity import specification_curve

        write_figure(specification_curve(found, gap), figure)
    kinds, locales, words = by_kind(found, gap), by_locale(found, gap), in_words(found, gap)
    if as_json:
        tables = {"by_kind": kinds, "by_locale": locales, "table": found.table}
        plain = {name: records(table) for name, table in tables.items()}
        say(to_json({"headline": found.headline, "words": words, "notes": list(found.notes), **plain}))
        return
    say("\n".join(wrap(sentence) for sentence in words))
    say(f"\n{_kinds(kinds)}\n\n{_locales(locales)}")
    for note in (*found.notes, *_failures(found)):
        remark(note)


def _kinds(kinds: Any) -> str:
    rows = [
        [
            r["kind"],
            str(r["analyses"]),
            number(r["lowest"]),
            number(r["highest"]),
            str(r["clearness_changes"]),
            number(r["shift"]),
            r["largest"],
        ]
        for r in records(kinds)
    ]
    header = ("choice", "n", "lowest", "highest", "changed", "shift", "largest shift")
    return format_table(header, rows, left=(0, 6))


def _locales(locales: Any) -> str:
    rows = [
        [
            r["locale"],
            number(r["estimate"]),
            f"[{number(r['lower'])}, {number(r['upper'])}]",
            f"{number(r['lowest'])} to {number(r['highest'])}",
            f"{r['above']}/{r['below']}/{r['analyses']}",
        ]
        for r in records(locales)
    ]
    header = ("locale", "first", "interval", "all", "above/below/n")
    hangs = [
        wrap(f"{r['locale']}: whether it is clear hangs on {r['hangs_on']}.")
        for r in records(locales)
        if r["hangs_on"] and len(locales) > 1
    ]
    return "\n".join([format_table(header, rows), *hangs])


def _failures(found: Sensitivity) -> list[str]:
    lost = found.table[found.table["note"] != ""]
    return [f"{r['kind']}, {r['name']}: {r['note']}" for r in records(lost)]
