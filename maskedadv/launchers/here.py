"""Units one after the other in the process at hand."""

from __future__ import annotations

from collections.abc import Sequence

from maskedadv.launchers.unit import Event, Happenings, Outcome, Tell, Unit, named


def run_here(units: Sequence[Unit], tell: Tell) -> Happenings:
    """Do the units here; `tell` takes their lines of progress as they come."""
    for k, unit in enumerate(units):
        yield Event(k, "begun")
        try:
            value = unit.work(named(unit.name, tell))
        except Exception as error:
            yield Outcome(k, error=error)
        else:
            yield Outcome(k, value)
