"""Units as tasks of a Ray cluster; those of a machine or process that goes away are done again elsewhere.

Ray runs a task in the main thread of its worker, which the embedded Stan engine needs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from maskedadv.errors import BadSetting, PackageMissing, WorkerDied
from maskedadv.launchers.kinds import Ray
from maskedadv.launchers.unit import TRIES, Event, Happenings, Outcome, Tell, Unit, WorkerSpoilt, attempt

_POLL = 1.0
_PAUSE = 3.0


def run_ray(units: Sequence[Unit], how: Ray, tell: Tell) -> Happenings:
    """Do the units on the cluster; as many are handed in as it has room for.

    Raises
    ------
    PackageMissing
    BadSetting
        No cluster answers.
    """
    ray = _connect(how)
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]]
        tell(f"Ray cluster of {len(nodes)} machines, {ray.cluster_resources().get('CPU', 0):.0f} processors.")
        yield from _work_off(ray, units, how)
    finally:
        ray.shutdown()  # tasks that run are ended, too


def _work_off(ray: Any, units: Sequence[Unit], how: Ray) -> Happenings:
    waiting = list(range(len(units)))[::-1]
    running: dict[Any, int] = {}
    tries: Counter[int] = Counter()
    while waiting or running:
        while waiting and len(running) < _room(ray, how):
            k = waiting.pop()
            tries[k] += 1
            if tries[k] == 1:
                yield Event(k, "begun")
            # Bounded by us, and told; max_calls: a process that had a GPU does not keep its memory.
            options = {"num_cpus": how.cpus, "num_gpus": units[k].gpus, "max_retries": 0}
            options["max_calls"] = 1 if units[k].gpus else 0
            task = ray.remote(**options)(do_pickled)
            running[task.remote(pickle.dumps(units[k].work))] = k
        done, _ = ray.wait(list(running), num_returns=1, timeout=_POLL)
        for reference in done:
            k = running.pop(reference)
            try:
                value, error = pickle.loads(ray.get(reference))  # noqa: S301 (of our own task)
            except (ray.exceptions.RayError, WorkerSpoilt) as lost:
                why = _why(lost)
                if tries[k] < TRIES:
                    waiting.append(k)
                    yield Event(k, "again", why)
                    time.sleep(_PAUSE)  # the cluster may not know yet that a machine is gone
                    continue
                value, error = None, WorkerDied(f"{why}; so it went {TRIES} times.")
            yield Outcome(k, value, error)


def do_pickled(work: bytes) -> bytes:
    """A unit on a machine of the cluster; Ray's own pickling would send our modules, not their names."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return pickle.dumps(attempt(pickle.loads(work), print))  # noqa: S301


def _connect(how: Ray) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody outside
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise PackageMissing("--ray needs Ray; install with: pip install 'maskedadv[cluster]'.") from error
    if ray.is_initialized():
        raise BadSetting("this process is connected to Ray already; call ray.shutdown() first.")
    _require_answer(how.address)
    own = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=how.address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_cluster(how.address, error) from error
    with contextlib.suppress(ImportError, AttributeError):
        # Ray has no public word for it: what it prints of machines that are gone, we tell in a sentence.
        worker: Any = importlib.import_module("ray._private.worker")
        worker._worker_logs_enabled = False
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, own)  # Ray's own leaves with another exit code
    return ray


def _require_answer(address: str) -> None:
    """Ray waits minutes for a machine that is not there; we do not."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise _no_cluster(address, error) from error


def _no_cluster(address: str, error: Exception) -> BadSetting:
    reason = " ".join(str(error).split())[:200]
    return BadSetting(f"no Ray cluster answers at {address} ({reason}); start one with: ray start --head.")


def _room(ray: Any, how: Ray) -> int:
    """How many units the machines that are there now can take."""
    return max(int(ray.cluster_resources().get("CPU", 0)) // how.cpus, 1)


def _why(lost: BaseException) -> str:
    cause = lost.cause if hasattr(lost, "cause") and lost.cause is not None else lost
    text = " ".join(str(cause).split())
    if isinstance(cause, WorkerSpoilt):
        return text
    return f"its Ray worker is gone ({type(cause).__name__}: {text[:200]})"
