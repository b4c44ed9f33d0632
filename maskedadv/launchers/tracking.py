"""A run whose units are written down beside its output, so that `maskedadv status` can tell of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from maskedadv.errors import MaskedadvError, OutputExists
from maskedadv.files.alive import is_left_over
from maskedadv.files.disk import cannot_write
from maskedadv.launchers.kinds import Launcher, Slurm
from maskedadv.launchers.launching import reason_of
from maskedadv.launchers.ledger import HELD, LEDGER, Ledger, open_ledger, read_ledger, words_of_command

L = TypeVar("L", bound=Launcher)

JOBS = "slurm"
_OURS = {LEDGER, HELD, f"{HELD}.new", JOBS}


def units_folder(output: Path) -> Path:
    """Where a run that writes `output` keeps what happens to its units, and launchers their files."""
    output = output.absolute()
    return output.with_name(f"{output.name}.units")


@contextmanager
def tracked(how: L, output: str | Path | None) -> Iterator[L]:
    """A launcher that writes down what happens, in the folder `output.units` until the run is done.

    It stays where units failed or are left to do. Where another process writes it, or without an output,
    nothing is written down.

    Raises
    ------
    OutputExists
        The folder is not of our making, or cannot be written.
    """
    if output is None:
        yield how
        return
    folder = units_folder(Path(output))
    _make(folder)
    if isinstance(how, Slurm) and how.folder is None:
        how = replace(how, folder=folder / JOBS)
    with ExitStack() as stack:
        try:
            book = _open(stack, folder, how)
        except BaseException:  # a full disk
            stack.close()
            if not _is_worth_keeping(folder):
                shutil.rmtree(folder, ignore_errors=True)
            raise
        if book is None:
            yield how
            return
        try:
            yield replace(how, ledger=book)
        except BaseException as error:
            with suppress(OSError, MaskedadvError):  # the book's disk may be what is full
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    book.write("end", state="interrupted")
                else:
                    book.write("end", state="failed", reason=reason_of(error))
            with suppress(OSError):  # what could not be written is tried again as it is closed
                stack.close()
            if not _is_worth_keeping(folder):
                shutil.rmtree(folder, ignore_errors=True)
            raise
    shutil.rmtree(folder, ignore_errors=True)


def _open(stack: ExitStack, folder: Path, how: Launcher) -> Ledger | None:
    """The run's book; None where another process is writing one there."""
    if (folder / HELD).exists() and not is_left_over(folder / HELD):
        return None
    try:
        return stack.enter_context(open_ledger(folder, words_of_command(), type(how).__name__.lower()))
    except (FileExistsError, FileNotFoundError):  # it began, or ended, at this very moment
        return None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strange = sorted(set(os.listdir(folder)) - _OURS)
    except OSError as error:
        raise cannot_write(folder, error) from error
    if strange:
        raise OutputExists(
            f"{folder} is where a run writes down its units, but holds something else ({strange[0]!r}); move "
            "it, or give another output."
        )


def _is_worth_keeping(folder: Path) -> bool:
    try:
        events = read_ledger(folder)
    except OSError:
        return False
    return (folder / JOBS).exists() or any(e["event"] in {"done", "failed"} for e in events)
