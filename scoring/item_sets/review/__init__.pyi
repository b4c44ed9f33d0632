from . import people, start, verdict
from .start import export, started
from .verdict import decide

__all__ = ["decide", "export", "people", "start", "started", "verdict"]
