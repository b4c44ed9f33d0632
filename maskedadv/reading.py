"""A fitted result in plain words; every number comes from the result."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from maskedadv.results import Fit


@dataclass(frozen=True)
class Count:
    """How many gaps of one kind are known, positive, and clearly (by their interval) above or below zero."""

    known: int
    positive: int
    clearly_above: int
    clearly_below: int


def count(gaps: pd.DataFrame, gap: str) -> Count:
    """Count the gaps of one kind in a tidy table from `Fit.gaps`."""
    rows = gaps[(gaps["gap"] == gap) & gaps["estimate"].notna()]
    return Count(
        known=len(rows),
        positive=int((rows["estimate"] > 0).sum()),
        clearly_above=int((rows["lower"] > 0).sum()),
        clearly_below=int((rows["upper"] < 0).sum()),
    )


def read_gaps(fit: Fit) -> list[str]:
    """One sentence per gap: what it asks, and how many are clearly above or below zero."""
    gaps = fit.gaps()
    asks = {
        "global_gap": "proficiency: agnostic questions, local language against {pivot}",
        "local_gap": "local questions asked in the local language against {pivot}",
        "knowledge_gap": "access: the local gap once proficiency is taken out",
    }
    level = f"{100 * fit.settings.level:g}%"
    out = []
    for gap, text in asks.items():
        c = count(gaps, gap)
        out.append(
            f"{gap} ({text.format(pivot=fit.settings.pivot)}): {c.clearly_above} of {c.known} clearly "
            f"above zero, {c.clearly_below} clearly below ({level} intervals), {c.positive} positive at all."
        )
    return out


def read_variants(fit: Fit) -> list[str]:
    """Whether the knowledge gap's sign and clearly positive share survive the other variants, in words."""
    counts = {v: count(fit.gaps(gap="knowledge_gap", variant=v), "knowledge_gap") for v in fit.variants}
    plain = counts.pop("plain")
    if not counts or not plain.known:
        return []
    means = {v: fit.means(gap="knowledge_gap", variant=v)["estimate"] for v in fit.variants}
    out = [
        f"plain: {plain.positive} of {plain.known} knowledge gaps positive, {plain.clearly_above} clearly."
    ]
    for name, c in counts.items():
        if not c.known:
            out.append(f"{name}: no knowledge gap is known under it.")
            continue
        both = means["plain"].notna() & means[name].notna()
        turned = int((means["plain"][both] * means[name][both] < 0).sum())
        sign = (
            "the mean keeps its sign in every locale"
            if not turned
            else (f"the mean changes sign in {turned} of {int(both.sum())} locales")
        )
        out.append(f"{name}: {c.positive} of {c.known} positive, {c.clearly_above} clearly; {sign}.")
    return out
