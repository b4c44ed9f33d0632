"""A Slurm of one node on this machine, from Debian's slurmctld, slurmd, slurm-client and munge; for root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "sinfo", "sbatch", "srun", "squeue")

_SETTINGS = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=1,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=cpu Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def missing() -> str:
    """Why no node can be started here; '' where one can."""
    if os.geteuid() != 0:
        return "a Slurm node is started by root"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"Slurm is not installed: no {', '.join(absent)}" if absent else ""


def working() -> bool:
    """Whether this machine has a Slurm already."""
    if shutil.which("sinfo") is None:
        return False
    asked = subprocess.run(["sinfo", "--noheader"], capture_output=True, timeout=30, check=False)
    return asked.returncode == 0 and bool(asked.stdout.strip())


@contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """Start a node; gives the environment that its commands need. Its logs lie in `folder`."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    ports = _free_ports(2)
    host = socket.gethostname().split(".")[0]
    settings = _SETTINGS.format(host=host, folder=folder, controller=ports[0], node=ports[1])
    (folder / "slurm.conf").write_text(settings.lstrip())
    environment = {
        **os.environ,
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin",
    }
    key, munge = folder / "munge.key", f"{folder}/munge"
    subprocess.run(["mungekey", "-c", "-k", key], env=environment, check=True)
    commands = [
        ["munged", "-F", "--force", f"--socket={folder}/munge.socket", f"--key-file={key}"],
        ["slurmctld", "-D", "-c"],
        ["slurmd", "-D", "-c", "-N", host],
    ]
    commands[0] += [f"--pid-file={munge}.pid", f"--log-file={munge}.log", f"--seed-file={munge}.seed"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            log = (folder / f"{command[0]}.out").open("wb")
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(1)
        _wait_until_idle(environment)
        yield environment
    finally:
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def interrupt_waiting(
    line: Sequence[str], environment: dict[str, str], meanwhile: Callable[[], None] = lambda: None
) -> None:
    """Start a command whose jobs wait in the queue, interrupt it, and cancel them by what it says.

    Parameters
    ----------
    meanwhile : called while the jobs wait
    """
    process = subprocess.Popen(
        line,
        env={**environment, "SBATCH_BEGIN": "now+1hour"},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    for said in process.stderr:
        if "Handed in" in said:
            break
    meanwhile()
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    name = said.split("scancel ")[1].split()[0]
    subprocess.run(["scancel", name], env=environment, check=True)


def _wait_until_idle(environment: dict[str, str]) -> None:
    for _ in range(60):
        command = ["sinfo", "--noheader", "--format=%t"]
        asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if asked.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    raise RuntimeError(f"the Slurm node does not come up: {asked.stdout}{asked.stderr}")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
