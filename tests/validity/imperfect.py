"""Studies whose proxy adds nothing, or something, beyond a proficiency that scores measure with error.

Native benchmark, proxy and the control are accuracies. What they measure moves in a straight line, so
the only reason to find more than was built in is measurement error (Westfall & Yarkoni 2016,
doi:10.1371/journal.pone.0152719).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from maskedadv.validity.pairings import Pairing, PairingFile
from maskedadv.validity.reliability import GIVEN, ITEMS, Measured, binomial_error

FAMILY_SIZES = (5, 4, 3, 3, 2, *[1] * 12)
FAMILIES = tuple(f"family {f:02d}" for f, size in enumerate(FAMILY_SIZES) for _ in range(size))


@dataclass(frozen=True)
class Truth:
    """What is built in; by default little but proficiency stands in any score, as in Table 6 of the paper.

    Attributes
    ----------
    reliability
        Of the control.
    beta
        Coefficient of what the proxy knows beyond proficiency, for native scores.
    unique
        Its standard deviation, in those of proficiency.
    benchmark
        Reliability of native and proxy scores.
    specific
        Standard deviation of what only native scores hold.
    tails
        Whether true scores have a long tail (a shifted exponential), else they are normal.
    """

    reliability: float
    beta: float = 0.0
    unique: float = 0.1
    benchmark: float = 0.98
    specific: float = 0.1
    tails: bool = False


def true_scores(rng: np.random.Generator, truth: Truth, n: int) -> tuple[np.ndarray, ...]:
    """Size, and error-free control, native and proxy scores, shape (n,) each."""

    def draw() -> np.ndarray:
        return rng.exponential(size=n) - 1 if truth.tails else rng.normal(size=n)

    proficiency = draw()
    size = 0.6 * proficiency + 0.8 * draw()
    own = truth.unique * draw()
    native = proficiency + truth.beta * own + truth.specific * draw()
    return size, proficiency, native, proficiency + own


def noise(rng: np.random.Generator, scores: np.ndarray, variance: float, reliability: float) -> np.ndarray:
    """Scores with normal error, as much as makes them so reliable."""
    return scores + np.sqrt(variance * (1 - reliability) / reliability) * rng.normal(size=len(scores))


def measured(
    rng: np.random.Generator, truth: Truth, n: int, *, stated: bool = False
) -> tuple[Measured, tuple[Measured, ...], Measured]:
    """Native score, controls and proxy; error variances are known, or (`stated`) reliabilities are."""
    size, control, native, proxy = true_scores(rng, truth, n)
    parts = []
    for name, scores, variance, value in (
        ("native", native, 1 + truth.specific**2 + (truth.beta * truth.unique) ** 2, truth.benchmark),
        ("control", control, 1.0, truth.reliability),
        ("proxy", proxy, 1 + truth.unique**2, truth.benchmark),
    ):
        seen = noise(rng, scores, variance, value)
        error = np.full(n, variance * (1 - value) / value)
        known = {"given": value, "basis": GIVEN} if stated else {"variance": error, "basis": ITEMS}
        parts.append(Measured(name, name, seen, **known))
    exact = Measured("size", "control", size, np.zeros(n), basis="exact")
    return parts[0], (exact, parts[1]), parts[2]


def tables(
    seed: int, truths: Sequence[Truth], control_items: bool = True
) -> tuple[pd.DataFrame, pd.DataFrame, PairingFile]:
    """A score table of accuracies with numbers of items, a model table, and a pairing for every truth.

    The control is a benchmark too. Numbers of items are those that make it, on average over models, as
    reliable as `truth` has it; answers are binomial, so that nothing about errors is known but counts.
    """
    rng = np.random.default_rng(seed)
    n = len(FAMILIES)
    names = [f"model {j:02d}" for j in range(n)]
    rows, pairings = [], []
    models = pd.DataFrame({"model": names, "family": FAMILIES})
    for t, truth in enumerate(truths):
        size, *latent = true_scores(rng, truth, n)
        models[f"size_l{t}"] = size
        for name, scores in zip(("control", "native", "proxy"), latent, strict=True):
            share = np.clip(0.55 + 0.1 * scores, 0.02, 0.98)
            value = truth.reliability if name == "control" else truth.benchmark
            # n items give an error variance of share (1 - share)/n; all are answered where it is exact
            items = (
                10**7
                if value == 1
                else round((share * (1 - share)).mean() * value / (1 - value) / share.var())
            )
            accuracy = rng.binomial(items, share) / items
            rows.append(
                pd.DataFrame({"model": names, "accuracy": accuracy, "n_items": items}).assign(
                    benchmark=name, language=f"l{t}"
                )
            )
        pairings.append(Pairing(f"P{t}", f"l{t}", "native", "proxy", ("size", f"control@l{t}")))
    scores_table = pd.concat(rows, ignore_index=True)
    if not control_items:
        scores_table = scores_table.astype({"n_items": object})
        scores_table.loc[scores_table["benchmark"] == "control", "n_items"] = ""
    return scores_table, models, PairingFile(tuple(pairings))


def binomial_reliability(share: np.ndarray, items: int) -> float:
    """What item counts tell of a reliability."""
    error = binomial_error(share, np.full(len(share), float(items)))
    return float(1 - error.mean() / share.var(ddof=1))
