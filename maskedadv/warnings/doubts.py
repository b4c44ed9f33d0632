"""What puts the plain gaps themselves in doubt."""

from __future__ import annotations

import numpy as np

from maskedadv.gaps.headline import rejects
from maskedadv.warnings.kinds import Facts, kind
from maskedadv.words.lists import and_more
from maskedadv.words.numbers import p_value


@kind("not converged")
def _not_converged(f: Facts) -> str | None:
    bad = [b.name for b in f.plain if not b.converged]
    return (
        f"not converged: {and_more(bad)}; the gradient is not zero, do not use these numbers."
        if bad
        else None
    )


@kind("plain and paired differ")
def _departure(f: Facts) -> str | None:
    if not rejects(f.departures):
        return None
    worst = max(f.departures[:-1], key=lambda d: abs(d.statistic or 0.0))
    means = f"no model has a finite {_plain_name(worst.gap)} in {worst.locale} under both"
    if worst.plain is not None and worst.paired is not None:
        means = (
            f"the mean {_plain_name(worst.gap)} in {worst.locale} is {worst.plain:.2f} plain and "
            f"{worst.paired:.2f} paired"
        )
        kept = int(f.design.cells[worst.locale].keep.sum())
        if worst.n_models < kept:
            means += f" (over the {worst.n_models} of {kept} models whose gap is finite under both)"
    shown = "paired" in f.cube["variant"].values
    finite = shown and bool(np.isfinite(f.cube["estimate"].sel(variant="paired").values).any())
    p = p_value(f.departures[-1].p or 0.0)
    inflated = ", or are inflated by joint estimation from few cells an item" if f.joint_of_few else ""
    return (
        "plain gaps lean on what models share beyond ability, or know of single items"
        f"{inflated} (Hausman's test against each model by itself: p {p}): {means}"
        + (
            "; take the paired gaps."
            if finite
            else "; the paired gaps are infinite: their notes give exact bounds."
            if shown
            else "; fit with variants to have the paired gaps."
        )
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
    found = f.uneven
    if not found:
        return None
    both = "; counted wrong: maskedadv gaps --missing wrong" if f.otherwise else ""
    cells = [f"{c.model} {c.block} ({c.points:.0f} points more in {c.language})" for c in found]
    return (
        f"answers are missing unevenly between the languages in {len(found)} cells: {and_more(cells, 3)}; if "
        "they are missing because items are hard, plain gaps are off, while paired ones use only items "
        f"answered in both; if because they would be wrong, both are off{both}."
    )


def _plain_name(gap: str) -> str:
    return gap.replace("_", " ")
