"""The evidence class of a pairing: robust, marginal or null, by one stated rule.

The rule is applied to the plain numbers and to those corrected for measurement error; the weaker counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Literal

EvidenceClass = Literal["robust", "marginal", "null", "undetermined"]


def classify(
    p_f: float, beta_lower: float, passed: int, refits: int, alpha: float = 0.05, *, unknown: int = 0
) -> EvidenceClass:
    """Class of a pairing from its nested F test, the interval of beta and the family refits.

    *null* where p_F >= alpha; *robust* where p_F < alpha and the interval of beta lies above 0 and every
    refit without one family passes; *marginal* otherwise. The interval of dR2 is never used as a test,
    because an in-sample dR2 cannot be negative.

    Parameters
    ----------
    p_f
        p of the nested F test.
    beta_lower
        Lower limit of the bootstrap interval of the proxy's coefficient; NaN if it has none.
    passed, refits
        Leave-one-family-out refits that pass, and how many there are (0: there is but one family).
    alpha
        Level of the F test.
    unknown
        Refits that cannot be estimated; they neither pass nor fail.

    Returns
    -------
    str
        "undetermined" where the rule needs a number that could not be had: no p, or a p below alpha
        without an interval, a family to leave out or some refit, unless what there is rules out "robust".
    """
    if math.isnan(p_f):
        return "undetermined"
    if p_f >= alpha:
        return "null"
    if passed + unknown < refits or beta_lower <= 0:
        return "marginal"
    if refits == 0 or unknown or math.isnan(beta_lower):
        return "undetermined"
    return "robust"


_ORDER: tuple[EvidenceClass, ...] = ("null", "marginal", "robust")


def conclude(found: Sequence[tuple[EvidenceClass, float]]) -> EvidenceClass:
    """The weakest of several classes, each with the p that it rests on.

    "undetermined" may be any class, or marginal or robust where its p is there (then p is below alpha);
    the conclusion is undetermined only if what it may be makes a difference.
    """
    possible = [
        (name,) if name != "undetermined" else _ORDER if math.isnan(p) else _ORDER[1:] for name, p in found
    ]
    outcomes = {min(classes, key=_ORDER.index) for classes in product(*possible)}
    return outcomes.pop() if len(outcomes) == 1 else "undetermined"
