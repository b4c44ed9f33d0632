"""Relatives as a posterior predictive check: seen where there are some, not where the Rasch model holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.diagnostics.verdict import LIKENESS_LOOK
from maskedadv.likelihoods.relatives import find_relatives, language_covariances
from maskedadv.sampling.likeness import replicate_likeness, statistics
from tests.simulate import block, copies, expit, languages


def test_the_statistic_is_that_of_relatives() -> None:
    own = block(np.random.default_rng(1), -0.8, 5, 200)
    matrix = find_relatives(language_covariances(*languages(own)), 200).correlation
    pairs = matrix[np.triu_indices(5, 1)]
    assert statistics([(own, np.empty((10, 0)))])[0] == pytest.approx([pairs.mean(), pairs.max()])


def test_many_tables_at_once_give_what_each_gives_alone() -> None:
    """With holes, with too few pairs for a spread, and with every answer right."""
    rng = np.random.default_rng(4)
    tables = []
    for k in range(7):
        ca, cs = block(rng, -0.8, 5, 40), block(rng, -0.3, 5, 25)
        ca[rng.random(ca.shape) < 0.1 * k] = np.nan
        tables.append((ca, cs))
    tables[1][0][:5, 4:] = np.nan
    tables[2][1][:] = 1.0
    together = statistics(tables)
    assert np.isfinite(together).sum() >= 10
    np.testing.assert_allclose(together, [statistics([own])[0] for own in tables], rtol=1e-12)


@pytest.mark.slow  # a calibration: half a minute
def test_replicates_at_the_truth_look_like_the_data() -> None:
    """Rank of the observed among 50 replicates at the truth: uniform over 60 tables, ± 0.04."""
    rng = np.random.default_rng(2)
    ranks = []
    for k in range(60):
        ability = 0.5 + 0.5 * rng.standard_normal((1, 1, 3, 2, 2))
        b = 1.2 * rng.standard_normal(100)
        answers = []
        for s, own in ((0, b[:50]), (1, b[50:])):
            theta = ability[0, 0, :, s].T.ravel()
            answers.append((rng.random((6, 50)) < expit(theta[:, None] - own)).astype(float))
        found = replicate_likeness(
            (answers[0], answers[1]), np.tile(ability, (1, 50, 1, 1, 1)), np.tile(b, (1, 50, 1)), thin=1,
            seed=k,
        )  # fmt: skip
        assert found is not None
        ranks.append((found.replicated[0, :, 1] < found.observed[1]).mean())
    assert 0.38 < np.mean(ranks) < 0.62
    assert 0.2 < np.std(ranks) < 0.38


def frame(parts: list[np.ndarray]) -> pd.DataFrame:
    rows = []
    for subset, own in zip(("CA", "CS"), parts, strict=True):
        for language, answers in zip(("sw", "en"), languages(own), strict=True):
            for j, row in enumerate(answers):
                rows += [(f"m{j}", subset, language, f"{subset}{i}", int(v)) for i, v in enumerate(row)]
    return pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])


@pytest.mark.parametrize("copied", [0, 3])
def test_diagnose_tells_of_copies_and_of_nothing_else(copied: int) -> None:
    rng = np.random.default_rng(copied)
    parts = [copies(rng, -0.8, 5, 120, copied=max(copied, 1)) for _ in range(2)]
    fit = maskedadv.fit(
        frame(parts), method="nuts", min_accuracy=0, chains=2, warmup=300, draws=300, variants="none"
    )
    (found,) = maskedadv.diagnose(fit)
    m = found.measures
    told = [f for f in found.findings if "more alike" in f.reason]
    assert abs(m.likeness_rep) < 0.5
    if copied:
        assert m.likeness == pytest.approx(1.0, abs=0.2)
        assert m.likeness > m.likeness_rep + LIKENESS_LOOK * m.likeness_sd
        assert m.likeness_p < 0.02
        assert "paired gaps" in told[0].remedy
    else:
        assert not told
        assert m.likeness_p > 0.02
