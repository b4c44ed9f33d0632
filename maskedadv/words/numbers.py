"""Numbers as people read them; every table, page, sentence and LaTeX file takes its form from here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DIGITS = 2
"""Decimals of an estimate in logits."""


@dataclass(frozen=True)
class Form:
    """Signs of a place where numbers stand: minus, infinity, and what stands where there is no number."""

    minus: str
    infinite: str
    missing: str


TERMINAL = Form("-", "inf", "-")
PAGE = Form("−", "∞", "n/a")  # LaTeX, too, which is made from the page's text
STUDY = Form("-", "NA", "NA")  # sentences of validity
MINUS = PAGE.minus


def number(value: float, digits: int = DIGITS, form: Form = TERMINAL) -> str:
    """Fixed decimals, without a minus before zero."""
    if value is None or math.isnan(value):
        return form.missing
    if math.isinf(value):
        return form.infinite if value > 0 or form is STUDY else form.minus + form.infinite
    return f"{value:z.{digits}f}".replace("-", form.minus)


def signed(value: float, digits: int = DIGITS) -> str:
    """`number` as on a page: `−0.65`, "n/a" where there is none."""
    return number(value, digits, PAGE)


def interval_text(row: Mapping[str, Any], form: Form = PAGE) -> str:
    """`−0.65 [−1.08, −0.23]`, from estimate, lower and upper."""
    text = number(row["estimate"], form=form)
    if math.isfinite(row["lower"]):
        text += f" [{number(row['lower'], form=form)}, {number(row['upper'], form=form)}]"
    return text


def probability(value: float) -> str:
    """A probability to three digits that never rounds to an impossible 0 or 1."""
    if math.isnan(value):
        return TERMINAL.missing
    if value >= 0.9995:
        return ">.999"
    if value < 0.0005:
        return "<.001"
    return f"{value:.3f}"[1:]


def chance(p_positive: float) -> str:
    """`P(>0) = .02` with ends that never read as certain."""
    if math.isnan(p_positive):
        return "P(>0) unknown"
    if p_positive < 0.001:
        return "P(>0) < .001"
    if p_positive > 0.999:
        return "P(>0) > .999"
    return f"P(>0) = {p_positive:.3f}".replace("= 0.", "= .")


def p_value(p: float) -> str:
    """`= .03` or `< .001`, to be written after a p."""
    if math.isnan(p):
        return PAGE.missing
    if p < 0.0001:
        return "< .0001"
    digits = 4 if p < 0.001 else 3 if p < 0.1 else 2
    text = f"{p:.{digits}f}"
    return f"= {text[1:] if text.startswith('0.') else text}"


def clock(seconds: float) -> str:
    """Seconds as 3:07 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def percent(share: float) -> str:
    """A share as whole percent, never rounded to an impossible 0 or 100."""
    if math.isnan(share):
        return PAGE.missing
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 < share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def level_text(level: float) -> str:
    """`95%`, of intervals."""
    return f"{100 * level:g}%"


def plural(n: int, noun: str, several: str = "") -> str:
    """`1 locale`, `2 locales`; `several` where that is not the noun and an s."""
    return f"{n:,} {noun if n == 1 else several or f'{noun}s'}"
