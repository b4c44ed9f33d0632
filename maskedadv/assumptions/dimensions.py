"""One dimension, or one for CA and one for CS? Told within a language, where the models are the same.

In one language, do the models that are able on culture-agnostic questions stand as far above the others on
culture-specific ones? Across languages the same question is the knowledge gap itself and no matter of fit.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.assumptions.block_fit import BlockFit
from maskedadv.design.blocks import Block
from maskedadv.gaps.one_trait import fit_common_trait
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]

COLUMNS = (
    "locale",
    "language",
    "models",
    "correlation",
    "corrected",
    "ratio",
    "lower",
    "upper",
    "misfit",
    "df",
    "p",
    "reason",
)


def compare_dimensions(blocks: Mapping[int, Block], fits: Mapping[int, BlockFit]) -> list[dict[str, object]]:
    """Correlation of CA and CS abilities in each language of a locale, and the test of one trait for both.

    Parameters
    ----------
    blocks, fits : by subset index, of one locale

    Returns
    -------
    rows of `COLUMNS`: `correlation` of the estimates, `corrected` for their error (infinite or beyond 1 where
    the estimates vary no more than their errors), `ratio` of the spreads on CS and CA under one trait with
    its 95% interval, and how much worse one trait fits than two.
    """
    if len(blocks) < len(SUBSETS):
        return []
    one, other = blocks[0], blocks[1]
    rows = []
    for language in (one.locale, one.pivot):
        models = sorted(
            set(one.model[one.language == language]) & set(other.model[other.language == language])
        )
        at = [_place(block, language, models) for block in (one, other)]
        ability = [fits[s].ability[at[s]] for s in (0, 1)]
        covariance = [fits[s].covariance[np.ix_(at[s], at[s])] for s in (0, 1)]
        known = np.isfinite(ability[0]) & np.isfinite(ability[1])
        freedom = (float(len(one.item) - 1), float(len(other.item) - 1))
        trait = fit_common_trait(
            np.where(known, ability[0], np.nan), covariance[0], np.where(known, ability[1], np.nan),
            covariance[1], freedom=freedom,
        )  # fmt: skip
        plain, corrected = _correlations(
            [a[known] for a in ability], [c[np.ix_(known, known)] for c in covariance]
        )
        rows.append(
            {
                "locale": one.locale,
                "language": language,
                "models": int(known.sum()),
                "correlation": plain,
                "corrected": corrected,
                "ratio": trait.ratio,
                "lower": trait.lower,
                "upper": trait.upper,
                "misfit": trait.misfit,
                "df": trait.df,
                "p": trait.p,
                "reason": trait.reason,
            }
        )
    return rows


def _place(block: Block, language: str, models: list[str]) -> NDArray[np.intp]:
    cell = {m: c for c, m in enumerate(block.model) if block.language[c] == language}
    return np.array([cell[m] for m in models], dtype=np.intp)


def _correlations(ability: list[Array], covariance: list[Array]) -> tuple[float, float]:
    """Of the estimates, and of the abilities: variances less what errors add to them."""
    n = len(ability[0])
    if n < 3:
        return float("nan"), float("nan")
    centre = np.eye(n) - 1.0 / n
    spread = [float(np.var(a, ddof=1)) for a in ability]
    noise = [float(np.trace(centre @ c)) / (n - 1) for c in covariance]
    cross = float(np.cov(ability[0], ability[1])[0, 1])
    if min(spread) <= 0:
        return float("nan"), float("nan")
    plain = cross / np.sqrt(spread[0] * spread[1])
    true = [s - e for s, e in zip(spread, noise, strict=True)]
    return plain, cross / np.sqrt(true[0] * true[1]) if min(true) > 0 else float("nan")


def table(rows: list[dict[str, object]]) -> pd.DataFrame:
    """The rows of all locales."""
    return pd.DataFrame(rows, columns=list(COLUMNS))
