"""Units as jobs of a Slurm array, one job a model, through submitit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import PackageMissing
from scoring.launch import Identities, run_unit
from scoring.plan import Unit

LOGS = "_slurm"


def run_on_slurm(
    units: Sequence[Unit],
    identities: Identities,
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
    ready = [unit for unit in units if unit.model in identities]
    if not ready:
        return [unit.model for unit in units]
    with executor.batch():
        jobs = [executor.submit(_work, u, identities[u.model], out.absolute(), again) for u in ready]
    failed = [unit.model for unit in units if unit.model not in identities]
    for unit, job in zip(ready, jobs, strict=True):
        try:
            done = job.result()
        except Exception:  # killed, timed out, or lost: what is missing is seen by running again
            done = False
        if not done:
            failed.append(unit.model)
    return failed


def _work(unit: Unit, identity: Mapping[str, Any], out: Path, again: bool) -> bool:
    return run_unit(unit, identity, out, print, again=again)
