"""Where the units of long work run: processes of this machine, Slurm, Ray; nothing else differs."""

from maskedadv.lazily import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
