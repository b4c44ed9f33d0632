"""Readers of evaluation logs: files in, a response table and a report of what was read and dropped out.

One file per format, pure functions, bounded memory: a log is read record by record, and of each record
only a few numbers are kept.
"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
