"""The end of the command: what asked to be called is called, codes are kept, nothing printed is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_BEGIN = """
import atexit, sys, threading, time, weakref
import maskedadv.cli.main as m
class Slow:
    def __del__(self): print("taken down")
kept = Slow()
def main():
    print("main")
    atexit.register(print, "asked")
    weakref.finalize(kept, print, "finalised")
    threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
"""


def end(how: str) -> subprocess.CompletedProcess[str]:
    code = f"{_BEGIN}    {how}\nm.main = main\nm.program()\n"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("how", "code"),
    [("sys.exit(0)", 0), ("sys.exit(2)", 2), ("sys.exit()", 0), ("1 / 0", 1), ("sys.exit('no')", 1)],
)
def test_what_asked_to_be_called_is_called_and_codes_are_kept(how: str, code: int) -> None:
    done = end(how)
    assert done.returncode == code
    assert sorted(done.stdout.split()) == ["asked", "finalised", "main", "thread"]  # and nothing taken down
    assert ("ZeroDivisionError" in done.stderr) == (how == "1 / 0")
    assert ("no" in done.stderr.split()) == ("no" in how)


def test_measurements_of_coverage_are_written() -> None:
    done = end("sys.modules['coverage'] = sys; sys.exit(3)")
    assert done.returncode == 3
    assert "down" in done.stdout


def test_the_command_ends_so(tmp_path: Path) -> None:
    for command in ([sys.executable, "-m", "maskedadv"], [str(Path(sys.executable).with_name("maskedadv"))]):
        done = subprocess.run([*command, "gaps", str(tmp_path)], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "no result folder" in done.stderr
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[:9]) == (0, "maskedadv")
