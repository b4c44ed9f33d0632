"""`maskedadv compare`: which model of the answers predicts answers that it has not seen?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.launch_options import launch_options
from maskedadv.cli.options import json_option, responses_argument, settings_options
from maskedadv.cli.say import say, tell
from maskedadv.cross_validation.arguments import SHARED
from maskedadv.words.numbers import number, plural
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.cross_validation import Comparison
    from maskedadv.cross_validation.plan import Plan
    from maskedadv.launchers import Launcher


@click.command()
@responses_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder for the tables; makes the run resumable."
)
@click.option(
    "--scheme",
    type=click.Choice(["block", "random", "item", "model"]),
    default="block",
    show_default=True,
    help="What is held out together: squares of items x models, single answers, new items or new models.",
)
@click.option("--folds", type=int, default=5, show_default=True, help="Number of folds.")
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    help="Candidate to compare, see below; may be several. Default: all that the table allows, without NUTS.",
)
@click.option(
    "--nuts", is_flag=True, help="Also nuts and crm-nuts where no candidate is named; minutes, not seconds."
)
@settings_options(*SHARED, chains=2, warmup=300, draws=300)
@launch_options("Folds")
@click.option("--predictions", is_flag=True, help="Also write every prediction (predictions.parquet).")
@click.option("--overwrite", is_flag=True, help="Replace another comparison in the folder.")
@json_option
def command(
    responses: str,
    output: Path | None,
    scheme: str,
    folds: int,
    candidates: tuple[str, ...],
    nuts: bool,
    how: Launcher,
    predictions: bool,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Hold out answers of RESPONSES, predict them by every candidate, and score the predictions.

    \b
    base rate       a model's share of right answers in a language
    joint, marginal right and wrong answers, maximum likelihood
    crm, soft       probabilities, maximum likelihood
    nuts, crm-nuts  their posteriors
    floor           marginal, with a guessing floor
    pairs           marginal, with what a model knows of single items
    paired          every model by itself, from its answer in the other language

    and pairs+floor, paired+floor, floor-nuts, paired-nuts, paired+floor-nuts. docs/how-to/compare.md says
    how to read the table.
    """
    from maskedadv.cross_validation.plan import make_plan
    from maskedadv.errors import BadSetting
    from maskedadv.responses import read_responses
    from maskedadv.sampling.priors import parse_priors

    if predictions and output is None:
        raise BadSetting("--predictions writes a file; give a folder with -o.")
    given |= {"locale": given["locale"] or None, "priors": parse_priors(given["priors"]) or None}
    plan = make_plan(
        read_responses(responses),
        scheme=scheme,
        folds=folds,
        candidates=candidates or None,
        nuts=nuts,
        **{k: v for k, v in given.items() if v is not None},
    )
    found = _run(plan, output, how=how, predictions=predictions, overwrite=overwrite)
    if as_json:
        say(
            to_json(
                {
                    "output": None if output is None else str(output),
                    **found.info,
                    "notes": list(found.notes),
                    "scores": records(found.scores),
                    "by_fold": records(found.by_fold),
                    "by_group": records(found.by_group),
                    "calibration": records(found.calibration),
                }
            )
        )
        return
    say(in_words(found))
    if output is not None:
        say(f"\nWritten to {output}")


def _run(plan: Plan, output: Path | None, *, how: Launcher, predictions: bool, overwrite: bool) -> Comparison:
    """Run a plan; with an output folder, finished folds are kept beside it until it is whole."""
    from dataclasses import replace

    from maskedadv.cross_validation.kept import close_kept, open_kept, unfinished_folder
    from maskedadv.cross_validation.running import run_plan
    from maskedadv.cross_validation.saving import MARK, PREDICTIONS, load_comparison, save_comparison
    from maskedadv.files.folders import check_folder
    from maskedadv.launchers import tracked

    if output is None:
        return run_plan(plan, how=how, progress=tell)
    check_folder(output, MARK, plan.describe()["fingerprint"], overwrite=overwrite)
    done = (
        (output / MARK).is_file() and not overwrite and (not predictions or (output / PREDICTIONS).is_file())
    )
    if done:
        say(f"{output} already holds this very run; nothing to do (--overwrite runs again).", err=True)
        return load_comparison(output)
    folder = open_kept(output, plan.describe(), overwrite=overwrite)
    try:
        with tracked(how, output) as how:
            found = run_plan(plan, how=how, progress=tell, folder=folder)
            save_comparison(found if predictions else replace(found, predictions=None), output)
    except BaseException:
        if count := close_kept(output, keep=True):
            say(
                f"{count} finished folds are kept in {unfinished_folder(output)}; the same command "
                "completes it.",
                err=True,
            )
        raise
    close_kept(output, keep=False)
    return found


def in_words(found: Comparison) -> str:
    """The table of scores, what its columns are, and who is not told apart from the best."""
    info, table = found.info, found.scores
    lines = [
        wrap(
            f"Predictions of held-out answers: scheme {info['scheme']}, {info['folds']} folds; "
            f"{info['answers']:,} answers of {plural(info['models'], 'model')} to "
            f"{plural(info['items'], 'item')}, {plural(len(info['locales']), 'locale')}."
        ),
        "",
        format_table(
            ["candidate", "BCE", "sd", "Brier", "AUC", "acc.", "slope", "diff.", "95%"],
            [_row(row) for row in records(table)],
        ),
        "",
        wrap(
            "BCE: binary cross-entropy, nats an answer, lower is better; sd: over folds; slope: below 1 "
            "where predictions are too bold; diff.: BCE above the best, its interval clustered by "
            f"{'model' if info['scheme'] == 'model' else 'item'}."
        ),
    ]
    close = [str(r["candidate"]) for r in records(table)[1:] if not r["lower"] > 0]
    best = str(table["candidate"].iloc[0])
    if len(table) > 1:
        over = "models" if info["scheme"] == "model" else "items"
        clear = f"{best} predicts better than each of the others, beyond what chance over {over} does."
        alike = f"Not told apart from {best} by these answers: {', '.join(close)}."
        lines += ["", wrap(alike if close else clear)]
    if info["scheme"] == "item" and len(table) > 1:
        lines += [
            "",
            wrap(
                "Single answers to new items are told by abilities alone, so candidates hardly differ here; "
                "PSIS-LOO (docs/how-to/compare.md) judges an item's answers together."
            ),
        ]
    lost = {str(r["candidate"]): int(r["fallback"]) for r in records(table) if r["fallback"]}
    lines += [
        wrap(f"Note: {name} had no prediction for {n:,} answers; the base rate stands in.")
        for name, n in lost.items()
    ]
    lines += [wrap(f"Note: {note}.") for note in found.notes]
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> list[str]:
    interval = "-" if row["difference"] == 0 else f"[{_short(row['lower'])}, {_short(row['upper'])}]"
    return [
        str(row["candidate"]),
        _short(row["bce"]),
        _short(row["bce_sd"]),
        _short(row["brier"]),
        _short(row["auc"], 3),
        _short(row["accuracy"], 3),
        number(row["slope"]),
        "-" if row["difference"] == 0 else _short(row["difference"]),
        interval,
    ]


def _short(value: float, digits: int = 4) -> str:
    """Without the zero before the point: `.3186`."""
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
