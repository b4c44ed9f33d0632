"""A fitted result in plain words; every number comes from the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.errors import BadSetting
from maskedadv.gaps.joint import ALL_LOCALES, Joint
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAP_TABLE, KNOWLEDGE
from maskedadv.words.numbers import level_text, number


@dataclass(frozen=True)
class Count:
    """How many gaps of one kind are known, positive, and clearly (by their interval) above or below zero."""

    known: int
    positive: int
    clearly_above: int
    clearly_below: int


def count(gaps: pd.DataFrame, gap: str) -> Count:
    """Count the gaps of one kind in a tidy table from `Fit.gaps`."""
    rows = gaps[(gaps["gap"] == gap) & np.isfinite(gaps["estimate"])]
    return Count(
        known=len(rows),
        positive=int((rows["estimate"] > 0).sum()),
        clearly_above=int((rows["lower"] > 0).sum()),
        clearly_below=int((rows["upper"] < 0).sum()),
    )


def read_gaps(fit: Fit) -> list[str]:
    """One sentence per gap: what it asks, and how many are clearly above or below zero; of the headline."""
    gaps = fit.gaps(variant=fit.headline)
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
    """Whether the mean knowledge gap's interval excludes zero under every variant, and what that takes.

    A variant may know fewer gaps than `plain` (cells at chance); then the plain mean over the gaps that both
    know stands beside it.

    Parameters
    ----------
    locale, model
        Speak of these only; None speaks of all.
    """
    chosen = {"gap": KNOWLEDGE, "locale": locale, "model": model}
    tables = {v: fit.gaps(variant=v, **chosen) for v in fit.variants}
    if len(tables) < 2 or not tables["plain"]["estimate"].notna().any():
        return []
    plain = tables["plain"]
    out = []
    for name, own in tables.items():
        finite = np.isfinite(own["estimate"])
        if not finite.any():
            out.append(f"{name}: no knowledge gap is known under it.")
            continue
        text = f"{name}: {_mean_in_words(fit, name, chosen)}; {_counted(own)}"
        both = np.isfinite(plain["estimate"]) & finite
        if both.sum() < np.isfinite(plain["estimate"]).sum():
            text += f" (plain over the same: {_counted(plain[both])})"
        out.append(f"{text}.")
    return [*out, *_other_end(fit, chosen), believe(fit.variants)]


def _other_end(fit: Fit, chosen: Mapping[str, Any]) -> list[str]:
    """What becomes of the gaps where missing answers are treated the other way."""
    if fit.other is None:
        return []
    how = "left out" if fit.settings.missing == "wrong" else "counted wrong"
    parts = []
    for name in fit.variants:
        if name not in fit.other.variants:
            continue
        try:
            ours, theirs = (end.gaps(**chosen, variant=name) for end in (fit, fit.other))
        except BadSetting:  # a model that is known at one end only
            continue
        both = ours.merge(theirs, on=["locale", "model", "gap"], suffixes=("", "_other"))
        both = both[np.isfinite(both["estimate"]) & np.isfinite(both["estimate_other"])]
        signs = int((np.sign(both["estimate"]) != np.sign(both["estimate_other"])).sum())
        sides = [
            (both[f"lower{s}"] > 0).astype(int) - (both[f"upper{s}"] < 0).astype(int) for s in ("", "_other")
        ]
        clear = int((sides[0] != sides[1]).sum())
        parts.append(
            f"{name}: {_mean_in_words(fit.other, name, chosen)}; of {len(both)} gaps {signs} change their "
            f"sign and {clear} whether they are clear"
        )
    return [f"With missing answers {how}, {'. '.join(parts)}."] if parts else []


def believe(variants: Iterable[str]) -> str:
    """What one has to believe to take a knowledge gap for access, under each of the variants."""
    takes = {
        "plain": "plain, that nobody guesses, that CS and CA items measure on one scale, that models are no "
        "relatives and know single items no better on CS than on CA, and that answers are missing at random",
        "floor": "floor drops guessing",
        "linked": "linked drops the one scale for equal spreads in the pivot language",
        "paired": "paired drops all about relatives and single items, and what is missing because it is hard",
    }
    here = {part for name in variants for part in name.split("+")}
    told = "; ".join(text for name, text in takes.items() if name in here)
    return f"To take such a gap for access one has to believe: {told}."


def _mean_in_words(fit: Fit, variant: str, chosen: Mapping[str, Any]) -> str:
    """Whether the interval of the mean, and of every locale's, excludes zero."""
    means = fit.means(variant=variant, **chosen)
    sides = [int(r["lower"] > 0) - int(r["upper"] < 0) for r in means.to_dict(orient="records")]
    known = int(np.isfinite(means["estimate"]).sum())
    if known == 1:
        row = means[np.isfinite(means["estimate"])].iloc[0]
        return f"the mean {_clear(row)}"
    models = chosen["model"]
    row = locale_mean(fit, variant, list(means["locale"]), models and _listed(models, ()))
    assert row is not None
    return (
        f"the mean over {known} locales {_clear(row)}, {sides.count(1)} of their means clearly above zero, "
        f"{sides.count(-1)} below"
    )


def locale_mean(
    fit: Fit,
    variant: str,
    locales: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    gap: str = KNOWLEDGE,
) -> dict[str, Any] | None:
    """The mean gap over locales and models with its interval, from their joint uncertainty.

    Returns
    -------
    A row as of `Fit.means`; None where no gap is known.
    """
    joint = Joint.of(fit, variant)
    members = np.isin(joint.locales, joint.locales if locales is None else list(locales))[None, :, None]
    own = np.isin(joint.models, joint.models if models is None else list(models))[None, None, :]
    whole = joint.contrast(joint.average(members & own)).frame({"locale": [ALL_LOCALES]})
    row = {str(k): v for k, v in whole[whole["gap"] == gap].iloc[0].items()}
    return row if np.isfinite(row["estimate"]) else None


def _clear(row: Mapping[str, Any] | pd.Series) -> str:
    where = "is clearly above zero" if row["lower"] > 0 else "is clearly below zero"
    if not (row["lower"] > 0 or row["upper"] < 0):
        where = "is not clear of zero" if np.isfinite(row["sd"]) else "has no interval"
    bounds = f" [{number(row['lower'])}, {number(row['upper'])}]" if np.isfinite(row["lower"]) else ""
    return f"{where} ({number(row['estimate'])}{bounds})"


def _listed(wanted: Iterable[str] | None, have: tuple[str, ...]) -> list[str]:
    if wanted is None:
        return list(have)
    return [wanted] if isinstance(wanted, str) else list(wanted)


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


def _counted(rows: pd.DataFrame) -> str:
    c = count(rows, KNOWLEDGE)
    return f"of {c.known} gaps {c.clearly_above} clearly above, {c.clearly_below} clearly below"
