"""Power: the formula against enumeration, algebra and simulation; items needed; figure; interrupts."""

from __future__ import annotations

import itertools
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import maskedadv
from maskedadv.cli.main import main
from maskedadv.datasets import global_mmlu_lite
from maskedadv.design.collapse import group_rows
from maskedadv.errors import BadSetting
from maskedadv.likelihoods import integrated
from maskedadv.power import by_simulation, items_needed, power_table, simulate_power
from maskedadv.power.by_simulation import one_study
from maskedadv.power.formula import expected, no_formula, per_item, power_of, width_of
from maskedadv.power.marginal_information import expected_information
from maskedadv.power.observed_information import result_per_item
from maskedadv.power.paired_information import paired_per_item
from maskedadv.simulation import Plan
from maskedadv.simulation.answers import draw_answers
from maskedadv.simulation.world import draw_world
from tests.simulate import table

MESSY = Plan(
    models=10, items_ca=250, items_cs=250, options=4, dif_share=0.3, pair_sd_cs=1.0, missing=0.1,
    discrimination_sd=0.3, gap_sd=0.3, knowledge_gap=0.5,
)  # fmt: skip


@pytest.mark.parametrize("ability", [(0.3, -0.9, 1.5, 0.0), (2.0, -1.0), (0.5, 0.5, -0.2, 1.1, -2.0)])
def test_the_expected_information_is_the_mean_over_all_patterns_of_answers(ability):
    """Scores of every possible item by the likelihood that is fitted, weighted by its probability."""
    theta, sigma = np.array(ability), 1.3
    answers = np.array(list(itertools.product((0.0, 1.0), repeat=len(theta)))).T
    group = group_rows(answers.T)
    margins = integrated.find_margins(answers, group)
    nodes = integrated.make_nodes(-9.0, 9.0, 0.05)
    counts = np.bincount(group).astype(float)
    point = integrated.expect(margins, nodes, counts, answers.sum(axis=1), theta, sigma)
    scores = integrated.item_scores(margins, point, answers)
    weight = np.exp(nodes.log_weight)
    p = expit(theta[:, None] - sigma * nodes.z)
    each = np.prod(np.where(answers.T[:, :, None] == 1.0, p, 1.0 - p), axis=1) @ weight
    assert np.isclose(each.sum(), 1.0)
    np.testing.assert_allclose(expected_information(theta, sigma), (scores.T * each) @ scores, atol=1e-7)


def test_one_kind_of_item_and_model_is_worth_what_two_counts_are():
    plan = Plan(ability_sd=0, difficulty_sd=0, ability=0.5, global_gap=-0.7, missing=0.2)
    p, q = expit(-0.2), expit(0.5)
    up, down = p * (1 - q), q * (1 - p)
    found = paired_per_item(plan, 0)
    assert np.isclose(found.estimate, -0.7)  # whatever the level
    assert np.isclose(found.own, (1 / up + 1 / down) / 0.64)
    assert abs(found.common) < 1e-15


def test_common_variance_is_none_where_the_conditional_model_holds_and_dif_makes_some():
    held = paired_per_item(Plan(pair_sd_ca=1.0, family_sd=0.5), 0)
    assert abs(held.common) < 1e-12
    assert np.isclose(held.estimate, -1.0)
    moved = paired_per_item(
        Plan(dif_share=0.4, dif_size=0.6, global_gap=0.0, ability_sd=0, difficulty_sd=0), 0
    )
    # near a gap of 0, DIF of ±d with share s adds s·d² (first order)
    assert np.isclose(moved.common, 0.4 * 0.6**2, rtol=0.1)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(models=4, items_ca=150, items_cs=150, knowledge_gap=0.5),
        MESSY,
        replace(MESSY, options=None, models=20, knowledge_gap=0.25),
    ],
)
def test_paired_power_by_simulation_and_by_formula_agree(plan):
    """Within 3 points; 2,500 studies have a Monte Carlo error of at most 1."""
    found = simulate_power(plan, ["paired"], replicates=2500)["paired"]
    own = expected(plan, per_item(plan, "paired"))
    assert abs(found.power - power_of(own, plan.knowledge_gap, 0.95)) < 0.03
    assert abs(found.width / width_of(own, 0.95) - 1) < 0.03
    assert abs(found.estimate - own.estimate) < 4 * own.total_sd / np.sqrt(2500) + 0.01
    assert 0.25 < found.power < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [
        Plan(models=4, items_ca=150, items_cs=250, knowledge_gap=0.5),
        Plan(models=12, items_ca=150, items_cs=150),
        Plan(models=12, items_ca=200, items_cs=200, knowledge_gap=0.1, discrimination_cs=0.8, gap_sd=0.3),
    ],
)
def test_plain_power_by_simulation_and_by_formula_agree(plan):
    found = simulate_power(plan, ["plain"], replicates=2500, jobs=2)["plain"]
    own = expected(plan, per_item(plan, "plain"))
    assert abs(found.power - power_of(own, plan.knowledge_gap, 0.95)) < 0.03
    assert 0.25 < found.power < 0.95


def test_plain_widths_by_simulation_and_by_formula_agree():
    """Widths hardly differ between studies, so few are enough."""
    plan = Plan(models=5, items_ca=300, items_cs=300)
    found = simulate_power(plan, ["plain"], replicates=40)["plain"]
    assert abs(found.width / width_of(expected(plan, per_item(plan, "plain")), 0.95) - 1) < 0.04
    assert found.coverage >= 34 / 40


def test_a_simulated_study_is_estimated_as_a_fit_estimates_it():
    plan = Plan(models=4, items_ca=60, items_cs=60, options=4, ability=2.0, global_gap=-0.5)
    variants = ["plain", "floor", "paired", "paired+floor"]
    values = one_study(plan, variants, 3)
    rng = np.random.default_rng([plan.seed, 3])
    world = draw_world(plan, rng)
    from maskedadv.simulation.table import _tables

    made = _tables(world, draw_answers(world, rng), {})
    fit = maskedadv.fit(made.responses, estimator="marginal", min_accuracy=0)
    for variant, (estimate, sd, truth) in zip(variants, values, strict=True):
        row = fit.means(gap="knowledge_gap", variant=variant).iloc[0]
        np.testing.assert_allclose([estimate, sd, truth], [row["estimate"], row["sd"], 0.3], atol=1e-6)


def test_power_without_a_gap_is_the_share_of_false_findings():
    plan = Plan(models=6, items_ca=200, items_cs=200, knowledge_gap=0.0)
    own = expected(plan, per_item(plan, "paired"))
    assert np.isclose(power_of(own, 0.0, 0.95), 0.05)
    found = simulate_power(plan, ["paired"], replicates=1000)["paired"]
    assert 0.03 < found.power < 0.07
    assert np.isnan(items_needed(plan))


def test_items_needed_are_the_first_that_are_enough():
    for variant in ("paired", "plain"):
        plan = Plan(models=8, items_ca=100, items_cs=200, knowledge_gap=0.4)
        n = items_needed(plan, variant)
        parts = per_item(plan, variant)
        at = [
            power_of(expected(plan, parts, items=(round(m / 2), m)), 0.4, 0.95) for m in (int(n), int(n) - 2)
        ]
        assert at[0] >= 0.8 > at[1]
    assert items_needed(replace(plan, items_ca=20), fixed_ca=True) == np.inf
    assert items_needed(replace(plan, gap_sd=3.0)) == np.inf


def test_a_result_is_worth_what_its_own_interval_says():
    fit = maskedadv.fit(global_mmlu_lite(), locale="sw", estimator="marginal", guessing="none")
    for variant in fit.variants:
        parts = result_per_item(fit, variant)
        sd = expected(Plan(models=6), parts).sd
        assert np.isclose(sd, fit.means(gap="knowledge_gap", variant=variant)["sd"].iloc[0])
    ca, cs = result_per_item(fit, "paired")
    assert ca.common > 0
    assert cs.common > 0
    more = items_needed(Plan(models=6), result=fit)
    assert more > 1.5 * items_needed(Plan(models=6, ability=3.0, difficulty_sd=2.6))


def test_what_cannot_be_had_is_refused():
    fit = maskedadv.fit(global_mmlu_lite(), locale="sw", estimator="marginal", guessing="none")
    with pytest.raises(BadSetting, match="no formula with a floor and"):
        items_needed(MESSY, "plain")
    with pytest.raises(BadSetting, match="needs a floor"):
        power_table(Plan(), variants=["floor"])
    with pytest.raises(BadSetting, match="variant must be one of"):
        power_table(Plan(), variants=["other"])
    with pytest.raises(BadSetting, match="not simulated"):
        power_table(Plan(), result=fit, replicates=10)
    with pytest.raises(BadSetting, match="between 0 and 1"):
        items_needed(Plan(), power=1.0)
    assert no_formula(MESSY, "paired") == ""


def test_an_interrupted_table_is_completed_and_the_same(tmp_path, monkeypatch):
    plan, kept = Plan(models=3, items_ca=40, items_cs=40), tmp_path / ".t.csv.unfinished"
    ask = {"items": [40, 60, 80], "variants": ["paired"], "replicates": 20}
    whole = power_table(plan, **ask)
    real, calls = by_simulation.one_study, []

    def stop_in_second(at, *args, **more):
        calls.append(at.items_cs)
        if len(calls) == 25:
            raise KeyboardInterrupt
        return real(at, *args, **more)

    monkeypatch.setattr(by_simulation, "one_study", stop_in_second)
    with pytest.raises(KeyboardInterrupt):
        power_table(plan, **ask, journal=kept)
    assert kept.exists()
    with kept.open("a") as file:
        file.write('["60 CS items, studies from 1 on", [[[0.1, 0.2')  # a line that a kill cut off
    again = power_table(plan, **ask, journal=kept)
    assert calls == [40] * 20 + [60] * 5 + [60] * 20 + [80] * 20
    assert not kept.exists()
    assert again.equals(whole)
    kept.write_text("mine")
    with pytest.raises(maskedadv.errors.OutputExists, match="no journal of ours"):
        power_table(plan, **ask, journal=kept)


def test_the_command_answers_in_one_sentence_and_draws(tmp_path, capsys):
    out, figure = tmp_path / "t.csv", tmp_path / "f.svg"
    with pytest.raises(SystemExit) as done:
        main(["power", "--models", "12", "--knowledge-gap", "0.3", "-o", str(out), "--figure", str(figure)])
    assert done.value.code == 0
    told = capsys.readouterr().out
    n = items_needed(Plan(models=12, knowledge_gap=0.3))
    assert f"paired {n:.0f} CS and {n:.0f} CA items" in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80
    assert figure.read_text().startswith("<?xml")
    assert out.read_text().count("\n") == 31
    for bad in (["--power", "2"], ["--at-items", "0"], ["--figure", "f.bmp"], ["--replicates", "-1"]):
        with pytest.raises(SystemExit) as refused:
            main(["power", *bad])
        assert refused.value.code == 2


def test_the_command_takes_a_result(tmp_path, capsys):
    fit = maskedadv.fit(global_mmlu_lite(), locale="sw", estimator="marginal", guessing="none")
    fit.save(tmp_path / "r")
    with pytest.raises(SystemExit):
        main(["power", str(tmp_path / "r"), "--json", "--variant", "paired"])
    found = json.loads(capsys.readouterr().out)
    assert found["needed"]["paired"]["with_ratio"] == items_needed(
        Plan(models=6, items_ca=200, items_cs=200), result=fit
    )
    with pytest.raises(SystemExit) as refused:
        main(["power", str(tmp_path / "r"), "--ability", "1"])
    assert refused.value.code == 2
    assert "result's own" in capsys.readouterr().err


def test_studies_without_a_finite_gap_warn_of_nothing():
    plan = Plan(models=3, items_ca=5, items_cs=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = power_table(plan, items=[5], replicates=4)
    assert found["studies"].max() <= 4


def test_a_result_without_paired_gaps_gives_the_power_of_plain_ones(tmp_path, capsys):
    fit = maskedadv.fit(table(4, (30, 30), seed=3), min_accuracy=0, variants="none")
    with pytest.raises(BadSetting, match="variant must be one of plain"):
        items_needed(variant="paired", result=fit)
    with pytest.raises(SystemExit) as left:
        main(["power", str(fit.save(tmp_path / "out")), "--json"])
    assert left.value.code == 0
    assert [*json.loads(capsys.readouterr().out)["needed"]] == ["plain"]
