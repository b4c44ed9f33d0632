"""`maskedadv validity`: is a translated benchmark a valid proxy for a native one?"""

from __future__ import annotations

import math
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.launch_options import launch_options
from maskedadv.cli.options import json_option
from maskedadv.cli.say import say, tell
from maskedadv.settings import LEVEL
from maskedadv.words.numbers import level_text, number
from maskedadv.words.terminal import WIDTH, clean, format_table

if TYPE_CHECKING:
    from maskedadv.launchers import Launcher
    from maskedadv.validity import Study


@click.group()
def command() -> None:
    """Is a translated benchmark a valid proxy for a native one?"""


def inputs(function: Any) -> Any:
    """PAIRINGS, and the options that say where scores come from."""
    for option in (
        click.option(
            "--scores",
            type=click.Choice(["accuracy", "ability"]),
            default="accuracy",
            show_default=True,
            help="Accuracies of the score table, or abilities of fitted cubes with their uncertainty.",
        ),
        click.option("--models", type=click.Path(), help="Model table, instead of the one in PAIRINGS."),
        click.option("--table", type=click.Path(), help="Score table, instead of the one in PAIRINGS."),
        click.argument("pairings", type=click.Path(path_type=Path)),
    ):
        function = option(function)
    return function


@command.command()
@inputs
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for tables, figure and page.")
@click.option("--resamples", "n_resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
@click.option("--level", default=LEVEL, show_default=True, help="Level of intervals.")
@click.option(
    "--interval",
    type=click.Choice(["expanded", "percentile"]),
    default="expanded",
    show_default=True,
    help="Regression intervals: percentiles widened to t quantiles, or plain ones as in the paper.",
)
@click.option(
    "--resample",
    type=click.Choice(["models", "families"]),
    default="models",
    show_default=True,
    help="What is drawn with replacement.",
)
@click.option(
    "--reliability",
    "reliability",
    multiple=True,
    metavar="NAME=VALUE",
    help="Reliability of a benchmark, benchmark@language or control; may be given several times.",
)
@click.option(
    "--assumed-reliability",
    default=0.9,
    show_default=True,
    help="Least reliability of a control of which none is known; the class must be the same there and at 1.",
)
@click.option("--alpha", default=0.05, show_default=True, help="Level of the F test and of the refits.")
@click.option("--repeats", default=200, show_default=True, help="Balanced halves drawn in Block A.")
@click.option("--min-items", default=50, show_default=True, help="Block A: fewest items to interpret.")
@click.option("--seed", default=1, show_default=True, help="Seed of all random numbers.")
@launch_options("Pairings")
@click.option("--overwrite", is_flag=True, help="Replace the results in the output folder.")
@json_option
def run(
    pairings: Path,
    table: str | None,
    models: str | None,
    output: Path | None,
    how: Launcher,
    overwrite: bool,
    as_json: bool,
    reliability: tuple[str, ...],
    **settings: Any,
) -> None:
    """Run the study that PAIRINGS (a TOML file) describes; docs/how-to/validity.md has the format.

    Prints the evidence class of every pairing with a verdict in words. With -o, writes Tables 5, 6, 7
    and 25 to 31 as CSV and LaTeX, Figure 1, and a page (index.html) with all of them.
    """
    from maskedadv.files.claims import claim
    from maskedadv.files.folders import check_folder, whole_folder
    from maskedadv.launchers import tracked
    from maskedadv.validity import Settings, study
    from maskedadv.validity.inputs import prepare

    stated = _stated(reliability)
    prepared = prepare(pairings, table, models, Settings(reliability=stated, **settings))
    _notes(prepared.notes)
    with ExitStack() as stack:
        if output is not None:
            stack.enter_context(claim(output))  # a second run would be refused at its end, its work lost
            check_folder(output, "validity.json", prepared.fingerprint, overwrite=overwrite)
        how = stack.enter_context(tracked(how, output))
        result = study(prepared, launcher=how, tell=tell)
        if output is not None:
            from maskedadv.reports.validity_page import write_study

            # Every other file of ours is written each time; what is left over is the user's.
            with whole_folder(output, lambda name: name == "figure1.svg") as folder:
                write_study(result, folder)
    if output is not None:
        say(f"Wrote {output / 'index.html'} and the tables beside it.", err=True)
    say(result.to_json() if as_json else _summary(result))


@command.command()
@inputs
@json_option
def check(pairings: Path, table: str | None, models: str | None, scores: str, as_json: bool) -> None:
    """Say what a study of PAIRINGS would use, and what it could not do, without running it."""
    from maskedadv.validity import Settings
    from maskedadv.validity.inputs import overview, prepare
    from maskedadv.words.terminal import to_json

    prepared = prepare(pairings, table, models, Settings(scores=scores))
    _notes(prepared.notes)
    rows = overview(prepared)
    if as_json:
        say(to_json(rows))
        return
    header = ("pairing", "language", "models", "left out", "native CA+CS", "proxy CA+CS")
    cells = [
        (r["pairing"], r["language"], str(r["n_models"]), str(len(r["dropped"])), r["native"], r["proxy"])
        for r in rows
    ]
    say(format_table(header, cells, left=(0, 1)))
    for row in rows:
        for line in (
            *row["reliability"],
            *row["limits"],
            *(f"{model} is left out: {why}" for model, why in row["dropped"][:5]),
        ):
            say(_wrap(f"{row['pairing']}: {line}."))
        if len(row["dropped"]) > 5:
            say(_wrap(f"{row['pairing']}: {len(row['dropped']) - 5} more models are left out."))


def _stated(texts: tuple[str, ...]) -> dict[str, float]:
    """NAME=VALUE as pairs; names may hold `=`, values may not."""
    from maskedadv.errors import BadSetting

    stated: dict[str, float] = {}
    twice: set[str] = set()
    for text in texts:
        name, given, value = text.rpartition("=")
        try:
            stated[name.strip()] = float(value)
        except ValueError:
            given = ""
        if not given or not name.strip():
            raise BadSetting(f"--reliability takes NAME=VALUE, such as proficiency=0.97, not {text!r}.")
        if name.strip() in twice:
            raise BadSetting(f"--reliability gives {name.strip()!r} twice; give each name once.")
        twice.add(name.strip())
    return stated


def _notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(_wrap(f"Note: {note}"), err=True)


def _wrap(text: str) -> str:
    return textwrap.fill(clean(text), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _summary(study: Study) -> str:
    """One line a pairing, then the verdicts."""
    from maskedadv.validity.verdict import interval_text, p_text, verdict
    from maskedadv.words.terminal import records

    tau = study.ranking.loc[study.ranking["group"] == "ALL"].set_index("pairing")
    main = study.incremental.loc[study.incremental["variant"] == "main"].set_index("pairing")
    rows = []
    for row in records(study.evidence):
        name = row["pairing"]
        rows.append(
            (
                name,
                number(main.loc[name, "n_models"], 0),
                number(tau.loc[name, "tau"]),
                number(main.loc[name, "delta_r2"], 3),
                number(row["beta"]),
                interval_text(row["beta_lower"], row["beta_upper"], 2).replace("NA", "-"),
                p_text(row["p_f"]).replace("NA", "-"),
                f"{row['lofo_passed']}/{row['lofo_refits']}" if row["lofo_refits"] else "-",
                row["evidence"],
            )
        )
    header = (
        "pairing",
        "n",
        "tau",
        "dR2",
        "beta",
        f"{level_text(study.settings.level)} CI",
        "p",
        "LOFO",
        "evidence",
    )
    lines = [format_table(header, rows, left=(0, 8)), _errors(study)]
    lines += [
        _wrap(f"{name}: {verdict(study, pairing)}")
        for name, pairing in ((pairing.name, pairing) for pairing in study.pairings)
    ]
    return "\n\n".join(lines)


def _errors(study: Study) -> str:
    """Reliabilities, and what is left with measurement error taken out: one line a pairing."""
    from maskedadv.validity.verdict import p_text
    from maskedadv.words.terminal import records

    own = study.reliability.loc[study.reliability["variant"] == "main"]
    rows = []
    for fit in records(study.corrected.loc[study.corrected["variant"] == "main"]):
        part = own.loc[own["pairing"] == fit["pairing"]]
        first = part.drop_duplicates("role").set_index("role")["reliability"]
        controls = part.loc[(part["role"] == "control") & (part["basis"] != "exact")]
        least = controls["reliability"].min(skipna=False) if len(controls) else 1.0
        rows.append(
            (
                fit["pairing"],
                *(number(first.get(role, math.nan), 3) for role in ("native", "proxy")),
                number(least, 3),
                number(fit["beta"]),
                "-" if math.isnan(fit["lower"]) else f"[{number(fit['lower'])}, {number(fit['upper'])}]",
                p_text(fit["p"]).replace("NA", "-"),
                number(part["tips_at"].max(), 3),
            )
        )
    interval = f"{level_text(study.settings.level)} CI"
    header = ("pairing", "native", "proxy", "control", "beta", interval, "p", "null at")
    title = (
        "Reliability of native, proxy and least reliable control; results with measurement error taken out; "
        "the control's reliability at which the association is lost (- where not known, or never):"
    )
    return f"{_wrap(title)}\n{textwrap.indent(format_table(header, rows, left=(0,)), '  ')}"
