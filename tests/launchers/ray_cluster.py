"""A Ray cluster on this machine: a head and further nodes, each a group of processes of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import ROOT

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1", "RAY_DEDUP_LOGS": "0"}


@dataclass
class Cluster:
    """Address of the head, and the process that holds each node."""

    folder: Path
    address: str = ""
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *more: str) -> None:
        """Start a node with one processor; the first is the head."""
        port = _free_port()
        where = ["--head", f"--port={port}", f"--temp-dir={self.folder}", "--include-dashboard=false"]
        if self.nodes:
            # An address of its own: a program is served by the node of its own address, the head.
            where = [f"--address={self.address}", f"--node-ip-address=127.0.0.{len(self.nodes) + 1}"]
        log = self.folder / f"node{len(self.nodes)}.txt"
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *where, "--num-cpus=1", "--block"]
        command += ["--disable-usage-stats", "--object-store-memory=80000000", *more]
        with log.open("wb") as out:
            node = subprocess.Popen(
                command, stdout=out, stderr=out, start_new_session=True, env=environment(), cwd=ROOT
            )
        self.nodes.append(node)
        for _ in range(1200):
            if "Ray runtime started" in log.read_text("utf-8", "replace"):
                self.address = self.address or f"{_address_in(log)}:{port}"
                return
            if node.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(log.read_text("utf-8", "replace"))

    def is_at_work(self, number: int) -> bool:
        """Whether a task runs on the node: Ray then names its process so."""
        started = descendants(self.nodes[number].pid)
        return any(_command(pid).startswith(b"ray::do_pickled") for pid in started)

    def kill(self, number: int) -> None:
        """What a machine does that loses its power: everything of the node is gone at once."""
        kill_all(descendants(self.nodes[number].pid))


@contextmanager
def running(nodes: int = 2) -> Iterator[Cluster]:
    """A cluster whose files lie in a folder with a short name: its sockets' names have 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    cluster = Cluster(folder)
    try:
        for _ in range(nodes):
            cluster.start()
        yield cluster
    finally:
        started = [pid for node in cluster.nodes for pid in descendants(node.pid)]
        kill_all(started)
        kill_all(using(folder))  # of a node that was killed, its workers' children
        for node in cluster.nodes:
            node.wait()
        shutil.rmtree(folder, ignore_errors=True)


def environment() -> dict[str, str]:
    """For Ray's processes and those that use it."""
    return {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}


def descendants(pid: int) -> list[int]:
    """A process and all that it started, the nearest first."""
    above: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            above.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop(0))
        todo += above.get(found[-1], [])
    return found


def using(folder: Path) -> list[int]:
    """Processes that name the folder in their command."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in command.read_bytes() and int(command.parent.name) != os.getpid():
                found.append(int(command.parent.name))
    return found


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _address_in(log: Path) -> str:
    return log.read_text("utf-8", "replace").split("Local node IP: ")[1].split()[0]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
