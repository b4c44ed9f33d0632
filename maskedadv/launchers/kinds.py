"""The launchers, and what each can be told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from maskedadv.checks import Whole
from maskedadv.launchers.ledger import Ledger


@dataclass(frozen=True)
class Launcher:
    """What all launchers have: the book in which they write what happens (see `tracked`)."""

    ledger: Ledger | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def threads(self) -> int | None:
        """Threads that a unit may use; None for all of its machine."""
        raise NotImplementedError

    @property
    def at_once(self) -> int:
        """How many units are worth having in memory at the same time."""
        return 32


@dataclass(frozen=True)
class Local(Launcher):
    """Processes of this machine, which serve one unit after the other.

    Attributes
    ----------
    jobs : units at the same time; with 1, in the process at hand
    environments : variables of every process, in the place of `jobs`
    fresh : whether every unit gets a process of its own
    """

    jobs: int = 1
    environments: tuple[Mapping[str, str], ...] = ()
    fresh: bool = False

    def __post_init__(self) -> None:
        Whole(1, 10**6)("jobs", self.jobs)

    @property
    def threads(self) -> int | None:
        return None if self.jobs == 1 else max(1, (os.cpu_count() or 1) // self.jobs)

    @property
    def at_once(self) -> int:
        return self.jobs


@dataclass(frozen=True)
class Slurm(Launcher):
    """Jobs of Slurm arrays, one a unit, handed in through submitit and waited for.

    Attributes
    ----------
    partition : where jobs run
    folder : on a disk that all machines share, for the jobs' files and logs; `tracked` gives one
    cpus : of a job
    hours : a job's time limit; sbatch's own variables (SBATCH_TIMELIMIT, ...) override what is set here
    cluster : "slurm"; "local" runs the jobs as processes of this machine, which tries a script without Slurm
    """

    partition: str
    folder: Path | None = None
    cpus: int = 1
    hours: int = 24
    cluster: str = "slurm"

    def __post_init__(self) -> None:
        Whole(1, 10**4)("cpus", self.cpus)
        Whole(1, 10**5)("hours", self.hours)

    @property
    def threads(self) -> int | None:
        return self.cpus


@dataclass(frozen=True)
class Ray(Launcher):
    """Tasks of a Ray cluster that runs already, one a unit.

    Attributes
    ----------
    address : host:port of its head; "auto" is the cluster that this machine belongs to
    cpus : of a task
    """

    address: str = "auto"
    cpus: int = 1

    def __post_init__(self) -> None:
        Whole(1, 10**4)("cpus", self.cpus)

    @property
    def threads(self) -> int | None:
        return self.cpus
