from . import figures, write
from .write import Report, write_report

__all__ = ["Report", "figures", "write", "write_report"]
