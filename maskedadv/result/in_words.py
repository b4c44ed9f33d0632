"""A fitted result in plain words; every number comes from the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAP_TABLE, KNOWLEDGE
from maskedadv.words.numbers import level_text


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
    level = level_text(fit.settings.level)
    out = []
    for gap in GAP_TABLE:
        c = count(gaps, gap.name)
        out.append(
            f"{gap.name} ({gap.question.format(pivot=fit.settings.pivot)}): {c.clearly_above} of {c.known} "
            f"clearly above zero, {c.clearly_below} clearly below ({level} intervals), {c.positive} "
            "positive at all."
        )
    return out


def read_variants(
    fit: Fit, *, locale: Iterable[str] | None = None, model: Iterable[str] | None = None
) -> list[str]:
    """Whether the knowledge gap's sign and clearly positive share survive the other variants, in words.

    A variant may know fewer gaps than `plain` (cells at chance); then it is compared with `plain` over the
    gaps that both know.

    Parameters
    ----------
    locale, model
        Speak of these only; None speaks of all.
    """
    chosen = {"gap": KNOWLEDGE, "locale": locale, "model": model}
    tables = {v: fit.gaps(variant=v, **chosen) for v in fit.variants}
    plain = tables.pop("plain")
    if not tables or not plain["estimate"].notna().any():
        return []
    out = [f"plain: {_counted(plain, 'knowledge gaps ')}."]
    for name, own in tables.items():
        both = plain["estimate"].notna() & own["estimate"].notna()
        if not both.any():
            out.append(f"{name}: no knowledge gap is known under it.")
            continue
        text = f"{name}: {_counted(own)}"
        if both.sum() < plain["estimate"].notna().sum():
            text += f" (plain over the same: {_counted(plain[both])})"
        out.append(f"{text}; {_sign(plain[both], own[both])}.")
    return out


def absent_variants(fit: Fit) -> list[str]:
    """Why a result does not hold a variant that was not turned off, one sentence each."""
    s, links = fit.settings, fit.links()
    if s.variants == "none":
        return []
    out = []
    if "floor" not in fit.variants and s.response == "binary" and s.guessing == "auto":
        out.append("No floor: the items' number of options is not known (column n_options, or --options).")
    if s.link != "none" and "linked" not in fit.variants and len(links):
        reasons = dict.fromkeys(str(v) for v in links.loc[links["variant"] == "linked", "note"] if v)
        out.append(f"No linked gap: {'; '.join(reasons)}.")
    return out


def _counted(rows: pd.DataFrame, what: str = "") -> str:
    c = count(rows, KNOWLEDGE)
    return f"{c.positive} of {c.known} {what}positive, {c.clearly_above} clearly"


def _sign(plain: pd.DataFrame, own: pd.DataFrame) -> str:
    """Whether locale means over the same models keep their sign."""
    before, after = (rows.groupby("locale")["estimate"].mean() for rows in (plain, own))
    turned, n = int((before * after < 0).sum()), len(before)
    if n == 1:
        return "the mean changes sign" if turned else "the mean keeps its sign"
    if not turned:
        return "the mean keeps its sign in every locale"
    return f"the mean changes sign in {turned} of {n} locales"
