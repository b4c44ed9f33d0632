"""Verdicts in words: how gaps with intervals are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def side(row: Mapping[Any, Any]) -> int:
    """1 where the interval lies above zero, −1 below, 0 where it does not say."""
    return int(row["lower"] > 0) - int(row["upper"] < 0)


def verdict(
    global_: Mapping[str, Any], local: Mapping[str, Any], knowledge: Mapping[str, Any], pivot: str
) -> str:
    """Which language is better for local questions, and is it proficiency or access?

    Parameters
    ----------
    global_, local, knowledge
        estimate, lower, upper of the three gaps of one locale.
    pivot
        Name of the pivot language.
    """
    if any(math.isnan(row["estimate"]) for row in (global_, local, knowledge)):
        return "Not known: no model has all four abilities here."
    first = {
        -1: f"{pivot} is better for local questions.",
        0: "Neither language is clearly better for local questions.",
        1: "The local language is better for local questions.",
    }[side(local)]
    weaker, access = side(global_), side(knowledge)
    if access > 0:
        second = {
            -1: "Access is better through the local language, and weaker proficiency masks it.",
            0: "Access is better through the local language; proficiency does not clearly differ.",
            1: "Access and proficiency are both better in the local language.",
        }[weaker]
    elif access < 0:
        second = {
            -1: f"Both play a part: weaker proficiency, and access that is better through {pivot} beyond it.",
            0: f"It is access, better through {pivot}; proficiency does not clearly differ.",
            1: f"It is access, better through {pivot} in spite of stronger local proficiency.",
        }[weaker]
    else:
        second = {
            -1: "Weaker local proficiency is clear; beyond it, no difference in access is clear.",
            0: "Neither proficiency nor access differs clearly: the data do not say which.",
            1: "Proficiency is better in the local language; beyond it, no difference in access is clear.",
        }[weaker]
    return f"{first} {second}"
