"""`maskedadv score`: ask models the items, and write a response table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.launch_options import make_launcher, ray_option, slurm_option
from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say, say_over
from maskedadv.cli.score_options import score_options
from maskedadv.cli.score_units import make_units
from maskedadv.words.numbers import number
from maskedadv.words.terminal import clean, format_table, to_json

if TYPE_CHECKING:
    import pyarrow as pa

    from maskedadv.launchers import Launcher
    from maskedadv.scoring.launch.devices import Slot
    from maskedadv.scoring.launch.plan import Unit


@click.group()
def command() -> None:
    """Ask models the items; the answers are a response table for maskedadv fit."""


@command.command("plan")
@score_options
@json_option
def plan(as_json: bool, output: Path, **options: Any) -> None:
    """Print the models with their tokens, what is done, and how long or how much the rest will take."""
    from maskedadv.scoring.launch.estimate import estimate_unit

    estimates = [estimate_unit(unit, output) for unit in make_units(**options)]
    if as_json:
        say(to_json([e.__dict__ for e in estimates]))
        sys.exit(1 if any(e.problem for e in estimates) else 0)
    rows = [
        [e.model, e.size, f"{e.pieces_done} of {e.pieces}", f"{e.items:,}", f"{e.tokens:,}", e.cost]
        for e in estimates
    ]
    say(format_table(["model", "size", "files done", "items", "tokens", "rest takes"], rows))
    if any("at most" in e.cost for e in estimates):
        remark(
            "About: four bytes a token and answers as long as they may be. At most: a token for every byte "
            "and 256 for a chat template. Tries after the first may cost as much again; --max-cost of score "
            "run holds for all of them."
        )
    for e in estimates:
        if e.problem:
            say(f"{e.model}: {clean(e.problem)}", err=True)
    sys.exit(1 if any(e.problem for e in estimates) else 0)


@command.command("run")
@score_options
@click.option(
    "--gpus",
    default=0,
    help="Processes, each with its own GPU; default: all of this machine. With --slurm, --ray: of a model.",
)
@slurm_option
@ray_option
@click.option("--again", is_flag=True, help="Ask anew where a server or memory failed.")
@click.option(
    "--partitioned",
    is_flag=True,
    help="Write the folder OUTPUT/responses, by language and model, in place of one file.",
)
@json_option
def run(
    output: Path,
    gpus: int,
    slurm: str | None,
    ray: str | None,
    again: bool,
    partitioned: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask the models, and write OUTPUT/responses.parquet.

    ITEMS are files in the project's schema (see maskedadv items convert); each is a set of its own name.
    What is done is kept in OUTPUT; the same command again does only what is missing.
    """
    from maskedadv.errors import BadSetting
    from maskedadv.launchers import Slurm, tracked
    from maskedadv.scoring.launch.launch import identify_units

    how = make_launcher(1, slurm, ray, None)
    elsewhere = "--slurm" if slurm is not None else "--ray" if ray is not None else ""
    if elsewhere and options["dtype"] == "auto":
        raise BadSetting(
            f"{elsewhere} needs a --dtype, such as bfloat16: this machine may not have the others' GPU."
        )
    if elsewhere and options["max_cost"] is not None:
        raise BadSetting(f"--max-cost holds for requests from this machine; leave {elsewhere} out.")
    slots = [] if elsewhere else _slots(gpus, options["url"], options["device"])
    if elsewhere and options["device"] == "auto":
        options["device"] = "cuda"  # others have a GPU, whatever this machine has
    units = make_units(**options)
    known = identify_units(units, output, say_over)
    _refuse_unwritable(output)
    if isinstance(how, Slurm):
        how = replace(how, folder=output / "_slurm")
    with tracked(how, output) as how:
        _run(
            units,
            known,
            output,
            slots,
            how,
            gpus=gpus or 1,
            again=again,
            partitioned=partitioned,
            as_json=as_json,
        )


def _run(
    units: list[Unit],
    known: dict[str, dict[str, Any]],
    output: Path,
    slots: list[Slot],
    how: Launcher,
    *,
    gpus: int,
    again: bool,
    partitioned: bool,
    as_json: bool,
) -> None:
    """Ask, write the table, and say what failed."""
    from maskedadv.errors import UnitsFailed
    from maskedadv.launchers import Local
    from maskedadv.scoring.launch.launch import largest_first, read_errors, run_units
    from maskedadv.scoring.launch.plan import collect
    from maskedadv.scoring.launch.summary import summary, unobserved, warnings
    from maskedadv.scoring.launch.work import count_left

    queue = largest_first(units) if len(slots) > 1 or not isinstance(how, Local) else units
    failed = run_units(queue, known, output, say_over, slots, again=again, how=how, gpus=gpus)
    found: list[dict[str, Any]] = []
    told: list[str] = []
    blind: list[str] = []

    def tables() -> Iterator[pa.Table]:
        for some in ([unit] for unit in units) if partitioned else [units]:  # one model at a time, or all
            table = collect(output, some, known)
            if table is not None:
                found.extend(summary(table))
                told.extend(warnings(table))
                blind.extend(unobserved(table))
                yield table

    written = output / ("responses" if partitioned else "responses.parquet")
    try:
        _write(tables(), written, partitioned=partitioned)
    except OSError as error:
        raise UnitsFailed(
            f"{written} cannot be written ({error.strerror or error}). The answers are kept; the same "
            "command again writes the table."
        ) from error
    if found:
        say(to_json(found) if as_json else _print(found, written))
        for sentence in told:
            remark(sentence)
    if failed:
        errors = read_errors(output)
        left = {u.model: count_left(u, known[u.model], output) for u in units if u.model in known}
        shown = "; ".join(f"{m}: {_last_line(errors.get(m, 'see above'))}" for m in failed[:3])
        rest = ", ".join(f"{left[m]:,} of {m}" for m in failed[:3] if m in left)
        raise UnitsFailed(
            f"{len(failed)} of {len(units)} models failed ({clean(shown)}); the whole story is in "
            f"{output / '_errors'}. The same command again takes up what is missing"
            f"{f' (questions left: {rest})' if rest else ''}."
        )
    if blind:
        raise UnitsFailed(
            f"of {len(blind)} of {len(units)} models nothing was observed ({clean('; '.join(blind[:3]))}); "
            "the table says why of every item."
        )


def _write(tables: Iterator[pa.Table], path: Path, *, partitioned: bool) -> None:
    """The response table, where there are answers: a file, or a folder that is written piece by piece."""
    from itertools import chain

    from maskedadv.responses.partitions import write_partitioned
    from maskedadv.scoring.launch.store import write_table

    first = next(tables, None)
    if first is None:
        return
    if partitioned:
        write_partitioned(chain([first], tables), path, overwrite=True)
    else:
        write_table(path, first)


def _last_line(error: str) -> str:
    """The sentence at the end of a recorded failure."""
    line = error.strip().rpartition("\n")[2]
    return line.partition(": ")[2] if line.startswith("maskedadv.errors.") else line


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


def _print(found: Sequence[Mapping[str, Any]], written: Path) -> str:
    from maskedadv.scoring.launch.store import may_pass

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
    return f"{text}\n\nWritten to {clean(str(written))}."
