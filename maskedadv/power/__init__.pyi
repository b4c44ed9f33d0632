from .by_simulation import Simulated, simulate_power
from .formula import items_needed
from .table import power_table

__all__ = ["Simulated", "items_needed", "power_table", "simulate_power"]
