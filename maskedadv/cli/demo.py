"""`maskedadv demo`: the main job on bundled real outcomes."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.options import settings_options
from maskedadv.cli.say import say
from maskedadv.vocabulary import GAPS
from maskedadv.words.numbers import TERMINAL, interval_text
from maskedadv.words.terminal import WIDTH, format_table, records, shorten, wrap

if TYPE_CHECKING:
    from maskedadv.result.fit_result import Fit

CAVEATS = (
    "These six systems are one family: Qwen2.5-32B-Instruct and one fine-tune of it at five budgets of "
    "reasoning tokens. Their gaps are not six independent findings.",
    "CS here means culturally sensitive and is mostly Western: these items are not the locales' own "
    "culture, so a knowledge gap here says little about access to local knowledge.",
    "The written answers behind these outcomes were read by an older, weaker rule: read again, 2.4 points "
    "more are right in English and 0.2 to 1.3 points more in the other languages, so English does better "
    "than shown.",
    "36 intervals of each kind are shown; about two in 36 would miss zero by chance alone.",
)


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write the result folder here.")
@settings_options("engine")
def command(output: Path | None, engine: str) -> None:
    """Fit real outcomes of six systems in six locales, print the mean gaps and say what they mean."""
    from dataclasses import replace

    from maskedadv import datasets
    from maskedadv.fitting import fit
    from maskedadv.responses import read_responses
    from maskedadv.result.save import check_output

    table = read_responses(datasets.global_mmlu_lite())
    if output is not None:
        # A demo may be repeated on its own folder; anybody else's result is never replaced.
        check_output(output, overwrite=_is_demo(output))
    steps = Steps()
    result = fit(table, estimator="marginal", engine=engine, progress=steps.tell)
    if output is not None:
        steps.tell("drawing the report")
        result = replace(result, info=replace(result.info, demo=True))
        result.save(output, overwrite=_is_demo(output))
        from maskedadv.reports.write import write_report

        write_report(result, output / "report", notes=CAVEATS)
    steps.end()
    say(_one_screen(result))
    me = _own_command()
    if output is not None:
        page = shlex.quote(str(output / "report" / "index.html"))
        say(f"\nEverything, with figures: open {page} in a browser")
        say(f"As tables: {me} gaps {shlex.quote(str(output))} --locale zh")
    say(f"Your own: {me} check RESPONSES.csv\n          {me} fit RESPONSES.csv -o results")


def _one_screen(result: Fit) -> str:
    """What matters: mean gaps, the verdict under every variant, the warnings, and what the data are not."""
    from maskedadv.result.in_words import locale_mean, read_gaps

    first = result.headline
    how = "paired: each by itself" if first == "paired" else "marginal maximum likelihood"
    means = result.means(variant=first)
    wide: dict[str, dict[str, str]] = {}
    for row in records(means):
        wide.setdefault(row["locale"], {})[row["gap"]] = interval_text(row, TERMINAL)
    known = {name: whole for name in result.variants if (whole := locale_mean(result, name)) is not None}
    overall = [f"{name} {interval_text(whole, TERMINAL)}" for name, whole in known.items()]
    clear = [name for name, whole in known.items() if whole["lower"] > 0 or whole["upper"] < 0]
    verdict = f"clear of zero under {', '.join(clear)}" if clear else "under none of them clear of zero"
    return "\n".join(
        [
            f"Mean gaps of six systems, logits, 95% intervals ({how})",
            "",
            format_table(
                ["locale", *GAPS], [[k, *(row[g] for g in GAPS)] for k, row in wide.items()], left=(0,)
            ),
            "",
            wrap(f"knowledge_gap, mean over the locales, {verdict}: {'; '.join(overall)}."),
            "",
            *(_wrapped(sentence) for sentence in read_gaps(result)),
            *(_wrapped(f"Warning: {warning}") for warning in result.warnings),
            *(_wrapped(sentence) for sentence in CAVEATS[:2]),
        ]
    )


class Steps:
    """Progress: one line that is written over, on a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def tell(self, line: str) -> None:
        """Show where the work is."""
        if self._shown:
            say(shorten(line, WIDTH - 4), err=True, nl=False, before="\r\x1b[2K  ")

    def end(self) -> None:
        """Leave the line empty."""
        if self._shown:
            say(err=True, nl=False, before="\r\x1b[2K")


def _own_command() -> str:
    """What to type for this very installation: its environment need not be activated, or be another one."""
    folder = Path(sys.executable).parent
    found = shutil.which("maskedadv")
    if found and Path(found).resolve().parent == folder.resolve():
        return "maskedadv"
    if own := shutil.which("maskedadv", path=str(folder)):
        near = os.path.relpath(own)
        return shlex.quote(own if near.startswith(os.pardir) else near)
    return f"{shlex.quote(sys.executable)} -m maskedadv"


def _is_demo(output: Path) -> bool:
    from maskedadv.files.damage import json_object_or_none

    return bool((json_object_or_none(output / "fit.json") or {}).get("demo"))


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
