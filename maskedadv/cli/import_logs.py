"""`maskedadv import`: logs of other programs as a response table, with a report of what was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.import_output import is_folder, refuse_output, refuse_own_input, stream
from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say, say_data
from maskedadv.words.numbers import number
from maskedadv.words.terminal import clean, format_table, records, to_json

if TYPE_CHECKING:
    from maskedadv.scoring.importers.imported import Imported

_PATHS = click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
_OUTPUT = click.option(
    *("-o", "--output"),
    required=True,
    type=click.Path(path_type=Path),
    help="Response table: .parquet or .csv, or a folder, partitioned by language and model.",
)
_UNREAD = click.option(
    "--unread",
    type=click.Choice(["missing", "wrong"]),
    default="missing",
    show_default=True,
    help="What a written answer counts as from which no option can be read.",
)
_OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
_MAP = click.option(
    "--map", "mapping", type=click.Path(path_type=Path), help="TOML file: what tasks or columns mean."
)
_LABELS = click.option(
    "--subset-from",
    type=click.Path(path_type=Path),
    help="Items (.jsonl or .csv) with CA/CS labels by item id, for logs that carry none.",
)
_SUBSET = click.option(
    "--subset", type=click.Choice(["CA", "CS"]), help="Label of all items of sets that carry none."
)
_RUNS = (
    click.option("--task", "tasks", multiple=True, help="Only tasks of this shell pattern; repeatable."),
    click.option("--model", help="The model's name, where no file gives it, or instead of it."),
    click.option(
        "--run",
        default="newest",
        show_default=True,
        help="Which of several runs of one task: newest, or how its time begins, such as 2026-03-14.",
    ),
    click.option("--allow-limited", is_flag=True, help="Take runs of part of the items (--limit), too."),
)


def _options(*options: Callable[..., Any]) -> Callable[..., Any]:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_common = _options(_PATHS, _OUTPUT, _MAP, _LABELS, _SUBSET, _UNREAD, _OVERWRITE, json_option)
_of_runs = _options(*_RUNS)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Turn evaluation logs into a response table."""


@command.command("lm-eval", short_help="Sample logs of lm-evaluation-harness.")
@_common
@_of_runs
def lm_eval(**options: Any) -> None:
    """Sample logs of lm-evaluation-harness (--log_samples): files, or folders searched through.

    Global-MMLU, INCLUDE, CMMLU, KMMLU, ArabicMMLU, GreekMMLU, m_mmlu and Belebele are known; --map says
    what other tasks mean.
    """
    from maskedadv.scoring.importers.lm_eval import read_lm_eval

    _run(read_lm_eval, _rules, options)


@command.command("lighteval", short_help="Details files of lighteval.")
@_common
@_of_runs
def lighteval(**options: Any) -> None:
    """Details files of lighteval (--save-details): files, or folders searched through.

    lighteval keeps no item ids, so --map must say which field tells questions apart.
    """
    from maskedadv.scoring.importers.lighteval import read_lighteval

    _run(read_lighteval, _rules, options)


@command.command("inspect", short_help="Inspect logs, .eval and .json.")
@_common
@_of_runs
@click.option(
    "--epochs",
    type=click.Choice(["first", "mean"]),
    default="first",
    show_default=True,
    help="The first epoch's answer, or the mean over epochs as p_correct.",
)
@click.option("--scorer", help="Score to take: NAME or NAME.KEY, or read: the written answer.")
def inspect(**options: Any) -> None:
    """Inspect logs (.eval or .json): files, or folders searched through.

    Without --map the language is metadata.language, the subset metadata.subset, the item the sample's id.
    """
    from maskedadv.scoring.importers.inspect import read_inspect

    _run(read_inspect, _rules, options)


@command.command("helm", short_help="Runs of HELM.")
@_common
@_of_runs
def helm(**options: Any) -> None:
    """Runs of HELM (run_spec.json, per_instance_stats.json): folders of runs, searched through.

    Without --map the language is the scenario's argument `language`, and the item consists of its other
    arguments and the instance's id.
    """
    from maskedadv.scoring.importers.helm import read_helm

    _run(read_helm, _rules, options)


@command.command("table", short_help="Plain tables: CSV, Parquet, JSON, Excel.")
@_options(
    _PATHS,
    click.option(
        *("-o", "--output"),
        type=click.Path(path_type=Path),
        help="Response table, .parquet, .csv or a folder (partitioned); with --guess the mapping, .toml "
        "(else it is printed).",
    ),
    *(_MAP, _LABELS, _SUBSET, _UNREAD, _OVERWRITE, json_option),
)
@click.option("--model", help="The model of all rows, where nothing else says it.")
@click.option("--language", help="The language of all rows, where nothing else says it.")
@click.option("--guess", is_flag=True, help="Look at the files and write a mapping to edit.")
def table(guess: bool, **options: Any) -> None:
    """Plain tables (CSV, Parquet, JSON, Excel, zip archives or folders of them).

    Without --map the columns bear the names of the response table. --guess writes a mapping with what it took
    each column for: read it, edit it, and give it with --map.
    """
    if guess:
        _guess(options)
        return
    if options["output"] is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    from maskedadv.scoring.importers.table import Streamed, read_table
    from maskedadv.scoring.importers.table_mapping import read_table_mapping

    def read_map(path: Path) -> dict[str, Any]:
        return {"mapping": read_table_mapping(path)}

    if is_folder(options["output"]) and options["unread"] == "missing":
        stream(Streamed, read_map, options)
    else:
        _run(read_table, read_map, options)


def _rules(path: Path) -> dict[str, Any]:
    from maskedadv.scoring.importers.mapping import read_mapping

    return {"rules": read_mapping(path)}


def _guess(options: dict[str, Any]) -> None:
    """Write the mapping that the files suggest, to the output or to the screen."""
    from maskedadv.errors import BadSetting
    from maskedadv.files.atomic import write_text
    from maskedadv.scoring.importers.table_guess import guess_mapping

    output = options["output"]
    if output is not None and output.suffix.lower() != ".toml":
        raise BadSetting(f"{output}: a mapping is written to a .toml file.")
    fixed = {name: options[name] for name in ("model", "language", "subset") if options[name]}
    text, missing = guess_mapping(options["paths"], fixed)
    if output is None:
        say_data(text)
    else:
        write_text(text, output, overwrite=options["overwrite"])
        say(f"Written to {clean(str(output))}: read it, edit it, and give it with --map.")
    for note in missing:
        remark(f"Note: {note}.")


def _run(
    read: Callable[..., Imported], read_map: Callable[[Path], dict[str, Any]], options: dict[str, Any]
) -> None:
    """Read, write, report. What is left in `options` goes to the reader."""
    from maskedadv.files.atomic import write_table
    from maskedadv.responses.partitions import write_partitioned
    from maskedadv.scoring.importers.imported import unread_as_wrong
    from maskedadv.scoring.importers.labels import read_labels

    output, as_json, overwrite = (options.pop(name) for name in ("output", "as_json", "overwrite"))
    refuse_output(output, overwrite=overwrite)
    mapping, labels = options.pop("mapping"), options.pop("subset_from")
    unread = options.pop("unread")
    refuse_own_input(output, [p for p in (*options["paths"], mapping, labels) if p is not None])
    if mapping is not None:
        options |= read_map(mapping)
    if labels is not None:
        options["labels"] = read_labels(labels)
    imported = read(options.pop("paths"), **options)
    if unread == "wrong":
        imported = unread_as_wrong(imported)
    if is_folder(output):
        write_partitioned([imported.answers], output, overwrite=overwrite)
    else:
        write_table(imported.answers, output)
    if as_json:
        say(to_json(_report(imported, output)))
    else:
        _print(imported, output)
    for note in imported.notes:
        text = f"Note: {clean(note)}."
        say(fill(text, 80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False), err=True)


def _report(imported: Imported, output: Path) -> dict[str, Any]:
    return {
        "output": str(output),
        "counts": records(imported.counts()),
        "logs": records(imported.logs),
        "dropped": records(imported.dropped),
        "not_observed": records(imported.not_observed()),
        "unread": records(imported.unread()),
        "notes": list(imported.notes),
        "notes_by_log": records(imported.log_notes),
    }


def _print(imported: Imported, output: Path) -> None:
    counts, logs, total = imported.counts(), len(imported.logs), len(imported.answers)
    say(
        f"{total:,} {'answer' if total == 1 else 'answers'} of {counts['model'].nunique():,} "
        f"{'model' if counts['model'].nunique() == 1 else 'models'} from {logs:,} "
        f"{'log' if logs == 1 else 'logs'}, written to {clean(str(output))}\n"
    )
    rows = [
        [
            *(str(row[key]) for key in ("model", "language", "subset")),
            f"{row['answers']:,}",
            f"{row['observed']:,}",
            number(row["accuracy"], 3),
        ]
        for row in records(counts)
    ]
    say(format_table(["model", "language", "set", "answers", "observed", "accuracy"], rows))
    for title, frame in (("Left out", imported.dropped), ("Not observed", imported.not_observed())):
        if len(frame):
            totals = frame.groupby("reason", observed=True)["count"].sum()
            say(f"\n{title}:")
            for reason, count in totals.items():
                say(f"  {count:,} {reason}")
    if len(unread := imported.unread()):
        say("\nWritten answers from which no option could be read, of all answers:")
        shares = [
            [str(row["model"]), str(row["language"]), f"{row['unread']:,}", f"{100 * row['share']:.1f}%"]
            for row in records(unread)
        ]
        say(format_table(["model", "language", "unread", "share"], shares, left=(0, 1)))
