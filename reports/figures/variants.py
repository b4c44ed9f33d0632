"""The knowledge gap under every variant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from maskedadv import summaries
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import ends, many, of_the_ends
from maskedadv.reports.figures.forests import forest
from maskedadv.reports.words import side
from maskedadv.vocabulary import BASE_TABLE, KNOWLEDGE, TRANSFORMATION_TABLE, variant_meaning
from maskedadv.words.numbers import interval_text


def make_variants(s: Source, title: str) -> list[Exhibit]:
    """Mean knowledge gaps under every variant, and whether they stay on their side of zero."""
    if len(s.fit.variants) < 2:
        return []
    means, shares = summaries.variant_means(s.fit), summaries.variant_shares(s.fit)
    shown = means[means["gap"] == "knowledge_gap"]
    text = caption(means, shares)
    if many(shown, "locale"):
        single = shown[shown["locale"] != ALL_LOCALES]
        text += f" {of_the_ends('locales', single['locale'].nunique(), 'variant-means')}"
        order = [ALL_LOCALES, *ends(single[single["variant"] == s.fit.headline], "locale")]
        shown = shown[shown["locale"].isin(order)]
    else:
        order = [*dict.fromkeys(shown["locale"])][::-1]
    figure = forest(shown, "locale", order=order, axis="mean knowledge gap (logit)", families=s.families)
    tables = {"variant-means": means, "variant-shares": shares}
    if len(links := s.fit.links()):
        tables["links"] = links
    return [Exhibit("variants", title, text, text, figure, tables)]


def caption(means: pd.DataFrame, shares: pd.DataFrame) -> str:
    """The mean knowledge gap under every variant, and whether it stays on its side of zero."""
    own = means[means["gap"] == KNOWLEDGE].groupby("variant", sort=False).tail(1)
    rows = {str(row["variant"]): row for row in own.to_dict(orient="records")}
    counts = {str(row["variant"]): row for row in shares.to_dict(orient="records") if row["gap"] == KNOWLEDGE}
    words = [
        f"{name} {interval_text({str(k): v for k, v in row.items()})}, positive in "
        f"{counts[name]['positive']} of {counts[name]['known']} cells, clearly in "
        f"{counts[name]['clearly_positive']}"
        for name, row in rows.items()
    ]
    known = {name: row for name, row in rows.items() if np.isfinite(row["estimate"])}
    sides = {name: side({str(k): v for k, v in row.items()}) for name, row in known.items()}
    meanings = ", ".join(map(variant_meaning, rows))
    judged = f" {survival(sides)}" if "plain" in sides and len(sides) > 1 else ""
    if "plain" in sides and (unknown := [name for name in rows if name not in sides]):
        judged += f" Nothing is known as {' or '.join(unknown)}."
    return f"The knowledge gap {meanings}. {'; '.join(words)}.{judged}"


def survival(sides: Mapping[str, int]) -> str:
    plain = sides["plain"]
    causes = {a.name: a.cause for a in (*BASE_TABLE, *TRANSFORMATION_TABLE) if a.cause}
    others = {name: s for name, s in sides.items() if name != "plain"}
    if plain == 0:
        clear = [name for name, s in others.items() if s]
        return (
            f"It is not clearly off zero as plain, but as {', '.join(clear)}."
            if clear
            else ("It is not clearly off zero under any of them.")
        )
    lost = [name for name, s in others.items() if s != plain]
    where = "above" if plain > 0 else "below"
    if not lost:
        return f"It stays clearly {where} zero under all of them."
    single = [name for name in lost if name in causes]
    parts = dict.fromkeys(part for name in lost for part in name.split("+"))
    together = f"{' and '.join(causes[part] for part in parts)} together"
    cause = " or ".join(causes[n] for n in single) or together
    return f"It is clearly {where} zero as plain, but not as {', '.join(lost)}: it may come from {cause}."
