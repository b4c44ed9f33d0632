"""Models and locales like these: the means of populations of which those of the result are a sample."""

from __future__ import annotations

import pandas as pd

from maskedadv.errors import NothingToDraw
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.gaps.population import FEWEST
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import ends, many, of_the_ends, rows_in_words
from maskedadv.reports.figures.forests import forest
from maskedadv.vocabulary import NEW_LOCALE
from maskedadv.words.numbers import level_text, plural


def make_populations(s: Source, title: str) -> list[Exhibit]:
    """Means over models like these, of the headline's gaps and the plain ones."""
    if s.joint.some.any(axis=0).sum() < FEWEST:
        return []
    parts = []
    families = s.models if s.models is not None and "family" in s.models else None
    for variant in dict.fromkeys((s.fit.headline, "plain")):
        frame = s.fit.populations(families, variant=variant)
        told, n = frame.attrs["families"], frame.attrs["n_families"]
        parts.append(frame.assign(variant=variant))
    if not any(len(part) for part in parts):
        raise NothingToDraw(
            f"it needs {FEWEST} families of models, here are {n} ({told}); a column family of models.csv "
            "(--models) says which models are of one."
        )
    table = pd.concat(parts, ignore_index=True)
    first = ["variant", "locale", "n_families", "n_models", "gap"]
    table = table[first + [c for c in table if c not in (*first, "model", "note")]]
    order = [k for k in dict.fromkeys(table["locale"]) if k not in (ALL_LOCALES, NEW_LOCALE)]
    order = [k for k in (NEW_LOCALE, ALL_LOCALES) if k in set(table["locale"])] + order[::-1]
    own = table[table["variant"] == s.fit.headline]
    alt, shown, left = rows_in_words(own, "locale"), table, ""
    if many(table, "locale"):
        together = [k for k in (NEW_LOCALE, ALL_LOCALES) if k in order]
        single = own[~own["locale"].isin(together)]
        order = together + ends(single, "locale")
        shown = table[table["locale"].isin(order)]
        left = f" {of_the_ends('locales', single['locale'].nunique(), 'population-means')}"
    figure = forest(
        shown, "locale", order=order, axis="mean gap of models like these (logit)", families=s.families
    )
    caption = (
        f"These models taken for a sample: mean gaps of models like these ({level_text(s.joint.level)} "
        f"intervals), resting on {plural(n, 'family', 'families')} ({told}). Families, models in them, "
        "locales and cells are random effects on the gaps, whose estimates have a known covariance."
    )
    if NEW_LOCALE in set(table["locale"]):
        caption += (
            f" {ALL_LOCALES} takes the locales for a sample, too; {NEW_LOCALE} is the mean gap of such "
            "models in a locale that is not among these."
        )
    return [Exhibit("populations", title, caption + left, alt, figure, {"population-means": table})]
