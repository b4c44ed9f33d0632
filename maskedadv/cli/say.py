"""Whatever commands print goes through here: no name in it can steer the terminal or turn a line round."""

from __future__ import annotations

import sys

import click

from maskedadv.words.terminal import clean_lines, wrap


def say(text: str = "", *, err: bool = False, nl: bool = True, before: str = "") -> None:
    """Print a text of lines, without control and direction-changing characters.

    Parameters
    ----------
    err : to standard error
    nl : end the line
    before : printed as it is: our own way back to the beginning of the line
    """
    click.echo(before + clean_lines(text), err=err, nl=nl)


def say_over(line: str) -> None:
    """A line of progress: over the last one on a terminal, one after the other in a file."""
    if sys.stderr.isatty():
        say(f"{line[:79]:<79}", err=True, nl=False, before="\r")
    else:
        say(line, err=True)


def tell(line: str) -> None:
    """A line of progress, under what it belongs to, on standard error."""
    say(f"  {line}", err=True)


def say_data(text: str) -> None:
    """Print what programs read: as it is where it goes to a file or a program, clean on a terminal."""
    # With color, which only means that click takes no escapes out of data.
    click.echo(clean_lines(text) if sys.stdout.isatty() else text, nl=False, color=True)


def remark(sentence: str) -> None:
    """A sentence beside the results, on standard error, in lines that fit."""
    say(wrap(sentence), err=True)
