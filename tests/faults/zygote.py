"""Commands in processes that may be killed, forked from one that has imported everything: imports are most
of what a small run costs.

`python -m tests.faults.zygote` reads a request a line, as JSON: `arguments`, `environment`, `cwd`,
`console` (a file), and `at`: the change of a file, counted from 1, before which the process gets `signal`
(its whole group, unless `alone`), or 0. It answers two lines: the process's
number, and when it has ended its exit code (negative: the signal) and the number of changes it had begun.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import struct
import sys
import tempfile
import threading
from typing import Any

LIBRARIES = ("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "plotnine", "pyarrow.csv")
OURS = ("cli", "fitting", "engines", "sampling", "result", "reports", "scoring")
"""Parts of the package whose modules are imported beforehand, but for those that lack a library; with them
comes what they import. None of it starts a thread."""
CHANGES = frozenset(
    f"os.{name}" for name in ("rename", "remove", "mkdir", "rmdir", "link", "symlink", "truncate", "chmod")
) | {"fcntl.flock", "subprocess.Popen", "ctypes.call_function"}
"""Events of Python's audit that change files, locks or processes, besides files opened to be written; an
exchange of two names is a call through ctypes."""

CLOSED = "|"
"""In place of a file for standard output: a pipe whose reader is gone, as in `| head -1`."""


class Counter:
    """Counts what a process is about to change on the disk, in memory that outlives it; signals at one."""

    def __init__(self, shared: Any, request: dict[str, Any]) -> None:
        self._shared, self._count, self._own = shared, 0, os.getpid()
        self._at, self._signal, self._alone = request["at"], request["signal"], request["alone"]

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            flags = arguments[2] if len(arguments) > 2 else 0
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in CHANGES:
            return
        if os.getpid() != self._own:
            return  # forked on
        self._count += 1
        self._shared[:8] = struct.pack("q", self._count)
        if self._count == self._at:
            os.kill(self._own if self._alone else 0, self._signal)


def run(request: dict[str, Any], shared: Any) -> None:
    """In the new process: become what `python -m maskedadv ...` would be."""
    os.setsid()
    console = os.open(request["console"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for standard in (1, 2):
        os.dup2(console, standard)
    os.close(console)
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    if request["printed"] == CLOSED:
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, 1)
        os.close(write)
    elif request["printed"]:
        printed = os.open(request["printed"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(printed, 1)
        os.close(printed)
    tempfile.tempdir = None
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.addaudithook(Counter(shared, request))
    from maskedadv.cli.main import main

    main(request["arguments"])


def _code_of(request: dict[str, Any], shared: Any) -> int:
    try:
        run(request, shared)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _end(code: int) -> None:
    """End as any process does, but for giving back memory: threads first, then what is done at exit."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


def _import_all() -> None:
    import maskedadv

    for name in LIBRARIES:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(maskedadv.__path__, "maskedadv."):
        if module.name.split(".")[1] in OURS and "scoring.models" not in module.name:  # which bring PyTorch
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def serve() -> None:
    """Fork a process a request, and wait for it."""
    import mmap

    _import_all()
    gc.collect()
    gc.freeze()  # so that the memory stays shared
    answers = os.fdopen(os.dup(1), "w")
    shared = mmap.mmap(-1, 8)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        shared[:8] = bytes(8)
        number = os.fork()
        if number == 0:
            answers.close()
            _end(_code_of(request, shared))
        print(number, file=answers, flush=True)
        _, status = os.waitpid(number, 0)
        done = {"code": os.waitstatus_to_exitcode(status), "changes": struct.unpack("q", shared[:8])[0]}
        print(json.dumps(done), file=answers, flush=True)


if __name__ == "__main__":
    serve()
