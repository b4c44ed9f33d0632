"""Simulated tables: their shares are those of the plan, their truth is theirs, results are imitated."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit

import maskedadv
from maskedadv.cli.main import main
from maskedadv.datasets import global_mmlu_lite, truthfulqa_multi
from maskedadv.errors import BadSetting, OutputExists
from maskedadv.simulation import Plan, simulate
from maskedadv.simulation.likeness import plan_of_fit


def mean_share(level: float, sd: float, slope: float, chance: float) -> float:
    """Expected share of right answers at an ability, by quadrature."""
    z, w = hermegauss(61)
    return float((chance + (1 - chance) * expit(slope * (level - sd * z))) @ w / w.sum())


def test_shares_of_right_answers_are_those_of_the_model():
    plan = Plan(
        models=2, items_ca=40_000, items_cs=40_000, ability_sd=0, harder=0.5, discrimination_cs=0.6,
        options=4, global_gap=-0.8, knowledge_gap=0.4, pair_sd_ca=0.7, family_sd=0.5,
    )  # fmt: skip
    share = simulate(plan).responses.groupby(["subset", "language"])["correct"].mean()
    spread_ca, spread_cs = np.sqrt(1.2**2 + 0.7**2 + 0.5**2), np.sqrt(1.2**2 + 0.5**2)
    expected = {
        ("CA", "en"): mean_share(1.0, spread_ca, 1.0, 0.25),
        ("CA", "zh"): mean_share(0.2, spread_ca, 1.0, 0.25),
        ("CS", "en"): mean_share(0.5, spread_cs, 0.6, 0.25),
        ("CS", "zh"): mean_share(0.1, spread_cs, 0.6, 0.25),
    }
    for cell, p in expected.items():  # two answers to an item, at most wholly alike
        assert abs(share[cell] - p) < 4 * np.sqrt(p * (1 - p) / 40_000), cell


def test_truth_is_the_contrast_of_the_cells_and_spreads_as_planned():
    made = simulate(models=4000, items_ca=1, items_cs=1, gap_sd=0.3, locale=("zh", "fr"))
    cells = made.cells.pivot_table("ability", "model", ["subset", "language"])
    for locale in ("zh", "fr"):
        truth = made.truth[made.truth["locale"] == locale].pivot_table("truth", "model", "gap")
        overall = cells["CA"][locale] - cells["CA"]["en"]
        local = cells["CS"][locale] - cells["CS"]["en"]
        np.testing.assert_allclose(truth["global_gap"], overall.loc[truth.index], atol=1e-9)
        np.testing.assert_allclose(truth["knowledge_gap"], (local - overall).loc[truth.index], atol=1e-9)
        for gap, mean in (("global_gap", -1.0), ("knowledge_gap", 0.3)):
            assert abs(truth[gap].mean() - mean) < 4 * 0.3 / np.sqrt(4000)
            assert abs(truth[gap].std() - 0.3) < 4 * 0.3 / np.sqrt(8000)


def test_missing_answers_dif_and_own_items_of_locales():
    made = simulate(
        models=20, items_ca=500, items_cs=300, locale=("zh", "fr"), missing=0.2, dif_share=0.25, dif_size=0.7
    )
    asked = 20 * (3 * 500 + 4 * 300)  # English is asked the items of both
    assert abs(len(made.responses) / asked - 0.8) < 4 * np.sqrt(0.16 / asked)
    items = made.items
    assert (items.loc[items["language"] == "en", "dif"] == 0).all()
    local = items[items["language"] != "en"]
    assert set(local["dif"]) == {0.0, 0.7, -0.7}
    assert abs((local["dif"] != 0).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(local))
    zh, fr = (
        set(items.loc[(items["language"] == k) & (items["subset"] == "CS"), "item"]) for k in ("zh", "fr")
    )
    assert len(zh) == len(fr) == 300
    assert not zh & fr


def test_relatives_know_the_same_single_items():
    made = simulate(
        models=8, families=2, family_sd=2.0, items_ca=4000, items_cs=1, ability_sd=0, difficulty_sd=0
    )
    table = made.responses.query("subset == 'CA' and language == 'en'")
    right = table.pivot_table("correct", "item", "model").corr()
    family = made.models.set_index("model")["family"]
    same = np.equal.outer(family.to_numpy(), family.to_numpy())
    between = right.to_numpy()[~same]
    within = right.to_numpy()[same & ~np.eye(8, dtype=bool)]
    assert within.min() > 0.3
    assert np.abs(between).max() < 4 / np.sqrt(4000)


def test_a_seed_gives_the_same_table_and_another_one_another():
    one, same, other = (simulate(models=3, items_ca=30, items_cs=30, seed=s).responses for s in (5, 5, 6))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)


def test_a_fit_of_a_simulation_covers_its_truth():
    """Means of 40 seeds: 95% intervals hold the truth at least as often as the 0.1% point of the binomial."""
    hits = 0
    for seed in range(40):
        made = simulate(models=5, items_ca=120, items_cs=120, seed=seed)
        fit = maskedadv.fit(made.responses, estimator="marginal", min_accuracy=0, variants="none")
        row = fit.means(gap="knowledge_gap").iloc[0]
        hits += row["lower"] <= 0.3 <= row["upper"]
    assert hits >= 33


@pytest.fixture(scope="module")
def outcomes() -> maskedadv.Fit:
    return maskedadv.fit(global_mmlu_lite(), locale=["sw", "de"], estimator="marginal", guessing="none")


def test_a_likeness_has_the_accuracies_items_and_gaps_of_its_result(outcomes):
    made = simulate(result=outcomes, seed=2)
    real = global_mmlu_lite().query("language in ('sw', 'de', 'en')")
    keys = ["model", "subset", "language"]
    assert set(made.responses["item"]) == set(real["item"])
    shares = (t.groupby(keys)["correct"].mean() for t in (made.responses, real))
    both = pd.concat(shares, axis=1, keys=["made", "real"])
    error = np.sqrt(2 * both["real"] * (1 - both["real"]) / 200)
    assert (np.abs(both["made"] - both["real"]) < 4 * error).all()
    truth = made.truth.set_index(["locale", "model", "gap"])["truth"]
    gaps = outcomes.gaps().set_index(["locale", "model", "gap"])["estimate"]
    np.testing.assert_allclose(truth.loc[gaps.index], gaps, atol=1e-9)
    difficulty = made.items.query("language == 'en'").set_index("item")["difficulty"]
    easy = real.query("language == 'en'").groupby("item")["correct"].mean()
    assert difficulty.corr(easy) < -0.5  # hard items stay hard


def test_a_likeness_without_a_knowledge_gap(outcomes):
    truth = simulate(result=outcomes, knowledge_gap=0.0).truth.pivot_table(
        index=["locale", "model"], columns="gap", values="truth"
    )
    assert np.abs(truth["knowledge_gap"]).max() < 1e-9
    np.testing.assert_allclose(truth["local_gap"], truth["global_gap"], atol=1e-9)


def test_a_likeness_misses_what_its_result_misses_and_serves_every_scope():
    table = truthfulqa_multi()
    fit = maskedadv.fit(table, scope="joint", min_accuracy=0, locale=["ca", "eu"])
    made = simulate(result=fit).responses
    keys = ["model", "language"]
    counts = (t.query("language in ('en', 'ca', 'eu')").groupby(keys).size() for t in (made, table))
    both = pd.concat(counts, axis=1, keys=["made", "real"])
    assert both.notna().all().all()  # a model that lacks a language lacks it here, too
    assert (np.abs(both["made"] - both["real"]) <= 4 * np.sqrt(both["real"])).all()


def test_what_is_a_results_own_is_refused_on_top_of_it(outcomes):
    with pytest.raises(BadSetting, match="models is the result's own"):
        simulate(result=outcomes, models=3)


def test_plain_numbers_of_a_result(outcomes):
    plan = plan_of_fit(outcomes)
    assert (plan.models, plan.items_ca, plan.items_cs, plan.pivot) == (6, 200, 200, "en")
    ability = outcomes.cube["ability"].sel(query="pivot")
    assert np.isclose(plan.ability, ability.sel(subset="CA").mean())
    assert np.isclose(plan.harder, float(ability.sel(subset="CA").mean() - ability.sel(subset="CS").mean()))
    sigma = [b["sigma"] for b in outcomes.info.blocks]
    assert np.isclose(plan.difficulty_sd, np.mean(sigma))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"models": 0}, "models must be a whole number from 1"),
        ({"missing": 1.0}, "missing must be from 0 to less than 1"),
        ({"dif_share": -0.1}, "dif_share must be"),
        ({"locale": ("en",)}, "languages that differ"),
        ({"locale": ("zh", "zh")}, "languages that differ"),
        ({"locale": ()}, "name at least one"),
        ({"families": 20}, "must not be more than models"),
        ({"options": 1}, "options must be a whole number"),
        ({"difficulty_sd": float("nan")}, "difficulty_sd must be"),
        ({"global_gap": float("inf")}, "global_gap must lie between"),
    ],
)
def test_numbers_outside_their_range_are_refused(numbers, message):
    with pytest.raises(BadSetting, match=message):
        simulate(**numbers)


def test_the_command_writes_a_whole_folder_that_can_be_fitted(tmp_path, capsys):
    out = tmp_path / "made"
    arguments = [
        "simulate",
        "-o",
        str(out),
        "--models",
        "4",
        "--items-ca",
        "40",
        "--items-cs",
        "40",
        "--seed",
        "9",
    ]
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 0
    told = capsys.readouterr().out
    assert "640 answers of 4 models" in told
    assert max(len(line.replace(str(tmp_path), "")) for line in told.splitlines()) <= 80
    again = simulate(models=4, items_ca=40, items_cs=40, seed=9)
    pd.testing.assert_frame_equal(pd.read_csv(out / "truth.csv"), again.truth, check_dtype=False)
    assert json.loads((out / "simulation.json").read_text())["plan"]["seed"] == 9
    fit = maskedadv.fit(out / "responses.csv", estimator="marginal", min_accuracy=0)
    assert fit.cube.sizes["model"] == 4
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    with pytest.raises(OutputExists):
        again.save(out)
    (out / "mine.txt").write_text("mine")
    again.save(out, overwrite=True)
    assert (out / "mine.txt").read_text() == "mine"


def test_a_table_that_no_memory_holds_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["simulate", "-o", str(tmp_path / "s"), "--models", "10000", "--items-ca", "1000000"])
    assert left.value.code == 2
    assert "20,000,000" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()
    with pytest.raises(SystemExit) as left:  # before any point is simulated
        main(["power", "--replicates", "5", "--at-items", "10", "--at-items", "900000", "--models", "20"])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "20,000,000" in said
    assert "study" not in said
