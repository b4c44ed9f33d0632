from . import estimate, launch, plan, progress, slurm, store

__all__ = ["estimate", "launch", "plan", "progress", "slurm", "store"]
