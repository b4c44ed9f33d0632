from .analyses import Sensitivity, vary

__all__ = ["Sensitivity", "vary"]
