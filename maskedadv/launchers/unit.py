"""A unit of long work, and what came of it."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

Tell = Callable[[str], None]

TRIES = 3
"""How often a unit is begun whose process, job or machine goes away without a result."""


class WorkerSpoilt(Exception):
    """Raised by the work of a unit whose process must do nothing more: it is done again in another one."""


@dataclass(frozen=True)
class Unit:
    """A part of the work that needs no other part.

    Attributes
    ----------
    name : in progress lines and in `maskedadv status`; no other unit of the launch has it
    work : called with a function that takes lines of progress, in the main thread of some process, perhaps on
        another machine, perhaps more than once; it can be pickled. What it returns is the unit's result.
    gpus : that it needs
    """

    name: str
    work: Callable[[Tell], Any]
    gpus: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a unit: a value, or why there is none.

    Attributes
    ----------
    unit : position of the unit
    """

    unit: int
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Event:
    """Something that happens to a unit before its end.

    Attributes
    ----------
    unit : its position
    kind : `begun`; `again`, after its process went away; `line`, of progress
    text : why, or the line
    """

    unit: int
    kind: str
    text: str = ""


Happenings = Generator[Event | Outcome, None, None]
"""What a launcher gives: events of the units, and at last one outcome of each, in any order."""


def named(name: str, tell: Tell) -> Tell:
    """Lines of progress that begin with the unit's name."""
    return lambda line: tell(line if line.startswith(name) else f"{name}: {line}")


def attempt(work: Callable[[Tell], Any], tell: Tell) -> tuple[Any, BaseException | None]:
    """Do a unit's work where its errors have to travel: its value, and its error as it can be pickled.

    Raises
    ------
    WorkerSpoilt
    """
    try:
        return work(tell), None
    except WorkerSpoilt:
        raise
    except Exception as error:
        return None, portable(error)


def portable(error: Exception) -> BaseException:
    """An error that can be pickled, with the trace as a note."""
    trace = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (what has just been made)
        own: BaseException = error
    except Exception:  # whatever a foreign class does
        own = RuntimeError(f"{type(error).__name__}: {error}")
    own.__traceback__ = own.__cause__ = own.__context__ = None
    own.add_note(trace)
    return own
