"""`maskedadv score`: ask models the items, and write a response table."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.score_options import score_options
from maskedadv.words.numbers import number
from maskedadv.words.terminal import clean, format_table, to_json, wrap

if TYPE_CHECKING:
    import pyarrow as pa

    from maskedadv.scoring.endpoints.purse import Purse
    from maskedadv.scoring.endpoints.settings import ApiSettings
    from maskedadv.scoring.launch.devices import Slot
    from maskedadv.scoring.launch.plan import Unit
    from maskedadv.scoring.models.settings import HfSettings


@click.group()
def command() -> None:
    """Ask models the items; the answers are a response table for maskedadv fit."""


@command.command("plan")
@score_options
@json_option
def plan(as_json: bool, output: Path, **options: Any) -> None:
    """Print the models with their tokens, what is done, and how long or how much the rest will take."""
    from maskedadv.scoring.launch.estimate import estimate_unit

    estimates = [estimate_unit(unit, output) for unit in _units(**options)]
    if as_json:
        click.echo(to_json([e.__dict__ for e in estimates]))
        sys.exit(1 if any(e.problem for e in estimates) else 0)
    rows = [
        [e.model, e.size, f"{e.pieces_done} of {e.pieces}", f"{e.items:,}", f"{e.tokens:,}", e.cost]
        for e in estimates
    ]
    click.echo(format_table(["model", "size", "files done", "items", "tokens", "rest takes"], rows))
    if any("at most" in e.cost for e in estimates):
        _say(
            "About: four bytes a token and answers as long as they may be. At most: a token for every byte "
            "and 256 for a chat template. Tries after the first may cost as much again; --max-cost of score "
            "run holds for all of them."
        )
    for e in estimates:
        if e.problem:
            click.echo(f"{e.model}: {clean(e.problem)}", err=True)
    sys.exit(1 if any(e.problem for e in estimates) else 0)


@command.command("run")
@score_options
@click.option(
    "--gpus",
    default=0,
    help="Processes, each with its own GPU; default: all GPUs of this machine. With --slurm: GPUs of a job.",
)
@click.option("--slurm", metavar="PARTITION", help="Hand the models to Slurm, one job each, and wait.")
@click.option("--again", is_flag=True, help="Ask anew where a server or memory failed.")
@json_option
def run(output: Path, gpus: int, slurm: str | None, again: bool, as_json: bool, **options: Any) -> None:
    """Ask the models, and write OUTPUT/responses.parquet.

    ITEMS are files in the project's schema (see maskedadv items convert); each is a set of its own name.
    What is done is kept in OUTPUT; the same command again does only what is missing.
    """
    from maskedadv.errors import BadSetting, UnitsFailed
    from maskedadv.scoring.launch.launch import (
        identify_units,
        largest_first,
        read_errors,
        run_units,
    )
    from maskedadv.scoring.launch.plan import collect
    from maskedadv.scoring.launch.store import write_table
    from maskedadv.scoring.launch.summary import summary, unobserved, warnings
    from maskedadv.scoring.launch.work import count_left

    if slurm is not None and options["dtype"] == "auto":
        raise BadSetting(
            "--slurm needs a --dtype, such as bfloat16: this machine may not have the jobs' GPU."
        )
    if slurm is not None and options["max_cost"] is not None:
        raise BadSetting("--max-cost holds for requests from this machine; leave --slurm out.")
    slots = _slots(gpus, options["url"], options["device"]) if slurm is None else []
    if slurm is not None and options["device"] == "auto":
        options["device"] = "cuda"  # a job has a GPU, whatever this machine has
    units = _units(**options)
    known = identify_units(units, output, _progress)
    _refuse_unwritable(output)
    if slurm is not None:
        from maskedadv.scoring.launch.slurm import run_on_slurm

        failed = run_on_slurm(
            largest_first(units), known, output, slurm, again=again, gpus=gpus or 1, report=_progress
        )
    else:
        queue = largest_first(units) if len(slots) > 1 else units
        failed = run_units(queue, known, output, _progress, slots, again=again)
    table = collect(output, units, known)
    if table is not None:
        try:
            write_table(output / "responses.parquet", table)
        except OSError as error:
            raise UnitsFailed(
                f"{output / 'responses.parquet'} cannot be written ({error.strerror or error}). The answers "
                "are kept; the same command again writes the table."
            ) from error
        click.echo(to_json(summary(table)) if as_json else _print(table, output))
        for sentence in warnings(table):
            _say(sentence)
    if failed:
        errors = read_errors(output)
        left = {u.model: count_left(u, known[u.model], output) for u in units if u.model in known}
        shown = "; ".join(f"{m}: {_last_line(errors.get(m, ''))}" for m in failed[:3])
        rest = ", ".join(f"{left[m]:,} of {m}" for m in failed[:3] if m in left)
        raise UnitsFailed(
            f"{len(failed)} of {len(units)} models failed ({clean(shown)}); the whole story is in "
            f"{output / '_errors'}. The same command again takes up what is missing"
            f"{f' (questions left: {rest})' if rest else ''}."
        )
    if blind := [] if table is None else unobserved(table):
        raise UnitsFailed(
            f"of {len(blind)} of {len(units)} models nothing was observed ({clean('; '.join(blind[:3]))}); "
            "the table says why of every item."
        )


def _last_line(error: str) -> str:
    """The sentence at the end of a recorded failure."""
    line = error.strip().rpartition("\n")[2]
    return line.partition(": ")[2] if line.startswith("maskedadv.errors.") else line


def _units(
    items: tuple[Path, ...],
    models: tuple[str, ...],
    languages: tuple[str, ...],
    prompt_file: Path | None,
    letter_forms: Any,
    drop_bad: bool,
    **options: Any,
) -> list[Unit]:
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.items.items import KEYS_DIFFER, askable, check_items
    from maskedadv.scoring.items.sources import read_items
    from maskedadv.scoring.launch.plan import Unit, check_sets, make_pieces
    from maskedadv.scoring.launch.store import extra_columns
    from maskedadv.scoring.prompts.prompts import check_prompts, load_prompts

    sets: dict[str, list[Any]] = {}
    for path in items:
        name = path.resolve().name.split(".")[0]
        if name in sets:
            raise BadSetting(f"two item files are called {name}; rename one, sets are known by their names.")
        found = read_items([path], drop_bad=drop_bad)
        kept, dropped = askable(
            [x for x in found.items if not languages or x.language in languages], drop=drop_bad
        )
        for reason, count in [*found.dropped.items(), *dropped.items()]:
            _say(f"{name}: {count:,} items left out: {reason}.")
        differing = [p for p in check_items(kept) if p.kind == KEYS_DIFFER]
        if differing:
            _say(
                f"{name}: {len(differing)} items have another right option in some language "
                f"({differing[0].item}: {differing[0].detail}); see maskedadv items check."
            )
        for column, shown in extra_columns(kept).items():
            if column != shown:
                _say(
                    f"{name}: the column {column!r} will be called {shown!r} in the table, where {column!r} "
                    "is a result."
                )
        sets[name] = kept
    if not any(sets.values()):
        raise BadSetting("no item is left to ask; see --language and --drop-bad.")
    check_sets(sets)  # before the prompts, which may lack words for a row that should not be there
    prompts = load_prompts(prompt_file)
    check_prompts([item for kept in sets.values() for item in kept], prompts)
    pieces = make_pieces(sets, prompts, letter_forms)
    units = []
    options["purse"] = _purse(options)
    for text in models:
        name, settings = _settings(text, options)
        units.append(Unit(name, settings, pieces))
    twice = [name for name, count in Counter(u.model for u in units).items() if count > 1]
    if twice:
        raise BadSetting(f"two models are called {twice[0]!r}; name them apart with -m NAME=MODEL.")
    return units


def _settings(text: str, options: dict[str, Any]) -> tuple[str, HfSettings | ApiSettings]:
    """The name in the table, and how the model is reached."""
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.endpoints.settings import ApiSettings
    from maskedadv.scoring.models.settings import HfSettings

    name, equals, where = text.partition("=")
    if not equals or Path(text).exists():  # a folder's own name may hold the sign
        equals, where = "", text
    elif not (name and where):
        raise BadSetting(f"-m {text!r}: write a model, or NAME=MODEL.")
    if options["url"]:
        keys = ("answers", "endpoint", "max_answer_tokens", "concurrency", "retries", "timeout")
        more = {key: options[key] for key in (*keys, "price_in", "price_out", "tokenizer", "purse")}
        more["top"] = options["top_logprobs"]
        return (name if equals else where), ApiSettings(where, options["url"], **more)
    path, at, revision = where.rpartition("@")
    if not at or Path(where).exists():
        path, revision = where, ""
    batch = options["max_tokens_per_batch"]
    if batch != "auto" and not (batch.isdigit() and int(batch) > 0):
        raise BadSetting(f"--max-tokens-per-batch is auto or a whole number above 0, not {batch!r}.")
    settings = HfSettings(
        path,
        revision or None,
        options["dtype"],
        options["device"],
        options["attention"],
        options["trust_remote_code"],
        None if batch == "auto" else int(batch),
    )
    default = Path(path).resolve().name if Path(path).is_dir() else where
    return (name if equals else default), settings


def _purse(options: dict[str, Any]) -> Purse | None:
    """What all models together may cost."""
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.endpoints.purse import Purse

    if options["max_cost"] is None:
        return None
    if not options["url"]:
        raise BadSetting("--max-cost is for endpoints; give one with --api.")
    return Purse(options["max_cost"])


def _refuse_unwritable(output: Path) -> None:
    """Say so before any model is asked, not after."""
    from maskedadv.errors import BadSetting

    try:
        output.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=output):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSetting(f"{output} cannot be written to ({reason}); name another folder with -o.") from error


def _slots(gpus: int, url: str | None, device: str) -> list[Slot]:
    """The processes of a run on this machine."""
    from maskedadv.scoring.launch.devices import assign

    if url:
        return []
    try:
        import torch
    except ModuleNotFoundError:
        return []
    return assign(device, gpus, torch.cuda.device_count())


def _say(sentence: str) -> None:
    click.echo(wrap(sentence), err=True)


def _progress(line: str) -> None:
    line = clean(line)
    if sys.stderr.isatty():
        click.echo(f"\r{line[:79]:<79}", nl=False, err=True)
    else:
        click.echo(line, err=True)


def _print(table: pa.Table, output: Path) -> str:
    from maskedadv.scoring.launch.store import may_pass
    from maskedadv.scoring.launch.summary import summary

    found = summary(table)
    found = summary(table)
    rows = [
        [
            *(r[key] for key in ("model", "language", "subset")),
            f"{r['answers']:,}",
            f"{r['observed']:,}",
            number(r["accuracy"] if r["accuracy"] is not None else float("nan"), 3),
            str(r["tied"]),
        ]
        for r in found
    ]
    text = format_table(["model", "language", "set", "answers", "observed", "accuracy", "tied"], rows)
    reasons: Counter[str] = Counter()
    for r in found:
        reasons.update(r["reasons"])
    if reasons:
        text += "\n\nMissing, wholly or in their probability:\n"
        text += "\n".join(f"  {count:,} {reason}" for reason, count in reasons.most_common())
        if any(may_pass(reason) for reason in reasons):
            text += "\n--again asks anew where a server or memory failed."
    return f"{text}\n\nWritten to {clean(str(output / 'responses.parquet'))}."
