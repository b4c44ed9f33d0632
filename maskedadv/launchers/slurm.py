"""Units as jobs of Slurm arrays, handed in through submitit and waited for; a lost job is handed in again."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import BadSetting, PackageMissing, WorkerDied
from maskedadv.launchers.kinds import Slurm
from maskedadv.launchers.unit import TRIES, Event, Happenings, Outcome, Tell, Unit, attempt

_GRACE = 20.0  # seconds that a result may come later than its job leaves the queue
_POLL = 2.0


def run_slurm(units: Sequence[Unit], how: Slurm, tell: Tell) -> Happenings:
    """Hand all units in and wait for them.

    Raises
    ------
    PackageMissing
    BadSetting
        There is no Slurm, or it does not take the jobs; no folder for the jobs' files is given.
    """
    if how.folder is None:
        raise BadSetting(
            "Slurm needs a folder that all machines share; name an output (-o), or Slurm(folder=...)."
        )
    jobs: dict[str, tuple[int, Any]] = {}
    try:
        jobs |= _hand_in(units, range(len(units)), how)
        names = sorted({name.split("_")[0] for name in jobs})
        tell(f"Handed in as Slurm job {', '.join(names)}; logs in {how.folder}.")
        yield from _wait(units, jobs, how)
    except (KeyboardInterrupt, SystemExit):
        names = sorted({name.split("_")[0] for name in jobs})
        if names:
            tell(
                f"The jobs go on; scancel {' '.join(names)} ends them. The same command again takes up "
                "what is missing."
            )
        raise
    except GeneratorExit:  # what comes of them is not wanted any more
        for _, job in jobs.values():
            with contextlib.suppress(Exception):
                job.cancel()
        raise


def _hand_in(units: Sequence[Unit], chosen: Sequence[int], how: Slurm) -> dict[str, tuple[int, Any]]:
    """Jobs by their ids; an array's jobs are alike, so that those with GPUs make one of their own."""
    try:
        import submitit
    except ModuleNotFoundError as error:
        raise PackageMissing(
            "--slurm needs submitit; install with: pip install 'maskedadv[cluster]'."
        ) from error
    assert how.folder is not None
    found: dict[str, tuple[int, Any]] = {}
    try:
        for gpus in sorted({units[k].gpus for k in chosen}):
            executor = submitit.AutoExecutor(folder=how.folder.absolute(), cluster=how.cluster)
            executor.update_parameters(name="maskedadv", timeout_min=60 * how.hours)
            if how.cluster == "slurm":
                more: dict[str, Any] = {"gpus_per_node": gpus} if gpus else {}
                if how.cpus > 1:
                    more["cpus_per_task"] = how.cpus
                setup = ["export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}"]
                executor.update_parameters(slurm_partition=how.partition, slurm_setup=setup, **more)
            alike = [k for k in chosen if units[k].gpus == gpus]
            with executor.batch():
                handed = [executor.submit(attempt, units[k].work, print) for k in alike]
            found |= {job.job_id: (k, job) for k, job in zip(alike, handed, strict=True)}
    except (RuntimeError, OSError, submitit.core.utils.FailedJobError) as error:
        reason = " ".join(str(error).split())[-300:]
        raise BadSetting(f"the jobs cannot be handed in to Slurm ({reason}).") from error
    return found


def _wait(units: Sequence[Unit], jobs: dict[str, tuple[int, Any]], how: Slurm) -> Happenings:
    """Wait until each unit has a result, or was handed in as often as it may be and left none.

    The queue is asked, not the accounts that submitit asks: not every cluster keeps any.
    """
    slurm = how.cluster == "slurm"
    gone: dict[str, float] = {}
    tries: Counter[int] = Counter(range(len(units)))
    begun: set[str] = set()
    while jobs:
        queued = _queued(list(jobs)) if slurm else None
        now = time.monotonic()
        lost: list[int] = []
        for name, (k, job) in list(jobs.items()):
            if slurm and queued is not None and name not in queued:
                gone.setdefault(name, now)
            else:
                gone.pop(name, None)
            there = _has_result(job) if slurm else job.done()
            started = there or not slurm or (queued is not None and queued.get(name) == "RUNNING")
            if started and name not in begun:
                begun.add(name)
                if tries[k] == 1:
                    yield Event(k, "begun")
            if there:
                result, reason = _result(job)
            elif name in gone and now - gone[name] > _GRACE:
                result, reason = None, ""
            else:
                continue
            del jobs[name]
            if result is not None:
                yield Outcome(k, *result)
                continue
            why = f"Slurm job {name} ended without a result" + (f" ({reason})" if reason else "")
            if tries[k] < TRIES:
                tries[k] += 1
                lost.append(k)
                yield Event(k, "again", why)
            else:
                yield Outcome(k, error=WorkerDied(f"{why}; so it went {TRIES} times."))
        if lost:
            jobs |= _hand_in(units, lost, how)
        elif jobs:
            time.sleep(_POLL)


def _queued(names: Sequence[str]) -> dict[str, str] | None:
    """The jobs that are waiting or running, and which of the two; None where Slurm does not tell just now."""
    numbers = ",".join(sorted({name.split("_")[0] for name in names}))
    command = ["squeue", "--noheader", "--array", "--format=%i %T", f"--jobs={numbers}"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if asked.returncode and "Invalid job id" not in asked.stderr:
        return None
    return dict(line.split(maxsplit=1) for line in asked.stdout.splitlines() if " " in line)


def _has_result(job: Any) -> bool:
    folder: Path = job.paths.folder
    with contextlib.suppress(OSError):
        folder.chmod(folder.stat().st_mode)  # network file systems then look again
    return bool(job.paths.result_pickle.exists())


def _result(job: Any) -> tuple[tuple[Any, Any] | None, str]:
    """Value and error of a unit; None, and what its log says last, where the job has neither."""
    try:
        return job.result(), ""
    except Exception as error:  # ended while it wrote its result, or the process was of no use any more
        lines = str(error).strip().splitlines() if "Traceback" in str(error) else []
        return None, lines[-1][-300:] if lines else _log(job)


def _log(job: Any) -> str:
    """The last line of a job's log that is not submitit's."""
    try:
        lines = job.paths.stderr.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][-300:] if lines else ""
