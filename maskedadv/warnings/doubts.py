"""What puts the plain gaps themselves in doubt."""

from __future__ import annotations

import numpy as np

from maskedadv.warnings.kinds import Facts, kind
from maskedadv.words.lists import and_more
from maskedadv.words.numbers import p_value

UNEVEN = 0.02
"""Difference of the shares of missing answers in the two languages from which it is told, if it is clear."""


@kind("not converged")
def _not_converged(f: Facts) -> str | None:
    bad = [b.block.name for b in f.fitted if not b.estimate.converged]
    return (
        f"not converged: {and_more(bad)}; the gradient is not zero, do not use these numbers."
        if bad
        else None
    )


@kind("plain and paired differ")
def _departure(f: Facts) -> str | None:
    from maskedadv.gaps.departure import rejects

    if not rejects(f.departures):
        return None
    worst = max(f.departures[:-1], key=lambda d: abs(d.statistic or 0.0))
    means = f"no model has a finite {_plain_name(worst.gap)} in {worst.locale} under both"
    if worst.plain is not None and worst.paired is not None:
        means = (
            f"the mean {_plain_name(worst.gap)} in {worst.locale} is {worst.plain:.2f} plain and "
            f"{worst.paired:.2f} paired"
        )
    shown = "paired" in f.cube["variant"].values
    p = p_value(f.departures[-1].p or 0.0)
    inflated = ", or are inflated by joint estimation from few cells an item" if f.joint_of_few else ""
    return (
        "plain gaps lean on what models share beyond ability, or know of single items"
        f"{inflated} (Hausman's test against each model by itself: p {p}): {means}"
        + ("; take the paired gaps." if shown else "; fit with variants to have the paired gaps.")
    )


@kind("relatives")
def _relatives(f: Facts) -> str | None:
    if f.relatives is None or not f.relatives.groups:
        return None
    told = []
    for group in f.relatives.groups:
        low, high = f.relatives.within(group)
        ends = dict.fromkeys(f"{v:.2f}" for v in (low, high))
        reach = " to ".join(ends)
        names = f"{', '.join(group[:-1])} and {group[-1]}" if len(group) <= 8 else and_more(group, 7)
        told.append(f"{names} (residual correlation {reach})")
    return (
        f"models answer alike beyond ability and difficulty: {and_more(told, 3)}; plain gaps and means over "
        "models take them for independent."
    )


@kind("uneven missing answers")
def _uneven_missing(f: Facts) -> str | None:
    """Answers that are missing more often in one language than in the other, by more than chance."""
    found: list[tuple[float, str]] = []
    for locale in f.design.locales:
        for block in f.design.of_locale(locale).values():
            seen = [~np.isnan(v) for v in block.in_both(locale, f.design.models, f.design.cells[locale].keep)]
            only = [(one & ~other).sum(axis=1) for one, other in (seen, seen[::-1])]
            there = seen[0].any(axis=1) & seen[1].any(axis=1)
            share = (only[1] - only[0]) / len(block.item)
            clear = np.abs(only[0] - only[1]) > 3 * np.sqrt(only[0] + only[1])
            for j in np.flatnonzero(there & clear & (np.abs(share) > UNEVEN)):
                language = locale if share[j] > 0 else f.design.pivot
                text = (
                    f"{f.design.models[j]} {block.name} ({100 * abs(share[j]):.0f} points more in {language})"
                )
                found.append((-abs(float(share[j])), text))
    if not found:
        return None
    return (
        f"answers are missing unevenly between the languages in {len(found)} cells: "
        f"{and_more([text for _, text in sorted(found)], 3)}; if they are missing because they are hard, "
        "plain gaps are off, while paired ones use only items answered in both."
    )


def _plain_name(gap: str) -> str:
    return gap.replace("_", " ")
