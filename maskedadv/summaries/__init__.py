"""The numbers behind the exhibits, as tidy tables with intervals from the joint uncertainty.

Every function takes a fit (or a `Joint`, to build it once) and returns a DataFrame. Definitions:
docs/how-to/reports.md.
"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
