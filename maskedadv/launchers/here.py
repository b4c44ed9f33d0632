"""Units one after the other in the process at hand."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence

from maskedadv.launchers.unit import Event, Happenings, Outcome, Tell, Unit, named

_LONG = 1.0
"""Seconds of a unit that are worth a look for what it left behind."""


def run_here(units: Sequence[Unit], tell: Tell) -> Happenings:
    """Do the units here; `tell` takes their lines of progress as they come.

    What hangs together in circles, as posteriors and language models do, would stay until the interpreter
    looks for it, which it seldom does on the command line: thirteen locales of NUTS kept four gigabytes.
    """
    for k, unit in enumerate(units):
        yield Event(k, "begun")
        began = time.monotonic()
        try:
            value = unit.work(named(unit.name, tell))
        except Exception as error:
            yield Outcome(k, error=error)
        else:
            yield Outcome(k, value)
            del value
        if time.monotonic() - began > _LONG:
            gc.collect()
