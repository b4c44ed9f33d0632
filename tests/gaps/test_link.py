"""The scale link: λ and its interval, the linked gap, and when it is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t

from maskedadv.engines.embedded import Embedded
from maskedadv.gaps.link import FEWEST, Link, find_link
from maskedadv.maximum_likelihood.marginal import fit_marginal

ENGINE = Embedded()
Array = np.ndarray


def answers(rng: np.random.Generator, ability: Array, items: int, slope: float) -> Array:
    """Answers (2J, items), local first, gap −1.5, discrimination `slope`."""
    eta = np.stack([ability - 1.5, ability])[:, :, None] - rng.standard_normal(items)
    return (rng.random(eta.shape) < expit(slope * eta)).astype(float).reshape(2 * len(ability), items)


def linked(
    rng: np.random.Generator, models: int, correlation: float, slope: float
) -> tuple[Link, Array, Array, float]:
    """Link, linked gaps, their sds and the mean plain gap of one simulated locale; the true gap is 0."""
    one = rng.standard_normal(models)
    other = correlation * one + np.sqrt(1 - correlation**2) * rng.standard_normal(models)
    ca = fit_marginal(answers(rng, 1 + 0.8 * one, 600, 1.0), ENGINE, interval="robust", seed=1)
    cs = fit_marginal(answers(rng, 1 + 0.8 * other, 300, slope), ENGINE, interval="robust", seed=1)
    j = models
    link = find_link(ca.ability[j:], ca.uncertainty[:, j:], cs.ability[j:], cs.uncertainty[:, j:])
    g, h = ca.ability[:j] - ca.ability[j:], cs.ability[:j] - cs.ability[j:]
    scaled = h / link.ratio
    rows_ca = -(ca.uncertainty[:, :j] - ca.uncertainty[:, j:]) - link.rows_ca[:, None] * scaled
    rows_cs = (cs.uncertainty[:, :j] - cs.uncertainty[:, j:]) / link.ratio - link.rows_cs[:, None] * scaled
    sd = np.sqrt((rows_ca**2).sum(axis=0) + (rows_cs**2).sum(axis=0) + (link.own_sd * scaled) ** 2)
    return link, h / link.ratio - g, sd, float((h - g).mean())


def test_without_noise_the_ratio_is_the_ratio_of_sds() -> None:
    rng = np.random.default_rng(0)
    ca, cs = rng.normal(size=12), 0.6 * rng.normal(size=12)
    nothing = np.zeros((3, 12))
    link = find_link(ca, nothing, cs, nothing)
    assert link.ratio == pytest.approx(np.std(cs, ddof=1) / np.std(ca, ddof=1))
    rho = np.corrcoef(ca, cs)[0, 1]
    left_out = [np.log(np.std(np.delete(cs, j)) / np.std(np.delete(ca, j))) for j in range(12)]
    jackknife = 11 * np.var(left_out)
    assert link.log_sd == pytest.approx(np.sqrt(max((1 - rho**2) / 11, jackknife)))
    assert np.log(link.upper / link.ratio) == pytest.approx(t.ppf(0.975, 10) * link.log_sd)
    exact = find_link(ca, nothing, 0.7 * ca, nothing)
    assert exact.ratio == pytest.approx(0.7)
    assert exact.slope == pytest.approx(0.7)
    assert exact.log_sd == pytest.approx(0, abs=1e-7)


def test_known_noise_is_taken_out() -> None:
    """Independent noise of known variance on both sides leaves the ratio unbiased; naive sds do not."""
    rng = np.random.default_rng(1)
    ratios, naive = [], []
    for _ in range(2000):
        true = rng.normal(size=40)
        ca, cs = true + 0.3 * rng.normal(size=40), 0.5 * true + 0.4 * rng.normal(size=40)
        ratios.append(find_link(ca, 0.3 * np.eye(40), cs, 0.4 * np.eye(40)).ratio)
        naive.append(np.std(cs) / np.std(ca))
    assert np.nanmedian(ratios) == pytest.approx(0.5, abs=0.01)
    assert np.median(naive) > 0.58


def test_a_common_shift_is_no_spread() -> None:
    """Noise that moves all models alike (the anchor) must not be subtracted."""
    rng = np.random.default_rng(2)
    ca, cs = rng.normal(size=10), rng.normal(size=10)
    none, common = np.zeros((1, 10)), np.full((1, 10), 5.0)
    assert find_link(ca, common, cs, common).ratio == pytest.approx(find_link(ca, none, cs, none).ratio)


def test_few_models_and_no_spread_are_refused_with_the_reason() -> None:
    zero = np.zeros((1, 7))
    few = find_link(np.arange(7.0), zero, np.arange(7.0), zero)
    assert np.isnan(few.ratio)
    assert few.reason == f"a link needs {FEWEST} models, here are 7"
    holes = np.append(np.arange(8.0), [np.nan, np.inf])
    assert find_link(holes, np.zeros((1, 10)), holes, np.zeros((1, 10))).models == 8
    flat = find_link(np.ones(9), np.eye(9), np.arange(9.0), np.zeros((9, 9)))
    assert "spread" in flat.reason


def test_a_less_discriminating_pool_makes_a_gap_and_the_link_takes_it_out() -> None:
    rng = np.random.default_rng(3)
    runs = [linked(rng, 40, 1.0, 0.7) for _ in range(10)]
    assert np.mean([r[3] for r in runs]) > 0.3, "the artefact is there"
    assert np.mean([r[0].ratio for r in runs]) == pytest.approx(0.7, abs=0.04)
    assert abs(np.mean([r[1] for r in runs])) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "correlation", "slope"),
    [(40, 1.0, 0.7), (40, 1.0, 0.5), (20, 1.0, 1.4), (80, 0.9, 0.7), (40, 0.8, 1.0)],
)
def test_link_bias_and_coverage(models: int, correlation: float, slope: float) -> None:
    rng = np.random.default_rng(20)
    runs = [linked(rng, models, correlation, slope) for _ in range(150)]
    gap, sd = np.concatenate([r[1] for r in runs]), np.concatenate([r[2] for r in runs])
    covered = float(np.mean(np.abs(gap) < 1.959964 * sd))
    ratio = np.array([r[0].ratio for r in runs])
    inside = float(np.mean([(r[0].lower < slope) & (slope < r[0].upper) for r in runs]))
    print(
        f"\n{models} models, correlation {correlation}, slope {slope}: λ {np.median(ratio):.3f} "
        f"(covered {inside:.2f}), plain {np.mean([r[3] for r in runs]):+.3f}, "
        f"linked {gap.mean():+.3f}, covered {covered:.3f}"
    )
    assert abs(gap.mean()) < 0.03
    assert 0.93 < covered < 0.97
