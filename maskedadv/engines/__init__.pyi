from ..settings import Sampler
from .choose import choose_engine
from .protocol import Chains, Engine, Optimum
from .table import ENGINES

__all__ = ["ENGINES", "Chains", "Engine", "Optimum", "Sampler", "choose_engine"]
