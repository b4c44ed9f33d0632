"""Which gaps are spoken of first, plain or paired, and the test that says so; as a result holds it.

Whoever reads a result needs this, and nothing that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maskedadv.errors import BadSetting
from maskedadv.gaps.hausman import SIGNIFICANT


@dataclass(frozen=True)
class Departure:
    """Does the plain gap of a locale agree with the paired one? None stands for what is not known.

    Attributes
    ----------
    locale, gap : of what; "(all locales)" and "(all gaps)" for everything at once
    plain, paired : mean over the models whose gaps both know (logit); None for everything
    n_models : how many those are
    shift, sd : common step from plain to paired, weighted by precision, and its standard error (logit)
    statistic, df, p : of Hausman's test that it is 0
    """

    locale: str
    gap: str
    plain: float | None
    paired: float | None
    n_models: int
    shift: float | None
    sd: float | None
    statistic: float | None
    df: float | None
    p: float | None


def rejects(departures: Sequence[Departure]) -> bool:
    """Whether plain and paired differ over everything, so that paired is the headline."""
    p = departures[-1].p if departures else None
    return p is not None and p < SIGNIFICANT


def headline_of(wanted: str, departures: Sequence[Departure], variants: Sequence[str]) -> str:
    """The variant to speak of first.

    Raises
    ------
    BadSetting
        Paired gaps are wanted and there are none.
    """
    if wanted == "paired" and "paired" not in variants:
        raise BadSetting("this result has no paired gaps to be the headline; fit it with them.")
    if wanted == "auto":
        wanted = "paired" if rejects(departures) and "paired" in variants else "plain"
    return wanted
