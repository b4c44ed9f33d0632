"""`maskedadv annotation`: agreement of annotators, and of a model with their majority."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import remark, say
from maskedadv.settings import LEVEL
from maskedadv.words.numbers import number
from maskedadv.words.terminal import WIDTH, display_width, format_table, records, wrap

if TYPE_CHECKING:
    import pandas as pd

    from maskedadv.annotation import AnnotationResult


@click.group()
def command() -> None:
    """Annotations of what an item needs: agreement and accuracy."""


@command.command()
@click.argument("humans", type=click.Path(path_type=Path))
@click.option(
    "--llm", type=click.Path(path_type=Path), help="Annotations by a model, scored on the majority."
)
@click.option("--mapping", type=click.Path(path_type=Path), help="Subject to category, checked on --llm.")
@click.option("--field", "fields", multiple=True, help="Only these fields. Default: all known ones.")
@click.option("--resamples", default=5000, show_default=True, help="Resamples of the items.")
@click.option("--level", default=LEVEL, show_default=True, help="Level of intervals.")
@click.option("--seed", default=1, show_default=True, help="Seed of all random numbers.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for CSV files.")
@click.option("--overwrite", is_flag=True, help="Replace the results in the output folder.")
@json_option
def evaluate(
    humans: Path,
    llm: Path | None,
    mapping: Path | None,
    fields: tuple[str, ...],
    resamples: int,
    level: float,
    seed: int,
    output: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Agreement of the annotators in HUMANS, and of a model with their majority.

    HUMANS has one row per item and annotator, with columns item, annotator, optionally language, and
    the fields; --llm one row per item. docs/how-to/annotation.md has the details.
    """
    from maskedadv.annotation import evaluate as run
    from maskedadv.files.folders import check_folder, whole_folder

    result = run(humans, llm, mapping, wanted=fields, n_resamples=resamples, level=level, seed=seed)
    for note in result.notes:
        remark(f"Note: {note}")
    if output is not None:
        check_folder(output, "annotation.json", result.fingerprint, overwrite=overwrite)
        # All files of ours are written each time; what else lies there is the user's.
        with whole_folder(output, lambda _: False) as folder:
            (folder / "annotation.json").write_text(result.to_json(), "utf-8")
            for name in ("agreement", "patterns", "scores", "classes", "confusion", "mapping"):
                getattr(result, name).to_csv(folder / f"{name}.csv", index=False)
        say(f"Wrote {output}.", err=True)
    say(result.to_json() if as_json else "\n\n".join(_sections(result)))


def _sections(result: AnnotationResult) -> list[str]:
    """One block a field, languages as rows, then the mapping."""
    fields = list(dict.fromkeys(result.agreement["field"]))
    sections = ["\n".join([wrap(field), *_field(result, field)]) for field in fields]
    if not result.mapping.empty:
        rows = [
            (r["language"], r["subject"], r["mapped"], r["majority"], str(r["n_items"]), _percent(r["agree"]))
            for r in records(result.mapping)
        ]
        header = ("language", "subject", "mapped to", "model's majority", "items", "agree %")
        sections.append("category mapping\n" + format_table(header, rows, left=(0, 1, 2, 3)))
    return sections


def _field(result: AnnotationResult, field: str) -> list[str]:
    agreement, patterns, scores, classes, confusion = (
        frame.loc[frame["field"] == field] if len(frame) else frame
        for frame in (result.agreement, result.patterns, result.scores, result.classes, result.confusion)
    )
    lines = [_agreement(agreement, patterns)]
    lines += _reasons(agreement)
    if len(scores):
        lines += [_scores(scores)]
        lines += [_classes(*(frame.loc[frame["language"] == "all"] for frame in (classes, confusion)))]
    return lines


def _reasons(agreement: pd.DataFrame) -> list[str]:
    """Why a number or an interval is not there: languages and statistics with the same reason in one line."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in records(agreement):
        for entry in filter(None, row["reason"].split("; ")):
            statistic, _, reason = entry.partition(": ")
            languages, statistics = found.setdefault(reason, ({}, {}))
            languages[row["language"]], statistics[statistic] = None, None
    return [
        wrap(f"{', '.join(languages)}, {', '.join(statistics)}: {reason}.")
        for reason, (languages, statistics) in found.items()
    ]


def _agreement(agreement: pd.DataFrame, patterns: pd.DataFrame) -> str:
    """One row a language; the last columns count the commonest splits of labels, 2/1 for two against one."""
    counts = {(r["language"], r["pattern"]): r["n_items"] for r in records(patterns)}
    pooled = (
        patterns.loc[patterns["language"] == "all"]
        .sort_values("n_items", ascending=False)
        .head(4)
        .sort_index()
    )
    splits = list(pooled["pattern"])
    rows = [
        (
            row["language"],
            str(row["n_items"]),
            _share(row, "unanimous"),
            _share(row, "pairwise"),
            number(row["alpha"]),
            number(row["kappa"]),
            *(str(counts.get((row["language"], split), 0)) for split in splits),
        )
        for row in records(agreement)
    ]
    return format_table(("annotators", "items", "all agree %", "pairs %", "alpha", "kappa", *splits), rows)


def _scores(scores: pd.DataFrame) -> str:
    rows = [
        (
            r["language"],
            str(r["n_evaluated"]),
            str(r["n_ties"]),
            str(r["n_missing"]),
            _share(r, "accuracy"),
            _share(r, "macro_f1"),
            _percent(r["conservative"]),
        )
        for r in records(scores)
    ]
    header = ("model", "items", "ties", "no label", "accuracy %", "macro-F1 %", "conservative %")
    return format_table(header, rows)


def _classes(classes: pd.DataFrame, confusion: pd.DataFrame) -> str:
    """Confusion counts over all languages, with rates of every label."""
    counts = {(r["reference"], r["predicted"]): r["n_items"] for r in records(confusion)}
    rows = [
        (
            r["label"],
            *(str(counts[r["label"], guess]) for guess in classes["label"]),
            *(_percent(r[name]) for name in ("precision", "recall", "f1")),
        )
        for r in records(classes)
    ]
    text = format_table(("majority \\ model", *classes["label"], "P %", "R %", "F1 %"), rows)
    if max(map(display_width, text.splitlines())) > WIDTH:
        return f"{len(rows)} labels: too many for a table here; -o and --json have all counts."
    return text


def _share(row: dict[str, float], name: str) -> str:
    """`63.0 [54, 72]`, in percent."""
    if row[f"{name}_lower"] != row[f"{name}_lower"]:
        return _percent(row[name])
    return f"{_percent(row[name])} [{100 * row[f'{name}_lower']:.0f}, {100 * row[f'{name}_upper']:.0f}]"


def _percent(value: float) -> str:
    return number(100 * value, 1)
