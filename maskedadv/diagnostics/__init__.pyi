from .check import LocaleVerdict, diagnose
from .measures import Measures, measure
from .verdict import Finding, judge

__all__ = ["Finding", "LocaleVerdict", "Measures", "diagnose", "judge", "measure"]
