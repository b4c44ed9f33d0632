"""Numbers and verdicts in words: how a gap with an interval is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MINUS = "−"


def signed(value: float, digits: int = 2) -> str:
    """A number with a real minus sign, without a minus before zero; "n/a" where there is none."""
    if not math.isfinite(value):
        return "n/a" if math.isnan(value) else ("∞" if value > 0 else MINUS + "∞")
    text = f"{value:.{digits}f}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0 else MINUS + text[1:]
    return text


def p_value(p: float) -> str:
    """`= .03` or `< .001`, to be written after a p."""
    if math.isnan(p):
        return "n/a"
    if p < 0.0001:
        return "< .0001"
    digits = 4 if p < 0.001 else 3 if p < 0.1 else 2
    text = f"{p:.{digits}f}"
    return f"= {text[1:] if text.startswith('0.') else text}"


def percent(share: float) -> str:
    """A share as whole percent, never rounded to an impossible 0 or 100; "n/a" where there is none."""
    if math.isnan(share):
        return "n/a"
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 < share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def plural(n: int, noun: str) -> str:
    """`1 locale`, `2 locales`."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def interval_text(row: Mapping[str, Any]) -> str:
    """`−0.65 [−1.08, −0.23]`."""
    text = signed(row["estimate"])
    if math.isfinite(row["lower"]):
        text += f" [{signed(row['lower'])}, {signed(row['upper'])}]"
    return text


def side(row: Mapping[Any, Any]) -> int:
    """1 where the interval lies above zero, −1 below, 0 where it does not say."""
    return int(row["lower"] > 0) - int(row["upper"] < 0)


def chance(p_positive: float) -> str:
    """`P(>0) = .02` with ends that never read as certain."""
    if math.isnan(p_positive):
        return "P(>0) unknown"
    if p_positive < 0.001:
        return "P(>0) < .001"
    if p_positive > 0.999:
        return "P(>0) > .999"
    return f"P(>0) = {p_positive:.3f}".replace("= 0.", "= .")


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
