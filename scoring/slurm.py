"""Units as jobs of a Slurm array, one job a model, through submitit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maskedadv.errors import PackageMissing
from scoring.launch import run_unit
from scoring.plan import Unit

LOGS = "_slurm"


def run_on_slurm(
    units: Sequence[Unit],
    out: Path,
    partition: str,
    *,
    again: bool = False,
    cluster: str = "slurm",
    hours: int = 24,
) -> list[str]:
    """Hand all units in, wait for them, and give the names of the models that failed.

    Parameters
    ----------
    cluster
        "slurm"; "local" runs the jobs as processes of this machine.

    Raises
    ------
    PackageMissing
    """
    try:
        import submitit
    except ModuleNotFoundError as error:
        raise PackageMissing(
            "--slurm needs submitit; install with: pip install 'maskedadv[cluster]'."
        ) from error
    executor = submitit.AutoExecutor(folder=out / LOGS, cluster=cluster)
    executor.update_parameters(name="maskedadv", timeout_min=60 * hours)
    if cluster == "slurm":
        executor.update_parameters(slurm_partition=partition, gpus_per_node=1)
    with executor.batch():
        jobs = [executor.submit(_work, unit, out.absolute(), again) for unit in units]
    failed = []
    for unit, job in zip(units, jobs, strict=True):
        try:
            done = job.result()
        except Exception:  # killed, timed out, or lost: what is missing is seen by running again
            done = False
        if not done:
            failed.append(unit.model)
    return failed


def _work(unit: Unit, out: Path, again: bool) -> bool:
    return run_unit(unit, out, print, again=again)
