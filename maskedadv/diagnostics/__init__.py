"""Can a posterior be used: numbers, a verdict, the reasons and what to do."""

from maskedadv.diagnostics.check import LocaleVerdict, diagnose
from maskedadv.diagnostics.measure import Measures, measure
from maskedadv.diagnostics.verdict import Finding, judge

__all__ = ["Finding", "LocaleVerdict", "Measures", "diagnose", "judge", "measure"]
