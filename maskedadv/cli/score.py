"""`maskedadv score`: ask models the items, and write a response table."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.text import clean, format_table, number, to_json

if TYPE_CHECKING:
    import pyarrow as pa

    from scoring.api_settings import ApiSettings
    from scoring.hf_settings import HfSettings
    from scoring.plan import Unit


@click.group()
def command() -> None:
    """Ask models the items; the answers are a response table for maskedadv fit."""


_OPTIONS = (
    click.argument("items", nargs=-1, required=True, type=click.Path(path_type=Path)),
    click.option(
        "-m",
        "--model",
        "models",
        multiple=True,
        required=True,
        metavar="[NAME=]MODEL[@REVISION]",
        help="Folder or name on the hub (or at the endpoint); NAME stands in the table. Repeatable.",
    ),
    click.option(
        "-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the answers."
    ),
    click.option("--language", "languages", multiple=True, help="Only these languages; repeatable."),
    click.option("--prompts", "prompt_file", type=click.Path(path_type=Path), help="Prompts of your own."),
    click.option(
        "--letter-forms",
        type=click.Choice(["context", "both"]),
        default="context",
        show_default=True,
        help="The letter as it stands after the label, or the sum over that and the bare letter.",
    ),
    click.option("--drop-bad", is_flag=True, help="Leave out items that cannot be asked, and count them."),
    click.option("--dtype", default="auto", show_default=True, help="float32, bfloat16 or float16."),
    click.option(
        "--device", default="auto", show_default=True, help="cpu, cuda, cuda:1; split: one model, all GPUs."
    ),
    click.option("--attention", default="auto", show_default=True, help="sdpa, eager, flash_attention_2."),
    click.option(
        "--max-tokens-per-batch", default="auto", show_default=True, help="Tokens of a pass, with padding."
    ),
    click.option("--trust-remote-code", is_flag=True, help="Run code that comes with a model."),
    click.option("--api", "url", help="Base address of an OpenAI-compatible endpoint that has the models."),
    click.option(
        "--answers",
        type=click.Choice(["text", "logprobs"]),
        default="text",
        show_default=True,
        help="API: written answers, or log-probabilities of the first token.",
    ),
    click.option(
        "--endpoint",
        type=click.Choice(["chat", "completions"]),
        default="chat",
        show_default=True,
        help="API.",
    ),
    click.option("--max-answer-tokens", default=512, show_default=True, help="API: longest answer."),
    click.option("--concurrency", default=8, show_default=True, help="API: questions at a time."),
    click.option("--retries", default=5, show_default=True, help="API: tries after the first."),
    click.option("--timeout", default=120.0, show_default=True, help="API: seconds a try may take."),
    click.option("--price-in", default=0.0, help="API: price of a million tokens read."),
    click.option("--price-out", default=0.0, help="API: price of a million tokens written."),
)


def _options(function: Any) -> Any:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@command.command("plan")
@_options
@json_option
def plan(as_json: bool, output: Path, **options: Any) -> None:
    """Print the models with their tokens, what is done, and how long or how much the rest will take."""
    from scoring.estimate import estimate_unit

    estimates = [estimate_unit(unit, output) for unit in _units(**options)]
    if as_json:
        click.echo(to_json([e.__dict__ for e in estimates]))
        return
    rows = [
        [e.model, e.size, f"{e.pieces_done} of {e.pieces}", f"{e.items:,}", f"{e.tokens:,}", e.cost]
        for e in estimates
    ]
    click.echo(format_table(["model", "size", "files done", "items", "tokens", "rest takes"], rows))
    for e in estimates:
        if e.problem:
            click.echo(f"{e.model}: {clean(e.problem)}", err=True)


@command.command("run")
@_options
@click.option(
    "--gpus", default=0, help="Processes, each with its own GPU; default: all GPUs of this machine."
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
    from scoring.launch import identify_units, largest_first, read_errors, run_units
    from scoring.plan import collect
    from scoring.store import write_table

    if slurm is not None and options["dtype"] == "auto":
        raise BadSetting(
            "--slurm needs a --dtype, such as bfloat16: this machine may not have the jobs' GPU."
        )
    units = _units(**options)
    known = identify_units(units, output, _progress)
    if slurm is not None:
        from scoring.slurm import run_on_slurm

        failed = run_on_slurm(largest_first(units), known, output, slurm, again=again)
    else:
        gpus = gpus or _count_gpus(options["url"])
        queue = largest_first(units) if gpus > 1 else units
        failed = run_units(queue, known, output, _progress, gpus, again=again)
    table = collect(output, units, known)
    if table is not None:
        write_table(output / "responses.parquet", table)
        click.echo(to_json(_summary(table)) if as_json else _print(table, output))
    if failed:
        errors = read_errors(output)
        shown = "; ".join(f"{m}: {errors.get(m, '').strip().rpartition(chr(10))[2]}" for m in failed[:3])
        raise UnitsFailed(
            f"{len(failed)} of {len(units)} models failed ({clean(shown)}); the whole story is in "
            f"{output / '_errors'}. The same command again takes up what is missing."
        )


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
    from scoring.items import KEYS_DIFFER, askable, check_items
    from scoring.plan import Unit, check_sets, make_pieces
    from scoring.prompts import check_prompts, load_prompts
    from scoring.sources import read_items

    sets: dict[str, list[Any]] = {}
    for path in items:
        name = path.name.split(".")[0]
        if name in sets:
            raise BadSetting(f"two item files are called {name}; rename one, sets are known by their names.")
        found = read_items([path])
        kept, dropped = askable(
            [x for x in found.items if not languages or x.language in languages], drop=drop_bad
        )
        for reason, count in [*found.dropped.items(), *dropped.items()]:
            click.echo(f"{name}: {count:,} items left out: {reason}.", err=True)
        differing = [p for p in check_items(kept) if p.kind == KEYS_DIFFER]
        if differing:
            click.echo(
                f"{name}: {len(differing)} items have another right option in some language "
                f"({differing[0].item}: {differing[0].detail}); see maskedadv items check.",
                err=True,
            )
        sets[name] = kept
    if not any(sets.values()):
        raise BadSetting("no item is left to ask; see --language and --drop-bad.")
    check_sets(sets)
    prompts = load_prompts(prompt_file)
    check_prompts([item for kept in sets.values() for item in kept], prompts)
    pieces = make_pieces(sets, prompts, letter_forms)
    units = []
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
    from scoring.api_settings import ApiSettings
    from scoring.hf_settings import HfSettings

    name, equals, where = text.partition("=")
    where = where if equals else text
    if options["url"]:
        keys = ("answers", "endpoint", "max_answer_tokens", "concurrency", "retries", "timeout")
        more = {key: options[key] for key in (*keys, "price_in", "price_out")}
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


def _count_gpus(url: str | None) -> int:
    if url:
        return 1
    try:
        import torch
    except ModuleNotFoundError:
        return 1
    return max(1, torch.cuda.device_count())


def _progress(line: str) -> None:
    line = clean(line)
    if sys.stderr.isatty():
        click.echo(f"\r{line[:79]:<79}", nl=False, err=True)
    else:
        click.echo(line, err=True)


def _summary(table: pa.Table) -> list[dict[str, Any]]:
    frame = table.select(["model", "language", "subset", "correct", "tied", "reason"]).to_pandas()
    rows = []
    for (model, language, subset), some in frame.groupby(["model", "language", "subset"], sort=True):
        reasons = Counter(r for r in some["reason"] if r)
        rows.append(
            {
                "model": model,
                "language": language,
                "subset": subset,
                "answers": len(some),
                "observed": int(some["correct"].notna().sum()),
                "accuracy": float(some["correct"].astype("Float64").mean())
                if some["correct"].notna().any()
                else None,
                "tied": int(some["tied"].sum()),
                "reasons": dict(reasons),
            }
        )
    return rows


def _print(table: pa.Table, output: Path) -> str:
    summary = _summary(table)
    rows = [
        [
            *(r[key] for key in ("model", "language", "subset")),
            f"{r['answers']:,}",
            f"{r['observed']:,}",
            number(r["accuracy"] if r["accuracy"] is not None else float("nan"), 3),
            str(r["tied"]),
        ]
        for r in summary
    ]
    text = format_table(["model", "language", "set", "answers", "observed", "accuracy", "tied"], rows)
    reasons: Counter[str] = Counter()
    for r in summary:
        reasons.update(r["reasons"])
    if reasons:
        text += "\n\nMissing, wholly or in their probability:\n"
        text += "\n".join(f"  {count:,} {reason}" for reason, count in reasons.most_common())
    return f"{text}\n\nWritten to {clean(str(output / 'responses.parquet'))}."
