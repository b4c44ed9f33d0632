"""Progress lines that Stan's interfaces print to standard output, passed on to a callback."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator

_PROGRESS = re.compile(r"Chain \[(\d+)\] Iteration:\s*(\d+) / (\d+).*\((\w+)\)")


@contextlib.contextmanager
def console_lines(progress: Callable[[str], None] | None) -> Iterator[None]:
    """Pass on `Chain [1] Iteration: 400 / 2000 [ 20%]  (Warmup)` and the like, shortened; drop the rest."""
    if progress is None:
        yield
        return
    with contextlib.redirect_stdout(_Lines(progress)):
        yield


class _Lines(io.TextIOBase):
    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            found = _PROGRESS.match(line)
            if found:
                chain, done, total, phase = found.groups()
                self._progress(f"chain {chain}: {done} of {total} ({phase.lower()})")
        return len(text)
