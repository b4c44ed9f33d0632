from . import estimate, launch, plan, progress, store

__all__ = ["estimate", "launch", "plan", "progress", "store"]
