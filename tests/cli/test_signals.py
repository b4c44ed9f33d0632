"""A polite signal ends a command at whatever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

CODE = """
import os, signal, sys, time
from maskedadv.cli import main as entry

class Held:
    def __del__(self):
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        for _ in range(1000):
            pass  # what the signal raises here, Python can only print

def work(**_):
    Held()
    time.sleep(60)

entry.cli.main = work
entry.main([])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_while_an_object_is_let_go_is_not_lost(name: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, name],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        # Under nohup, or in the background of a script, a signal is ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL),
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
