"""Whether answers are missing, or could not be read, more often in one language than in another.

Answers missing at random widen intervals; where their share differs between languages, gaps are biased.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.likelihoods.tails import chi2_above

_ALPHA = 0.05  # over all models together
_SMALLEST = 0.02  # difference of shares that is worth a word


def uneven_shares(shares: pd.DataFrame) -> list[str]:
    """Models whose share of missing answers differs between languages beyond chance.

    Pearson's chi-square test of missing × language, model by model, at 5% divided by the number of models
    (Bonferroni), where the shares differ by at least two points.

    Parameters
    ----------
    shares
        One row per model and language: model, language, answers, missing (counts).

    Returns
    -------
    A clause for each such model, the largest difference first: "org/m: 10% of the answers in en and 45% in
    de".
    """
    models = shares["model"].nunique()
    found: list[tuple[float, str]] = []
    for model, rows in shares.groupby("model"):
        share = rows["missing"] / rows["answers"]
        if len(rows) < 2 or share.max() - share.min() < _SMALLEST:
            continue
        table = np.stack([rows["missing"], rows["answers"] - rows["missing"]]).astype(np.float64)
        if not table.sum(axis=1).all():
            continue
        if _independence(table) < _ALPHA / models:
            low, high = (rows["language"].iloc[at] for at in (share.argmin(), share.argmax()))
            clause = f"{model}: {share.min():.0%} of the answers in {low} and {share.max():.0%} in {high}"
            found.append((share.min() - share.max(), clause))
    return [clause for _, clause in sorted(found)]


def uneven_note(shares: pd.DataFrame) -> tuple[str, ...]:
    """What to say of models whose answers are missing more often in one language; see `uneven_shares`."""
    odd = uneven_shares(shares)
    if not odd:
        return ()
    more = f"; and {len(odd) - 3} more models" if len(odd) > 3 else ""
    return (
        f"{'; '.join(odd[:3])} are missing{more}: where that hangs on the answer, gaps are biased (answers "
        "that could not be read: import them with --unread wrong and compare)",
    )


def _independence(table: NDArray[np.float64]) -> float:
    """Probability of Pearson's chi-square of a table with two rows, were rows and columns independent."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return chi2_above(statistic, table.shape[1] - 1)
