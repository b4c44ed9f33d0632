from . import items, keys, sources, tables

__all__ = ["items", "keys", "sources", "tables"]
