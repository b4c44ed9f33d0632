"""What candidates predict, against brute force: integrals by other quadratures, maxima by another search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

import maskedadv
from maskedadv.cross_validation import from_estimates as ml
from maskedadv.cross_validation.training import Training, base_rates, half_answer
from maskedadv.design.blocks import Block
from maskedadv.design.prepare import prepare
from maskedadv.engines import choose_engine
from maskedadv.maximum_likelihood.marginal import fit_marginal
from maskedadv.maximum_likelihood.pair_effects import fit_pair_effects
from maskedadv.responses import read_responses
from maskedadv.settings import Settings
from tests.simulate import block as simulated
from tests.simulate import languages, table

Array = NDArray[np.float64]
ENGINE = choose_engine("auto")


def ca_block(frame: pd.DataFrame, response: str = "binary") -> Block:
    return prepare(read_responses(frame), Settings(response=response, min_accuracy=0)).blocks[0]


def held(block: Block, cell: int, items: list[int]) -> Training:
    """Some answers of one cell held out."""
    fold = np.ones(block.answers.shape)
    fold[cell, items] = 0.0
    return Training.without(block, fold, 0)


def test_fold_scores_of_a_toy_by_hand() -> None:
    """Two models, two languages, four items: base rates and their cross-entropy, fold by fold, on paper."""
    right = {
        ("a", "en"): [1, 1, 1, 0],
        ("a", "zh"): [1, 0, 1, 0],
        ("b", "en"): [1, 1, 0, 0],
        ("b", "zh"): [0, 1, 0, 0],
    }
    rows = [(m, "CA", k, f"i{i}", y) for (m, k), ys in right.items() for i, y in enumerate(ys)]
    frame = pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])
    found = maskedadv.compare(frame, scheme="item", folds=2, candidates=["base rate"], min_accuracy=0)
    assert found.predictions is not None
    assert len(found.predictions) == 16
    fold_of = dict(zip(found.predictions["item"], found.predictions["fold"], strict=True))
    for fold in (1, 2):
        out = [i for i in range(4) if fold_of[f"i{i}"] == fold]
        assert len(out) == 2
        total = 0.0
        for ys in right.values():
            p = (sum(ys[i] for i in range(4) if i not in out) + 0.5) / 3
            total += sum(-np.log(p if ys[i] else 1 - p) for i in out)
        row = found.by_fold[found.by_fold["fold"] == fold]
        assert row["bce"].item() == pytest.approx(total / 8, abs=1e-12)
        assert row["n"].item() == 8
    own = found.by_fold["bce"]
    assert found.scores["bce"].item() == pytest.approx(own.mean(), abs=1e-15)
    assert found.scores["bce_sd"].item() == pytest.approx(abs(own[0] - own[1]) / np.sqrt(2), abs=1e-15)


def test_joint_predictions_are_those_of_another_optimiser() -> None:
    block = ca_block(table(models=6, items=(12, 2), seed=5))
    t = held(block, 3, [0, 4, 7])
    p = ml.joint(t, Settings(interval="information"), ENGINE)
    seen = ~np.isnan(t.answers)
    y = np.where(seen, t.answers, 0.0)
    total = y.sum(axis=0)
    inside = (total > 0) & (total < seen.sum(axis=0))
    assert inside.sum() >= 9, "items that all answered alike are another test's"
    y, s, n = y[:, inside], seen[:, inside], len(t.answers)

    def loss(v: Array) -> tuple[float, Array]:
        eta = v[:n, None] - v[n:]
        off = s * (expit(eta) - y)
        value = (s * np.logaddexp(0.0, eta) - y * eta).sum()
        return float(value), np.concatenate([off.sum(axis=1), -off.sum(axis=0)])

    v = minimize(loss, np.zeros(n + inside.sum()), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(p[:, inside], expit(v[:n, None] - v[n:]), atol=1e-5)
    assert ((p > 0) & (p < 1)).all(), "nothing is predicted with certainty"


def test_an_item_that_all_got_right_is_taken_for_half_an_answer_less() -> None:
    ability = np.array([-0.5, 0.3, 1.0])
    easy = -half_answer(np.ones((1, 3)), lambda a: expit(a + ability))
    assert expit(ability - easy).sum() == pytest.approx(2.5, abs=1e-9)
    hard = -half_answer(np.array([[0.0, np.nan, 0.0]]), lambda a: expit(a + ability))
    assert expit(ability[[0, 2]] - hard).sum() == pytest.approx(0.5, abs=1e-9)
    mixed = -half_answer(np.array([[1.0, 0.0, 1.0]]), lambda a: expit(a + ability))
    assert expit(ability - mixed).sum() == pytest.approx(2.0, abs=1e-9)


def by_quadrature(item: Array, ability: Array, sigma: float, chance: float, cell: int) -> float:
    """P(right) of a cell given an item's other answers: two integrals over its difficulty."""

    def likelihood(b: float) -> float:
        p = chance + (1 - chance) * expit(ability - b)
        return float(
            np.prod(np.where(np.isnan(item), 1.0, np.where(item > 0.5, p, 1 - p))) * norm.pdf(b, 0, sigma)
        )

    def right(b: float) -> float:
        return likelihood(b) * (chance + (1 - chance) * expit(ability[cell] - b))

    reach = 9 * sigma
    return quad(right, -reach, reach, limit=200)[0] / quad(likelihood, -reach, reach, limit=200)[0]


@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_marginal_predictions_integrate_over_the_difficulty(chance: float) -> None:
    frame = table(models=5, items=(40, 2), seed=7).assign(n_options=4)
    block = ca_block(frame)
    t = held(block, 2, [1, 5, 9])
    settings = Settings(estimator="marginal", interval="information")
    predict: Callable[..., Array] = ml.floor if chance else ml.marginal
    p = predict(t, settings, ENGINE)
    estimate = ml.estimate_block(t.left, settings, ENGINE, 1, with_floor=chance > 0)
    finite = np.isfinite(estimate.ability)
    for i in (1, 5, 9):
        cell = int(np.flatnonzero(np.flatnonzero(finite) == 2)[0])
        expected = by_quadrature(t.answers[finite, i], estimate.ability[finite], estimate.sigma, chance, cell)
        assert p[2, i] == pytest.approx(expected, abs=1e-6)


def test_a_new_item_is_one_of_the_population() -> None:
    block = ca_block(table(models=5, items=(40, 2), seed=8))
    fold = np.ones(block.answers.shape)
    fold[:, 4] = 0.0
    t = Training.without(block, fold, 0)
    settings = Settings(estimator="marginal", interval="information")
    p = ml.marginal(t, settings, ENGINE)
    estimate = ml.estimate_block(t.left, settings, ENGINE, 1)
    expected = [
        by_quadrature(np.full(10, np.nan), estimate.ability, estimate.sigma, 0.0, c) for c in range(10)
    ]
    np.testing.assert_allclose(p[:, 4], expected, atol=1e-6)


def test_a_new_model_is_one_of_those_known() -> None:
    block = ca_block(table(models=5, items=(30, 2), seed=9))
    new = block.model == "m2"
    fold = np.where(new[:, None], 0.0, np.ones(block.answers.shape))
    t = Training.without(block, fold, 0)
    settings = Settings(estimator="marginal", interval="information")
    for predict in (ml.marginal, ml.joint):
        p = predict(t, settings if predict is ml.marginal else Settings(interval="information"), ENGINE)
        for language in ("zh", "en"):
            own = block.language == language
            np.testing.assert_allclose(p[own & new][0], p[own & ~new].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("chance", [0.0, 0.25])
def test_predictions_with_pair_effects_integrate_over_both(chance: float) -> None:
    """P(local right | the model's pivot answer, the item's other answers), by double integrals."""
    rng = np.random.default_rng(11)
    local, pivot = languages(simulated(rng, -0.8, 3, 60, model_item=1.2))
    kept = local[1, 7]
    local[1, 7] = np.nan
    found = fit_pair_effects(local, pivot, np.full(60, chance))
    p = ml.core.predict(found.answers, found.point)[0, 1, 7]
    assert kept in (0.0, 1.0)

    b = np.linspace(-7, 7, 701)[:, None] * found.sigma
    e = np.linspace(-7, 7, 701) * found.tau

    def item(answer: float) -> float:
        """Probability of the item's answers with this one among them, by sums over two fine grids."""
        total = norm.pdf(b[:, 0], 0, found.sigma)
        for j in range(3):
            right = [chance + (1 - chance) * expit(a - b - e) for a in found.ability[:, j]]
            pair = (answer if j == 1 else local[j, 7], pivot[j, 7])
            both = np.prod([q if y > 0.5 else 1 - q for q, y in zip(right, pair, strict=True)], axis=0)
            total = total * (both @ norm.pdf(e, 0, found.tau))
        return float(total.sum())

    assert p == pytest.approx(item(1.0) / (item(1.0) + item(0.0)), abs=2e-5)


def test_pair_likelihood_by_sums_over_fine_grids() -> None:
    """One model alone with one item: a double integral over difficulty and effect."""
    answers = ml.core.code_answers(np.array([[1.0]]), np.array([[0.0]]), np.array([0.2]))
    theta, sigma, tau = np.array([[0.4], [1.1]]), 1.3, 0.8
    nodes = ml.core.lay_pair_nodes(theta, sigma)
    found = ml.core.evaluate(answers, theta, sigma, tau, nodes).log_likelihood

    def density(e: Array, b: Array) -> Array:
        one, other = (0.2 + 0.8 * expit(a - b - e) for a in theta[:, 0])
        return np.asarray(one * (1 - other) * norm.pdf(e, 0, tau) * norm.pdf(b, 0, sigma))

    b, e = np.meshgrid(np.linspace(-11, 11, 1501), np.linspace(-7, 7, 1001))
    step = (22 / 1500) * (14 / 1000)
    assert found == pytest.approx(np.log(density(e, b).sum() * step), abs=1e-6)


def test_without_pair_effects_the_likelihood_is_the_marginal_one() -> None:
    rng = np.random.default_rng(12)
    block = simulated(rng, -0.8, 4, 80)
    marginal = fit_marginal(block, ENGINE, interval="information", seed=1)
    local, pivot = languages(block)
    answers = ml.core.code_answers(local, pivot, np.zeros(80))
    theta = np.stack(languages(marginal.ability[:, None]))[..., 0]
    nodes = ml.core.lay_pair_nodes(theta, marginal.sigma)
    at = ml.core.evaluate(answers, theta, marginal.sigma, 1e-6, nodes)
    assert at.log_likelihood == pytest.approx(marginal.log_likelihood, abs=1e-6)
    assert np.abs(at.gradient[:-1]).max() < 1e-4, (
        "the marginal maximum is one along all but the new parameter"
    )


def test_pair_effects_are_recovered() -> None:
    """Means over sets of the gap and of the log spreads; the marginal gap shrinks, this one does not."""
    gaps, taus, sigmas = [], [], []
    for seed in range(20):
        rng = np.random.default_rng([13, seed])
        local, pivot = languages(simulated(rng, -1.0, 8, 150, model_item=1.2))
        found = fit_pair_effects(local, pivot)
        gaps.append(float((found.ability[0] - found.ability[1]).mean()))
        taus.append(np.log(found.tau))
        sigmas.append(np.log(found.sigma))
    for values, truth in ((gaps, -1.0), (taus, np.log(1.2)), (sigmas, np.log(1.2))):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - truth) < 4 * error


def test_paired_predictions_need_the_other_answer_only() -> None:
    block = ca_block(table(models=3, items=(80, 2), seed=14))
    t = held(block, 0, [3, 4])
    p = ml.paired(t, Settings(), ENGINE)
    other = Block(**{**vars(block), "answers": block.answers.copy()})
    other.answers[[1, 2, 4, 5]] = 1 - other.answers[[1, 2, 4, 5]]  # all answers of the other models
    again = ml.paired(held(other, 0, [3, 4]), Settings(), ENGINE)
    assert block.model[0] == block.model[3], "the same model's cell in the other language"
    np.testing.assert_allclose(p[0, [3, 4]], again[0, [3, 4]], atol=1e-12)


def test_continuous_predictions_are_expected_probabilities() -> None:
    rng = np.random.default_rng(15)
    frame = table(models=4, items=(30, 2), seed=15)
    frame["p_correct"] = expit(np.where(frame["correct"] == 1, 1.0, -1.0) + rng.normal(size=len(frame)))
    block = ca_block(frame, "crm")
    t = held(block, 1, [2, 6])
    p = ml.continuous(t, Settings(response="crm", interval="information"), ENGINE)
    cell, item = np.nonzero(~np.isnan(t.answers))
    n = len(cell)
    design = np.zeros((n, 8 + 30))
    design[np.arange(n), cell] = 1.0
    design[np.arange(n), 8 + item] = -1.0
    beta, *_ = np.linalg.lstsq(design, t.answers[cell, item], rcond=None)
    residual = t.answers[cell, item] - design @ beta
    noise = np.sqrt((residual**2).sum() / (n - 8 - 30 + 1))
    for i in (2, 6):
        mean = beta[1] - beta[8 + i]
        expected = quad(
            lambda x, m=mean: expit(x) * norm.pdf(x, m, noise), mean - 9 * noise, mean + 9 * noise
        )[0]
        assert p[1, i] == pytest.approx(expected, abs=1e-4)


def test_base_rates_of_new_models_are_those_of_their_language() -> None:
    block = ca_block(table(models=3, items=(20, 2), seed=16))
    new = block.model == "m0"
    t = Training.without(block, np.where(new[:, None], 0.0, np.ones(block.answers.shape)), 0)
    p = base_rates(t)
    own = block.language == "en"
    shares = (block.answers[own & ~new].sum(axis=1) + 0.5) / 21
    np.testing.assert_allclose(p[own & new][0], shares.mean())
