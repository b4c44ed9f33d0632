from .pairings import read_pairings
from .runner import Study, study
from .settings import Settings

__all__ = ["Settings", "Study", "read_pairings", "study"]
