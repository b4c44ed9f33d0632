"""Means of the gaps: of a locale over its models, of a model over its locales, of everything."""

from __future__ import annotations

import numpy as np
import pandas as pd

from maskedadv.gaps.joint import ALL_LOCALES, Joint
from maskedadv.result.cube import NUMBERS
from maskedadv.result.fit_result import Fit


def locale_means(fit: Fit | Joint) -> pd.DataFrame:
    """Mean of each gap over the models of a locale (the numbers of `Fit.means`).

    Returns
    -------
    DataFrame: locale, n_models, gap, estimate, sd, lower, upper, p_positive (logits, probability).
    """
    joint = Joint.of(fit)
    counts = joint.known.sum(axis=1)
    return joint.locale_means().frame({"locale": joint.locales, "n_models": counts})


def model_means(fit: Fit | Joint) -> pd.DataFrame:
    """Mean of each gap of a model over the locales that it has data in.

    Returns
    -------
    DataFrame: model, n_locales, gap, estimate, sd, lower, upper, p_positive.
    """
    joint = Joint.of(fit)
    n, m = len(joint.locales), len(joint.models)
    members = np.broadcast_to(np.eye(m, dtype=bool)[:, None, :], (m, n, m))
    counts = joint.known.sum(axis=0)
    return joint.contrast(joint.average(members)).frame({"model": joint.models, "n_locales": counts})


def overall_means(fit: Fit | Joint) -> pd.DataFrame:
    """Mean of each gap over the locale means, every locale counting alike.

    Returns
    -------
    DataFrame of three rows: n_locales, n_models, gap, estimate, sd, lower, upper, p_positive.
    """
    joint = Joint.of(fit)
    everything = np.ones((1, len(joint.locales), len(joint.models)), dtype=bool)
    known = joint.known
    labels = {
        "n_locales": known.any(axis=1).sum(axis=0)[None],
        "n_models": known.any(axis=0).sum(axis=0)[None],
    }
    return joint.contrast(joint.average(everything)).frame(labels)


def variant_means(fit: Fit) -> pd.DataFrame:
    """Locale means, and the mean over them where there are several, under every variant of the gaps.

    Returns
    -------
    DataFrame: variant, locale ("(all locales)" for the mean), gap, estimate, sd, lower, upper, p_positive.
    """
    parts = []
    for name in fit.variants:
        joint = Joint.of(fit, name)
        rows = [locale_means(joint)]
        if len(joint.locales) > 1:
            rows.append(overall_means(joint).assign(locale=ALL_LOCALES))
        table = pd.concat(rows, ignore_index=True).assign(variant=name)
        parts.append(table[["variant", "locale", "gap", *NUMBERS]])
    return pd.concat(parts, ignore_index=True)
