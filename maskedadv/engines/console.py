"""What CmdStan and `make` print: progress to pass on, and why something failed."""

from __future__ import annotations

import contextlib
import io
import re
import signal
from collections.abc import Callable, Iterator

_CHAIN = re.compile(r"Chain \[(\d+)\]")
_PROGRESS = re.compile(r"(?:Chain \[\d+\] )?Iteration:\s*(\d+) / (\d+).*\((\w+)\)")


def progress_line(chain: int, line: str) -> str | None:
    """`Iteration: 400 / 2000 [ 20%]  (Warmup)` and the like, shortened; None for other lines."""
    found = _PROGRESS.match(line)
    if found is None:
        return None
    done, total, phase = found.groups()
    return f"chain {chain}: {done} of {total} ({phase.lower()})"


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
            found = _CHAIN.match(line)
            told = progress_line(int(found[1]), line) if found else None
            if told:
                self._progress(told)
        return len(text)


def cause_in(console: str, code: int) -> str:
    """Why a CmdStan program failed, in its own words where it says so.

    Parameters
    ----------
    code : its exit code, negative for the signal that ended it
    """
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    for line in reversed(lines):
        if "iostream error" in line:
            return "the disk of its temporary files is full; make room there, or set TMPDIR to another place"
        if line.startswith("Exception:") or "error while loading shared libraries" in line:
            return line.removeprefix("Exception:").strip()
    for k, line in enumerate(lines):
        if line.startswith("Rejecting initial value"):
            return f"the start is refused: {' '.join(lines[k + 1 : k + 3])}"
        if line.startswith("Error in JSON parsing"):
            return " ".join(lines[k : k + 3])
        if "mistyped or misplaced" in line or line.startswith("Can't open"):
            return line
    if code < 0:
        return f"ended by {_signal_name(-code)}"
    return f"{lines[-1]} (exit code {code})" if lines else f"exit code {code}"


def make_cause_in(console: str, code: int) -> str:
    """Why `make` could not build a program: the compiler's first complaint, or that there is no compiler."""
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"make: .*(No such file or directory|not found)", line) or re.search(
            r"\b(fatal )?error\b:", line, re.IGNORECASE
        ):
            last = next((k for k, other in enumerate(lines) if other.startswith("make: ***")), 0)
            return f"{line} {lines[last - 1]}" if line.endswith(":") and last else line
    return lines[-1] if lines else f"exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
