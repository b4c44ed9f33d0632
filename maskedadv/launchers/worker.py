"""A process that does units one after the other: work comes in at standard input, results go out.

`python -m maskedadv.launchers.worker`, started by `maskedadv.launchers.processes`. Processes rather than
threads, as the embedded engine runs in main threads only and Ctrl-C stops compiled code at once; plain ones
rather than a pool's, so that a caller's script needs no main guard and one that dies takes no other with it.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message whole."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message.

    Raises
    ------
    EOFError
        The other side is gone, perhaps in the middle of a message.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return pickle.loads(content)  # noqa: S301 (of the process that started this one, or that this one started)


def end_with_parent() -> None:
    """Stop this process soon after the one that started it is gone, however that happened."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> int:
    """Do what comes until nothing comes."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what anything prints must not mix with results
    from maskedadv.launchers.unit import WorkerSpoilt, attempt, portable

    def tell(line: str) -> None:
        send(outgoing, ("line", line, None))

    while True:
        try:
            work = receive(incoming)
        except EOFError:
            return 0
        except Exception as trouble:  # work that cannot be had here, such as of a module that is not
            send(outgoing, ("end", None, portable(trouble)))
            continue
        try:
            value, error = attempt(work, tell)
        except WorkerSpoilt as spoilt:
            send(outgoing, ("spoilt", str(spoilt), None))
            return 0
        except KeyboardInterrupt:
            return 130
        send_end(outgoing, value, error)


def send_end(outgoing: BinaryIO, value: Any, error: BaseException | None) -> None:
    """Send a result; one that cannot be pickled is an error."""
    from maskedadv.launchers.unit import portable

    try:
        send(outgoing, ("end", value, error))
    except (pickle.PicklingError, TypeError, AttributeError) as trouble:
        send(outgoing, ("end", None, portable(trouble)))


if __name__ == "__main__":
    end_with_parent()
    sys.exit(main())
