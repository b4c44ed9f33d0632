from .kinds import Launcher, Local, Ray, Slurm
from .status import Status, read_status
from .tracking import tracked

__all__ = ["Launcher", "Local", "Ray", "Slurm", "Status", "read_status", "tracked"]
