"""The answer in words that opens the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv import summaries
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.reports.tables import Cell, Table
from maskedadv.reports.words import side, verdict
from maskedadv.result.fit_result import Fit
from maskedadv.summaries import Joint
from maskedadv.vocabulary import GAP_TABLE, GAPS, KNOWLEDGE, gap_titles
from maskedadv.words.numbers import chance, interval_text, level_text, percent, plural

HEADLINE = (
    "Every model by itself, on the items that it answered in both languages (paired): plain gaps lean on "
    "what these models share."
)
"""Stands under an answer that speaks of paired gaps."""
PLAIN = "Plain gaps, as the papers define them (the answers above speak of paired ones)."
"""Opens the captions of exhibits that stay plain beside such an answer."""

NAMES = gap_titles()
ASKS = {gap.name: gap.short for gap in GAP_TABLE}


@dataclass(frozen=True)
class Line:
    """A gap as the page writes it: name, what it asks, numbers, and which side of zero its interval is on."""

    name: str
    asks: str
    numbers: str
    chance: str
    side: str
    value: float


@dataclass(frozen=True)
class Answer:
    """A heading, a verdict in words, and the three gaps that it comes from."""

    title: str
    verdict: str
    lines: tuple[Line, ...]
    note: str
    locale: str = ""


def not_surviving(fit: Fit) -> dict[str, list[str]]:
    """By locale, the variants under which the headline's clear knowledge gap is no longer as clear."""
    if len(fit.variants) < 2:
        return {}
    means = summaries.variant_means(fit)
    means = means[(means["gap"] == KNOWLEDGE) & means["estimate"].notna()]
    out: dict[str, list[str]] = {}
    for locale, own in means.groupby("locale", sort=False):
        sides = {str(row["variant"]): side(row) for row in own.to_dict(orient="records")}
        first = sides.get(fit.headline, 0)
        lost = [name for name, other in sides.items() if first and other != first]
        if lost:
            out[str(locale)] = lost
    return out


def _but(fragile: Mapping[str, list[str]], locale: str) -> str:
    lost = fragile.get(locale)
    return f" But the difference in access is not clear as {' or '.join(lost)}." if lost else ""


def overall(joint: Joint, pivot: str, fragile: Mapping[str, list[str]]) -> Answer | None:
    """The answer over all locales; None where there is one only."""
    if len(joint.locales) == 1:
        return None
    rows = _rows(summaries.overall_means(joint))
    n_locales, n_models = (max(row[name] for row in rows.values()) for name in ("n_locales", "n_models"))
    title = f"Over {plural(n_locales, 'locale')} and {plural(n_models, 'model')}"
    note = f"Every locale counts alike, whatever its number of models.{_unlike(joint.known)}"
    return _answer(title, rows, pivot, note, _but(fragile, ALL_LOCALES))


def by_locale(
    fit: Fit, joint: Joint, facts: pd.DataFrame, pivot: str, fragile: Mapping[str, list[str]]
) -> list[Answer]:
    """An answer for every locale, in the order of the result."""
    means = {str(k): _rows(own) for k, own in summaries.locale_means(joint).groupby("locale", sort=False)}
    found = summaries.sign_shares(fit, fit.headline)
    shares = {str(k): _rows(own) for k, own in found.groupby("locale", sort=False)}
    out = []
    for k, locale in enumerate(joint.locales):
        rows = means[locale]
        own = shares[locale]["knowledge_gap"]
        n = max(int(row["n_models"]) for row in rows.values())
        note = (
            f"{plural(n, 'model')}; knowledge gap positive in {own['positive']} of "
            f"{own['known']}, clearly in {own['clearly_positive']}, clearly negative in "
            f"{own['clearly_negative']}.{_unlike(joint.known[k])}"
        )
        one = _answer(locale_name(locale, facts), rows, pivot, note, _but(fragile, locale))
        out.append(replace(one, locale=locale))
    return out


def tables(every: Sequence[Answer]) -> list[tuple[str, Table]]:
    """Answers of many locales: how many have which verdict, and the verdict of each."""
    counts = Counter(a.verdict for a in every)
    counted = tuple((Cell(text), Cell(f"{n:,}", float(n))) for text, n in counts.most_common())
    gaps = [line.name for line in every[0].lines]
    rows = tuple(
        (
            Cell(a.locale),
            Cell(a.title),
            *(Cell(line.numbers, line.value) for line in a.lines),
            Cell(a.verdict),
        )
        for a in every
    )
    return [
        ("how many locales have which verdict", Table(("verdict", "locales"), (False, True), counted)),
        (
            "the verdict of every locale",
            Table(("locale", "name", *gaps, "verdict"), (False, False, *(True for _ in gaps), False), rows),
        ),
    ]


def _unlike(known: NDArray[np.bool_]) -> str:
    """A warning where the three means are not over the same cells, and so do not add up."""
    counts = known.reshape(-1, len(GAPS)).sum(axis=0)
    if len(set(counts)) == 1:
        return ""
    listed = ", ".join(f"{NAMES[gap]} {n}" for gap, n in zip(NAMES, counts, strict=True))
    return f" The three gaps are not known for the same cells ({listed}), so their means need not add up."


def share_sentence(fit: Fit) -> str:
    """How many of all cells are positive, and within what bounds the true share lies; '' for one cell."""
    rows = summaries.sign_shares(fit, fit.headline).tail(len(GAPS)).to_dict(orient="records")
    last = next(r for r in rows if r["gap"] == KNOWLEDGE)
    if last["known"] < 2:
        return ""
    parts = [
        f"{NAMES[str(r['gap'])]} in {r['positive']} of {r['known']} ({percent(r['share_positive'])}), "
        f"clearly in {r['clearly_positive']} and clearly negative in {r['clearly_negative']}"
        for r in rows
    ]
    level = level_text(fit.settings.level)
    return (
        f"Positive gaps over all models and locales: {'; '.join(parts)}. With {level} confidence for all "
        f"cells at once, the true share of positive knowledge gaps lies between "
        f"{percent(last['share_lower'])} and "
        f"{percent(last['share_upper'])}."
    )


def locale_name(code: str, facts: pd.DataFrame) -> str:
    """`Chinese (zh)`, or the code alone where no name is known."""
    name = str(facts["name"].get(code, code))
    return code if name == code else f"{name} ({code})"


def _rows(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {str(r["gap"]): {str(k): v for k, v in r.items()} for r in frame.to_dict(orient="records")}


def _answer(title: str, rows: Mapping[str, Mapping[str, Any]], pivot: str, note: str, but: str) -> Answer:
    lines = tuple(
        Line(
            NAMES[gap],
            ASKS[gap],
            interval_text(rows[gap]),
            chance(rows[gap]["p_positive"]),
            {1: "above", -1: "below", 0: ""}[side(rows[gap])],
            float(rows[gap]["estimate"]),
        )
        for gap in ("local_gap", *(g for g in GAPS if g != "local_gap"))
    )
    words = verdict(rows["global_gap"], rows["local_gap"], rows["knowledge_gap"], pivot)
    return Answer(title, words + but, lines, note)
