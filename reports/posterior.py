"""What a posterior says of itself: verdicts, convergence and predictive checks as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.diagnostics import LocaleVerdict
from maskedadv.diagnostics.verdict import BFMI_LOOK, ESS_LOOK, RHAT_LOOK
from maskedadv.result.draws import Posterior
from maskedadv.result.fit_result import Fit


def posterior_tables(fit: Fit, found: Sequence[LocaleVerdict]) -> dict[str, pd.DataFrame]:
    """The tables that the exhibits "predictive-checks" and "diagnostics" are drawn from; none without "
    "draws."""
    if not found:
        return {}
    return {
        "predictive-checks": item_totals(fit.posteriors["plain"], fit.settings.level),
        "diagnostics": convergence(found),
    }


def convergence(found: Sequence[LocaleVerdict]) -> pd.DataFrame:
    """Worst values over the gaps of each posterior: locale, variant, measure, value, threshold, passed."""
    rows: list[dict[str, Any]] = []
    for v in found:
        m = v.measures
        for name, value, bound, passed in (
            ("R-hat", m.rhat_gaps, RHAT_LOOK, m.rhat_gaps <= RHAT_LOOK),
            ("bulk ESS", m.ess_bulk_gaps, ESS_LOOK, m.ess_bulk_gaps >= ESS_LOOK),
            ("tail ESS", m.ess_tail_gaps, ESS_LOOK, m.ess_tail_gaps >= ESS_LOOK),
            ("E-BFMI", m.bfmi, BFMI_LOOK, m.bfmi >= BFMI_LOOK),
            ("divergences", float(m.divergences), np.nan, m.divergences == 0),
        ):
            rows.append(
                {
                    "locale": v.locale,
                    "variant": v.variant,
                    "measure": name,
                    "value": value,
                    "threshold": bound,
                    "passed": passed,
                }
            )
    return pd.DataFrame(rows)


def item_totals(posteriors: Mapping[str, Posterior], level: float) -> pd.DataFrame:
    """Spread of the items' totals beside its replicates: locale, statistic, observed, lower, upper.

    The standard deviation over items of the number of right answers; items that differ more than the model
    can describe put the observed one above its replicates.
    """
    tail = (1 - level) / 2
    rows: list[dict[str, Any]] = []
    for locale, posterior in posteriors.items():
        tree = posterior.tree()
        observed = tree["observed_data"].to_dataset()["item_total"]
        drawn = tree["posterior_predictive"].to_dataset()["item_total"].transpose("chain", "draw", "item")
        replicated = drawn.values.reshape(-1, observed.sizes["item"])
        subset = observed["item_subset"].values
        for name in dict.fromkeys(str(s) for s in subset):
            own = subset == name
            if own.sum() < 2:
                continue
            spread = replicated[:, own].std(axis=1, ddof=1)
            lower, upper = np.quantile(spread, [tail, 1 - tail])
            rows.append(
                {
                    "locale": locale,
                    "statistic": f"sd of item totals, {name}",
                    "observed": float(observed.values[own].std(ddof=1)),
                    "lower": float(lower),
                    "upper": float(upper),
                }
            )
    return pd.DataFrame(rows, columns=["locale", "statistic", "observed", "lower", "upper"])
