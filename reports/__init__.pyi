from . import figures, write
from .item_page import write_item_page
from .write import Report, write_report

__all__ = ["Report", "figures", "write", "write_item_page", "write_report"]
