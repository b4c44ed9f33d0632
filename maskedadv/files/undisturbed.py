"""Steps that belong together and that Ctrl-C or a polite kill must not tear apart.

A signal's exception may come between any two instructions: after a temporary file is made and before anybody
has promised to remove it, or in the middle of its removal. So signals wait while such steps are taken.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def undisturbed() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Let signals wait until the end of the block, where what came does what it would have done.

    Yields
    ------
    A function: a block inside it, for long work that may be interrupted, in which signals come at once.

    Other threads than the main one never get signals, and nothing is done there; nor where a block that began
    in the main thread goes on in another, as a generator's may whose pieces a library's threads ask for.
    """
    if not _in_main_thread():
        yield _nothing
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {}

    def wait(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    def put_off() -> None:
        if not _in_main_thread():
            return
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if handler is not wait and callable(handler):
                before[number] = handler
                signal.signal(number, wait)

    def bring_back() -> None:
        if not _in_main_thread():
            return
        for number, handler in before.items():
            if signal.getsignal(number) is wait:  # else somebody has set another one meanwhile
                signal.signal(number, handler)
        if came:
            number, frame = came.pop()
            came.clear()
            before[number](number, frame)

    @contextmanager
    def disturbed() -> Iterator[None]:
        try:
            bring_back()
            yield
        finally:
            put_off()

    try:
        put_off()
        yield disturbed
    finally:
        bring_back()


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
