from .plan import Plan
from .table import Simulation, simulate

__all__ = ["Plan", "Simulation", "simulate"]
