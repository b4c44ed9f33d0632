"""Engines run Stan programs: one small protocol, two implementations.

`embedded` is the Stan compiler, Stan Math and Stan's algorithms in one wheel; `cmdstan` is CmdStan
through CmdStanPy. Same programs, same names of variables in and out.
"""

from maskedadv.engines.choose import choose_engine
from maskedadv.engines.protocol import Chains, Engine, Optimum, Sampler

__all__ = ["Chains", "Engine", "Optimum", "Sampler", "choose_engine"]
