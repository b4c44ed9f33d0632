"""Numbers in words."""

from __future__ import annotations

import math

from maskedadv.validity import Settings, study
from maskedadv.validity.pairings import PairingFile
from maskedadv.validity.verdict import interval_text, number, p_text, verdict


def test_numbers() -> None:
    assert number(0.12345) == "0.123"
    assert number(math.nan) == "NA"
    assert p_text(0.0271) == "0.027"
    assert p_text(2.1e-7) == "2.1e-07"
    assert p_text(0.0009996) == "1.0e-03"
    assert p_text(math.nan) == "NA"
    assert interval_text(-0.02, 1.3, 2) == "[-0.02, 1.30]"
    assert interval_text(math.nan, math.nan) == "NA"


def test_no_negative_zero_and_levels_as_they_were_asked_for(simulated, aggregated) -> None:
    assert interval_text(-0.0004, 0.2, 3) == "[0.000, 0.200]"
    plan = PairingFile(simulated.plan.pairings[:1])
    result = study(plan, aggregated, simulated.models, Settings(500, level=0.995, repeats=2))
    assert "99.5% interval" in verdict(result, plan.pairings[0])
