"""The mean gaps of one specification under its variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from maskedadv.design.prepare import Design, open_table, prepare_locales
from maskedadv.engines import choose_engine
from maskedadv.errors import MaskedadvError, NotConverged
from maskedadv.gaps.assemble import assemble
from maskedadv.gaps.bases import Based, Run, make_bases
from maskedadv.gaps.joint import ALL_LOCALES, Joint
from maskedadv.gaps.subset_gaps import LocaleGaps, from_estimates
from maskedadv.gaps.variants import make_variants
from maskedadv.linear_algebra import one_thread
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.marginal_result import not_estimated
from maskedadv.maximum_likelihood.two_parameter import fit_two_parameter
from maskedadv.sensitivity.specifications import TWO_PARAMETER, Specification
from maskedadv.settings import Settings
from maskedadv.summaries.means import locale_means, overall_means

NUMBERS = ("estimate", "sd", "lower", "upper", "p_positive")


@one_thread
def estimate(spec: Specification) -> list[dict[str, Any]]:
    """A row for every variant, locale (and all of them) and gap; one row with a note if there is none."""
    try:
        opened = open_table(spec.responses, spec.settings)
        design = prepare_locales(opened, opened.locales)
        joints = _joints(spec, design)
    except MaskedadvError as error:
        return [_row(spec, note=str(error))]
    rows = []
    for variant, joint in joints.items():
        tables = [locale_means(joint)]
        if len(joint.locales) > 1:
            whole = overall_means(joint).drop(columns="n_locales")
            tables.append(whole.assign(locale=ALL_LOCALES))
        for r in pd.concat(tables, ignore_index=True).to_dict(orient="records"):
            numbers = {name: float(r[name]) for name in NUMBERS}
            rows.append(
                _row(spec, variant, str(r["locale"]), str(r["gap"]), n_models=int(r["n_models"]), **numbers)
            )
    return rows or [_row(spec, note="nothing can be estimated")]


def _row(
    spec: Specification, variant: str = "", locale: str = "", gap: str = "", **more: Any
) -> dict[str, Any]:
    nothing: dict[str, Any] = dict.fromkeys(NUMBERS, float("nan")) | {"n_models": 0, "note": ""}
    labels = {"kind": spec.kind, "name": spec.name, "variant": variant, "locale": locale, "gap": gap}
    return labels | nothing | more


def _joints(spec: Specification, design: Design) -> dict[str, Joint]:
    """The gaps under every variant."""
    settings = spec.settings
    if spec.bases is not None and TWO_PARAMETER in spec.bases:
        with_floor = "floor" in spec.bases
        if with_floor and not design.has_floor:
            return {}
        return {"floor" if with_floor else "plain": _two_parameter(design, settings, with_floor=with_floor)}
    run = Run(design, settings, choose_engine(settings.engine), bases=spec.bases)
    bases = make_bases(run)
    found = make_variants(run, bases)
    return {
        variant: Joint(
            locales=tuple(design.locales),
            models=tuple(str(m) for m in design.models),
            estimate=np.stack([parts[k].estimate for k in design.locales]),
            uncertainty=tuple(found.uncertainty[variant][k] for k in design.locales),
            level=settings.level,
        )
        for variant, parts in found.gaps.items()
    }


def _two_parameter(design: Design, settings: Settings, *, with_floor: bool) -> Joint:
    fitted = []
    for block in design.blocks:
        try:
            own = fit_two_parameter(
                block.answers, block.chance if with_floor else None, interval=settings.interval
            )
        except (NotConverged, np.linalg.LinAlgError) as error:
            own = not_estimated(block.answers, str(error))
        fitted.append(Fitted(block, own))
    based = Based(from_estimates(design, settings.interval, tuple(fitted)))
    return _joint(design, settings, based)


def _joint(design: Design, settings: Settings, based: Based) -> Joint:
    parts = []
    for locale in design.locales:
        own: LocaleGaps = based.gaps[locale]
        parts.append(assemble(design, settings, locale, own))
    return Joint(
        locales=tuple(design.locales),
        models=tuple(str(m) for m in design.models),
        estimate=np.stack([part.estimate for part, _ in parts]),
        uncertainty=tuple(spread for _, spread in parts),
        level=settings.level,
    )
