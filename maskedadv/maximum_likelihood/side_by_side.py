"""Two blocks at the same time in threads, while Stan runs in the thread that asked for them.

NumPy lets go of the interpreter while it computes, and so does Stan; but the embedded engine runs in no other
thread than the one that imported it. So the blocks' threads ask for its optima, and the calling thread, which
has nothing else to do, finds them. What is computed, and in which order within a block, is the same as one
after the other: numbers do not hang on the threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from maskedadv.engines import Engine

T = TypeVar("T")
R = TypeVar("R")

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From a function to one that has it run in the calling thread, and waits."""


@dataclass
class _Call:
    """Something that a thread wants to have run elsewhere."""

    run: Callable[[], Any]
    done: threading.Event = field(default_factory=threading.Event)
    value: Any = None
    error: BaseException | None = None


@dataclass
class _Result(Generic[R]):
    """What became of one of the things."""

    place: int
    value: R | None = None
    error: BaseException | None = None

    def take(self) -> R:
        """The value, or its error."""
        if self.error is not None:
            raise self.error
        return cast("R", self.value)  # a result without an error has one


def _result_of(work: Callable[[], R], place: int = 0) -> _Result[R]:
    try:
        return _Result(place, work())
    except BaseException as error:  # raised again where the result is awaited
        return _Result(place, error=error)


class _Asking:
    """An engine whose functions run in the calling thread."""

    def __init__(self, engine: Engine, there: Wrap) -> None:
        self.name, self.version = engine.name, engine.version
        self.require, self.optimize = there(engine.require), there(engine.optimize)
        self.log_density, self.sample = there(engine.log_density), there(engine.sample)


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin(work: Callable[[], R]) -> Callable[[], R]:
    """Start work that no engine takes part in, in a thread if there is a processor for it.

    Returns
    -------
    What waits for the work, and gives its value or raises its error. The thread is a daemon: an interrupted
    run does not wait for it.
    """
    if cores() < 2:
        return work
    ended: SimpleQueue[_Result[R]] = SimpleQueue()

    threading.Thread(target=lambda: ended.put(_result_of(work)), daemon=True).start()
    return lambda: ended.get().take()


def side_by_side(
    work: Callable[[T, Engine, Callable[[str], None]], R],
    things: Sequence[T],
    engine: Engine,
    tell: Callable[[str], None],
    *,
    threads: int = 2,
) -> Iterator[R]:
    """Results of `work` in the order of `things`; an error comes at its place, and ends the rest.

    Threads are daemons: an interrupted run does not wait for them.

    Parameters
    ----------
    work : called with a thing, an engine and `tell`, in any thread
    """
    asked: SimpleQueue[_Call | _Result[R]] = SimpleQueue()
    lock, ended = threading.Lock(), threading.Event()
    places = iter(range(len(things)))

    def there(function: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*arguments: Any, **named: Any) -> Any:
            call = _Call(lambda: function(*arguments, **named))
            asked.put(call)
            call.done.wait()
            if call.error is not None:
                raise call.error
            return call.value

        return ask

    asking, telling = _Asking(engine, there), there(tell)  # made here: its version imports the engine

    def work_off() -> None:
        while not ended.is_set():
            with lock:
                place = next(places, None)
            if place is None:
                return
            asked.put(_result_of(partial(work, things[place], asking, telling), place))

    for _ in range(min(threads, len(things))):
        threading.Thread(target=work_off, daemon=True).start()
    found: dict[int, _Result[R]] = {}
    try:
        for place in range(len(things)):
            while place not in found:
                message = asked.get()
                if isinstance(message, _Result):
                    found[message.place] = message
                    continue
                try:
                    message.value = message.run()
                except Exception as error:  # raised again in the thread that asked
                    message.error = error
                message.done.set()
            yield found.pop(place).take()
    finally:
        ended.set()
