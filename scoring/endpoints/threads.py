"""Many questions at a time, and an end to it when one shows that there is no use, or somebody interrupts."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from maskedadv.scoring.endpoints.talk import Talk


def at_a_time(count: int, one: Callable[..., None], questions: Sequence[tuple[Any, ...]], talk: Talk) -> None:
    """Ask all, `count` at a time; after the first error no more are asked.

    Those under way are waited for, since they are paid, but not after an interrupt: the threads are daemons,
    as who interrupts a run must not wait for a server that is slow.

    Raises
    ------
    EndpointFailed, CostReached
        What was raised for a question.
    """
    waiting: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    for question in questions:
        waiting.put(question)

    def work() -> None:
        try:
            while not talk.stop.is_set():
                one(*waiting.get_nowait())
        except queue.Empty:
            done.put(None)
        except BaseException as error:
            talk.stop.set()
            done.put(error)
        else:
            done.put(None)

    threads = min(max(count, 1), len(questions))
    for _ in range(threads):
        threading.Thread(target=work, daemon=True).start()
    try:
        ended = [done.get() for _ in range(threads)]
    except BaseException:
        talk.stop.set()
        raise
    for error in ended:
        if error is not None:
            raise error
