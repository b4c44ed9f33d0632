"""Start a command that can be interrupted, whatever the tests themselves run under."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path


def start(command: list[str], cwd: Path | None = None) -> subprocess.Popen[str]:
    """A process with its standard error piped, for which an interrupt is not ignored.

    Jobs that a script puts into the background ignore interrupts, and their children inherit that.
    """
    return subprocess.Popen(
        command,
        cwd=cwd,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def interrupt_after(process: subprocess.Popen[str], words: str) -> str:
    """Read until a line holds `words`, interrupt, and give what is said after that; never waits for ever."""
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            break
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=120)[1]
    finally:
        process.kill()
