from .comparing import compare
from .comparison import Comparison
from .saving import load_comparison

__all__ = ["Comparison", "compare", "load_comparison"]
