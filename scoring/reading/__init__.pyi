from . import extract, read

__all__ = ["extract", "read"]
