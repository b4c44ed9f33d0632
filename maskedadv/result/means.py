"""Means over models as tables: over these models, by family, and over models like these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.gaps.clustered import clustered_mean
from maskedadv.gaps.families import families_of
from maskedadv.gaps.joint import Joint
from maskedadv.gaps.population import populations
from maskedadv.linear_algebra import one_thread
from maskedadv.models_table import family_column
from maskedadv.result.cube import NUMBERS
from maskedadv.result.fit_result import Fit
from maskedadv.result.tables import COLUMNS, chosen_ids
from maskedadv.vocabulary import BY_FAMILY, CONTRASTS, GAPS, MEAN, VARIANTS
from maskedadv.words.numbers import plural

Some = str | Iterable[str] | None
Table = str | Path | pd.DataFrame | None


def mean_table(fit: Fit, locale: Some, model: Some, gap: Some, variant: str, models: Table) -> pd.DataFrame:
    """See `Fit.means`."""
    own = _chosen(fit, locale, model, variant)
    kinds = chosen_ids("gap", gap, list(GAPS))
    paired = fit.cube["n_paired"].sel(locale=list(own.locales)).values
    mean, gaps_known = own.locale_means(), own.known
    families = None if models is None else _families(fit, models, own.models)[0]
    rows: list[dict[str, Any]] = []
    for k, place in enumerate(own.locales):
        clustered = []
        for g in map(GAPS.index, kinds):
            known = gaps_known[k, :, g]
            labels = {
                "locale": place,
                "gap": GAPS[g],
                "n_items_ca": int(paired[k, known, 0].max(initial=0)),
                "n_items_cs": int(paired[k, known, 1].max(initial=0)),
            }
            numbers = {name: getattr(mean, name)[k, g] for name in NUMBERS}
            rows.append(labels | numbers | {"model": MEAN, "note": plural(int(known.sum()), "model")})
            found = None if families is None else clustered_mean(own, k, g, families)
            if found is not None:
                numbers |= dict(zip(NUMBERS[1:], found, strict=False))
                clustered.append(labels | numbers | {"model": BY_FAMILY, "note": f"{found[-1]} families"})
        rows += clustered
    return pd.DataFrame(rows, columns=list(COLUMNS))


@one_thread
def population_table(
    fit: Fit, models: Table, locale: Some, model: Some, gap: Some, variant: str
) -> pd.DataFrame:
    """See `Fit.populations`."""
    own = _chosen(fit, locale, model, variant)
    kinds = chosen_ids("gap", gap, list(GAPS))
    families, told = _families(fit, models, own.models)
    frame = populations(
        own, families, centres=_centres(fit, variant) if model is None else None, seed=fit.settings.seed
    )
    frame = frame[frame["gap"].isin(kinds)].reset_index(drop=True)
    counted = {f for f, some in zip(families, np.atleast_1d(own.some.any(axis=0)), strict=True) if some}
    frame.attrs = {"families": told, "n_families": len(counted)}
    return frame


def _chosen(fit: Fit, locale: Some, model: Some, variant: str) -> Joint:
    chosen_ids("variant", variant, fit.variants)
    joint = Joint.of(fit, variant)
    locales = chosen_ids("locale", locale, list(joint.locales))
    return joint.only(locales, chosen_ids("model", model, list(joint.models)))


def _families(fit: Fit, models: Table, names: Sequence[str]) -> tuple[list[str], str]:
    """What counts as the family of every model, and how it was told."""
    family = None if models is None else family_column(models)
    groups = () if fit.info.relatives is None else fit.info.relatives.groups
    return families_of(names, family, groups)


def _centres(fit: Fit, variant: str) -> dict[str, Any] | None:
    """Draws of the programs' mean gaps over the population of models, by locale; None without such."""
    base, transformation = VARIANTS[variant]
    if transformation or base not in fit.posteriors:
        return None
    return {
        locale: posterior.variable("facet_mean").values.reshape(-1, 4) @ CONTRASTS.T
        for locale, posterior in fit.posteriors[base].items()
    }
