"""Do all units by a launcher, and write down what happens to each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from maskedadv.errors import BadSetting, InputError, MaskedadvError, PartsFailed
from maskedadv.files.disk import is_disk_error
from maskedadv.launchers.here import run_here
from maskedadv.launchers.kinds import Launcher, Local, Ray, Slurm
from maskedadv.launchers.unit import Event, Happenings, Tell, Unit, named
from maskedadv.words.lists import and_more

Keep = Callable[[int, Any], object]
Failed = Callable[[int, BaseException], object]


def launch(units: Sequence[Unit], how: Launcher, *, keep: Keep, failed: Failed, tell: Tell) -> None:
    """Do units, in any order, and hand on what comes of each as it comes, in this thread.

    Parameters
    ----------
    keep : called with the position of a unit and its value
    failed : called with the position of a unit and its error
    tell : takes lines of progress

    Raises
    ------
    PackageMissing, BadSetting
        The launcher cannot be had.
    Exception
        What `keep` or `failed` raises; what is running is then ended.
    """
    if not isinstance(how, Launcher):
        raise BadSetting(f"a launcher is Local, Slurm or Ray of maskedadv.launchers (is {how!r}).")
    if not units:
        return
    names = [unit.name for unit in units]
    note = how.ledger.write if how.ledger is not None else _nothing
    note("units", units=names)
    with closing(_happenings(units, how, tell)) as events:
        for event in events:
            name = names[event.unit]
            if isinstance(event, Event):
                if event.kind == "line":
                    named(name, tell)(event.text)
                    continue
                note(event.kind, unit=name, reason=event.text)
                if event.kind == "again":
                    tell(f"{name}: {event.text}; it is done again.")
            elif event.error is None:
                keep(event.unit, event.value)
                note("done", unit=name)
            else:
                note("failed", unit=name, reason=reason_of(event.error))
                failed(event.unit, event.error)


def complete(units: Sequence[Unit], how: Launcher, *, keep: Keep, tell: Tell) -> None:
    """Do units of which none may be missing: those that fail are told, the others go on, then this raises.

    Raises
    ------
    Exception
        The error of the unit that failed; at once if it is one that all units would meet (a setting, a disk).
    PartsFailed
        Several failed.
    """
    errors: dict[int, BaseException] = {}

    def failed(k: int, error: BaseException) -> None:
        if isinstance(error, InputError) or (isinstance(error, OSError) and is_disk_error(error)):
            raise error
        if len(units) > 1:
            tell(f"{units[k].name} failed: {reason_of(error)}")
        errors[k] = error

    launch(units, how, keep=keep, failed=failed, tell=tell)
    first = next(iter(sorted(errors)), None)
    if first is None:
        return
    if len(errors) == 1 or not all(isinstance(e, MaskedadvError) for e in errors.values()):
        raise next((e for e in errors.values() if not isinstance(e, MaskedadvError)), errors[first])
    names = and_more([units[k].name for k in sorted(errors)])
    raise PartsFailed(
        f"{len(errors)} of {len(units)} parts failed ({names}); {units[first].name}: {errors[first]}"
    )


def reason_of(error: BaseException) -> str:
    """An error in one line."""
    kind = "" if isinstance(error, MaskedadvError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())


def _happenings(units: Sequence[Unit], how: Launcher, tell: Tell) -> Happenings:
    if isinstance(how, Local):
        if how.jobs == 1 and not how.environments and not how.fresh:
            return run_here(units, tell)
        from maskedadv.launchers.processes import run_processes

        return run_processes(units, how)
    if isinstance(how, Slurm):
        from maskedadv.launchers.slurm import run_slurm

        return run_slurm(units, how, tell)
    assert isinstance(how, Ray)
    from maskedadv.launchers.ray_tasks import run_ray

    return run_ray(units, how, tell)


def _nothing(event: str, **more: object) -> None: ...
