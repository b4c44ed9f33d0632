"""Units as jobs of a Slurm array, one job a model, handed in through submitit and waited for."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import BadSetting, PackageMissing
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.launch.launch import Identities, record_failure, run_unit
from maskedadv.scoring.launch.plan import Unit

LOGS = "_slurm"
_GRACE = 20.0  # seconds that a result may come later than its job leaves the queue
_POLL = 2.0


def run_on_slurm(
    units: Sequence[Unit],
    identities: Identities,
    out: Path,
    partition: str,
    *,
    again: bool = False,
    gpus: int = 1,
    cluster: str = "slurm",
    hours: int = 24,
    report: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Hand all units in, wait for them, and give the names of the models that failed.

    Parameters
    ----------
    gpus
        GPUs of a job; none are asked for where the device is the CPU.
    cluster
        "slurm"; "local" runs the jobs as processes of this machine.
    hours
        A job's time limit, which SBATCH_TIMELIMIT overrides, as sbatch's other variables do for the rest.

    Raises
    ------
    PackageMissing
    BadSetting
        There is no Slurm, or it does not take the jobs.
    """
    try:
        import submitit
    except ModuleNotFoundError as error:
        raise PackageMissing(
            "--slurm needs submitit; install with: pip install 'maskedadv[cluster]'."
        ) from error
    failed = [unit.model for unit in units if unit.model not in identities]
    ready = [unit for unit in units if unit.model in identities]
    if not ready:
        return failed
    jobs: list[Any] = []
    try:
        for on_cpu in (False, True):  # an array's jobs are alike
            alike = [unit for unit in ready if _on_cpu(unit) == on_cpu]
            executor = submitit.AutoExecutor(folder=out.absolute() / LOGS, cluster=cluster)
            executor.update_parameters(name="maskedadv", timeout_min=60 * hours)
            if cluster == "slurm":
                more = {} if on_cpu else {"gpus_per_node": gpus}
                executor.update_parameters(slurm_partition=partition, **more)
            if alike:
                with executor.batch():
                    handed = [
                        executor.submit(_work, u, identities[u.model], out.absolute(), again) for u in alike
                    ]
                jobs += zip(alike, handed, strict=True)
    except (RuntimeError, OSError, submitit.core.utils.FailedJobError) as error:
        reason = " ".join(str(error).split())[-300:]
        raise BadSetting(f"the jobs cannot be handed in to Slurm ({reason}).") from error
    names = ", ".join(sorted({job.job_id.split("_")[0] for _, job in jobs}))
    report(f"Handed in as Slurm job {names}; logs in {out / LOGS}.")
    try:
        lost = _wait([job for _, job in jobs], report, slurm=cluster == "slurm")
    except KeyboardInterrupt:
        report(f"The jobs go on; scancel {names} ends them. The same command again takes up what is missing.")
        raise
    for unit, job in jobs:
        if job.job_id in lost or not _result(job):
            failed.append(unit.model)
        if job.job_id in lost:
            record_failure(out, unit, f"{_log(job)}\nSlurm job {job.job_id} ended without a result.")
    return failed


def _wait(jobs: Sequence[Any], report: Callable[[str], None], *, slurm: bool) -> set[str]:
    """Wait until each job has a result or is gone from the queue; the ids of those that left none.

    The queue is asked, not the accounts that submitit asks: not every cluster keeps any.
    """
    waiting = {job.job_id: job for job in jobs}
    gone: dict[str, float] = {}
    lost: set[str] = set()
    while waiting:
        queued = _queued(list(waiting)) if slurm else None
        now = time.monotonic()
        for name, job in list(waiting.items()):
            if slurm and queued is not None and name not in queued:
                gone.setdefault(name, now)
            else:
                gone.pop(name, None)
            if _has_result(job) if slurm else job.done():
                del waiting[name]
            elif name in gone and now - gone[name] > _GRACE:
                lost.add(name)
                del waiting[name]
            else:
                continue
            report(f"{len(jobs) - len(waiting)} of {len(jobs)} jobs done.")
        if waiting:
            time.sleep(_POLL)
    return lost


def _queued(names: Sequence[str]) -> set[str] | None:
    """The jobs that are waiting or running; None where Slurm does not tell just now."""
    numbers = ",".join(sorted({name.split("_")[0] for name in names}))
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={numbers}"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if asked.returncode and "Invalid job id" not in asked.stderr:
        return None
    return set(asked.stdout.split())


def _has_result(job: Any) -> bool:
    folder = job.paths.folder
    with contextlib.suppress(OSError):
        folder.chmod(folder.stat().st_mode)  # network file systems then look again
    return bool(job.paths.result_pickle.exists())


def _result(job: Any) -> bool:
    try:
        return bool(job.result())
    except Exception:  # ended while it wrote its result: what is missing is seen by running again
        return False


def _log(job: Any) -> str:
    try:
        return str(job.paths.stderr.read_text("utf-8", "replace"))[-4000:]
    except OSError:
        return ""


def _on_cpu(unit: Unit) -> bool:
    return isinstance(unit.settings, ApiSettings) or unit.settings.device == "cpu"


def _work(unit: Unit, identity: Mapping[str, Any], out: Path, again: bool) -> bool:
    return run_unit(unit, identity, out, print, again=again)
