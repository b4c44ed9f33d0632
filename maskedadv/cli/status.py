"""`maskedadv status`: how far a long command is."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.words.lists import and_more
from maskedadv.words.numbers import clock, plural
from maskedadv.words.terminal import clean, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.launchers import Status

WORDS = {
    "running": "running",
    "finished": "finished",
    "failed": "ended with an error",
    "interrupted": "interrupted",
    "killed": "killed: its process is gone and said nothing",
}


@click.command()
@click.argument("output", type=click.Path(path_type=Path))
@json_option
def command(output: Path, as_json: bool) -> None:
    """How far the command is that writes OUTPUT (its -o): what is done, runs, waits, failed; time left.

    Works while it runs, from any machine that shares the disk, and after it ended in any way. Leaves with 1
    where it ended before it was done.
    """
    from maskedadv.launchers import read_status

    found = read_status(output)
    say(to_json(asdict(found)) if as_json else in_words(found))
    sys.exit(0 if found.state in {"running", "finished"} else 1)


def in_words(found: Status) -> str:
    """A line for each thing that is known."""
    lines = [f"{clean(found.output)}: {WORDS[found.state]}."]
    if found.command:
        by = f"{found.launcher}, process {found.process} on {found.host}, begun {clock(found.seconds)} ago"
        lines += [clean(" ".join(found.command)), clean(by), ""]
        lines.append(f"done     {found.done} of {plural(found.units, 'unit')}")
        if found.running:
            shown = [
                f"{r.name} ({clock(r.seconds)}{f', try {r.tries}' if r.tries > 1 else ''})"
                for r in found.running
            ]
            word = "running" if found.state == "running" else "begun  "
            lines.append(clean(f"{word}  {len(found.running)}: {and_more(shown)}"))
        if found.waiting:
            lines.append(f"waiting  {found.waiting}")
        if found.failed:
            lines.append(f"failed   {len(found.failed)}")
            lines += [wrap(f"  {f.name}: {f.reason}") for f in found.failed]
        if found.seconds_left is not None:
            lines.append(f"left     about {clock(found.seconds_left)} for these units")
        if found.reason:
            lines.append(wrap(f"Error: {found.reason}"))
        if found.state != "running":
            lines.append("The same command takes up what is missing.")
    return "\n".join(lines)
