"""Engines run Stan programs: one small protocol, two implementations.

`embedded` is the Stan compiler, Stan Math and Stan's algorithms in one wheel; `cmdstan` is CmdStan
through CmdStanPy. Same programs, same names of variables in and out.
"""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
