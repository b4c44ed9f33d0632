"""Gaps from accuracies: published groups, quadrature, simulation with coverage, and refusals."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

import maskedadv.published_accuracies.gaps
from maskedadv.cli.main import main
from maskedadv.datasets import DATA, bertaqa
from maskedadv.errors import (
    BadSetting,
    BadValue,
    DuplicateRows,
    MissingColumn,
    MissingId,
    NoSharedItem,
    PivotMissing,
    UnknownLocale,
    UnknownSubset,
)
from maskedadv.published_accuracies.gaps import ability_from_accuracy, gaps_from_accuracy


def table(**changes):
    """One model, one locale; changes per cell as CA_en=0.9."""
    accuracy = {"CA_en": 0.8, "CA_eu": 0.6, "CS_en": 0.5, "CS_eu": 0.55} | changes
    rows = [
        {"model": "m", "subset": k[:2], "language": k[3:], "accuracy": p, "n_items": 400}
        for k, p in accuracy.items()
    ]
    return pd.DataFrame([row for row in rows if row["accuracy"] is not None])


def gaps(frame, **options):
    return gaps_from_accuracy(frame, **options).gaps.set_index("gap")


# --- the bundled figures ------------------------------------------------------------------------


def test_bundled_figures_are_the_printed_ones():
    frame = bertaqa()
    assert frame.columns.tolist() == ["model", "subset", "language", "accuracy", "n_items", "n_options"]
    assert frame["model"].nunique() == 30
    assert len(frame) == 120
    cell = frame.set_index(["model", "subset", "language"])
    assert cell.loc[("GPT4", "CS", "eu"), "accuracy"] == pytest.approx(0.6294)
    assert cell.loc[("latxa-70b-v1.1", "CA", "en"), ["accuracy", "n_items"]].tolist() == pytest.approx(
        [0.7362, 2392]
    )
    assert not frame.duplicated(["model", "subset", "language"]).any()
    with (DATA / "bertaqa_published_accuracy.csv").open(encoding="utf-8") as file:
        printed = {(row["model"], row["lang"]): row for row in csv.DictReader(file)}
    for (model, subset, language), row in cell.iterrows():
        column = {"CS": "acc_local_pct", "CA": "acc_global_pct"}[subset]
        assert row["accuracy"] == pytest.approx(float(printed[model, language][column]) / 100)


@pytest.mark.parametrize("version", ["v1", "v1.1"])
@pytest.mark.parametrize("size", ["7b", "13b", "70b"])
def test_basque_models_gain_on_both_gaps_at_every_size(size, version):
    found = gaps_from_accuracy(bertaqa()).gaps.set_index(["model", "gap"])
    for gap in ("local_gap", "global_gap"):
        adapted, base = found.loc[(f"latxa-{size}-{version}", gap)], found.loc[(f"Llama-2-{size}", gap)]
        assert adapted["estimate"] > base["estimate"] + 2 * math.hypot(adapted["sd"], base["sd"])


def test_llama_2_in_basque_is_at_chance():
    cells = gaps_from_accuracy(bertaqa()).cells.set_index(["model", "subset", "language"])
    marked = cells.index[cells["near_chance"]].tolist()
    assert ("Llama-2-7b", "CS", "eu") in marked
    assert ("Llama-2-13b", "CS", "eu") in marked
    assert ("Llama-2-70b", "CS", "eu") not in marked  # 37.39%, four standard errors above a third
    assert ("Gemma [slot 7]", "CS", "eu") in marked  # below chance
    assert all("Llama-2" in m or "Bloom" in m or "Gemma" in m for m, _, _ in marked)
    # The marked cells are those that a plain binomial test would not tell from chance either.
    threshold = 1 / 3 + 2 * np.sqrt(2 / 9 / cells["n_items"])
    assert (cells["near_chance"] == (cells["accuracy"] <= threshold)).all()


def test_marks_need_the_number_of_options():
    frame = bertaqa().drop(columns="n_options")
    assert not gaps_from_accuracy(frame).cells["near_chance"].any()
    with_option = gaps_from_accuracy(frame, n_options=3)
    assert with_option.gaps.equals(gaps_from_accuracy(bertaqa()).gaps)
    note = with_option.gaps.set_index(["model", "gap"]).loc[("Llama-2-7b", "local_gap"), "note"]
    assert note == "at chance: CS eu"


# --- identities ---------------------------------------------------------------------------------


def test_gaps_are_differences_of_logits():
    found = gaps(table())
    assert found.loc["global_gap", "estimate"] == pytest.approx(logit(0.6) - logit(0.8))
    assert found.loc["local_gap", "estimate"] == pytest.approx(logit(0.55) - logit(0.5))
    difference = found.loc["local_gap", "estimate"] - found.loc["global_gap", "estimate"]
    assert found.loc["knowledge_gap", "estimate"] == pytest.approx(difference)
    variance = sum(1 / (400 * p * (1 - p)) for p in (0.8, 0.6, 0.5, 0.55))
    assert found.loc["knowledge_gap", "sd"] == pytest.approx(math.sqrt(variance))
    half = norm.ppf(0.975) * found["sd"]
    assert found["upper"].tolist() == pytest.approx((found["estimate"] + half).tolist())
    assert found["lower"].tolist() == pytest.approx((found["estimate"] - half).tolist())
    assert found["p_positive"].tolist() == pytest.approx(norm.cdf(found["estimate"] / found["sd"]).tolist())


@pytest.mark.parametrize("spread", [0.0, 0.25, 1.0, 2.0, 3.0])
def test_ability_gives_back_the_accuracy(spread):
    p = np.array([1e-4, 0.03, 0.25, 0.5, 0.7, 0.99, 0.9999])
    theta = ability_from_accuracy(p, spread)
    for ability, target in zip(theta, p, strict=True):

        def integrand(b, ability=ability):
            return expit(ability - b) * norm.pdf(b, scale=spread)

        mean = (
            expit(ability)
            if spread == 0
            else quad(integrand, -12 * spread, 12 * spread, epsabs=1e-12, limit=400)[0]
        )
        assert mean == pytest.approx(target, rel=1e-6)
    assert theta[3] == pytest.approx(0, abs=1e-9)
    assert (np.diff(theta) > 0).all()


def test_band_encloses_the_estimate_and_grows_with_the_spread():
    found = gaps(table())
    widest = ability_from_accuracy(np.array([0.6, 0.8]), 3.0)
    assert found.loc["global_gap", "band_low"] == pytest.approx(widest[0] - widest[1])
    assert found.loc["global_gap", "band_high"] == pytest.approx(found.loc["global_gap", "estimate"])
    assert (found["band_low"] <= found["estimate"]).all()
    assert (found["estimate"] <= found["band_high"]).all()


def simulate(rng, models, n, sd, *, same_items):
    """Accuracies of models of one ability: CA 1.2/0.4, CS 0.3/0.6 in en/eu; items of normal difficulty."""
    cells = []
    for subset, (en, eu) in {"CA": (1.2, 0.4), "CS": (0.3, 0.6)}.items():
        b = rng.normal(0, sd, (models, n))
        for language, theta in (("en", en), ("eu", eu)):
            b = b if same_items else rng.normal(0, sd, (models, n))
            right = rng.random((models, n)) < expit(theta - b)
            names = [f"m{k}" for k in range(models)]
            cell = {"model": names, "subset": subset, "language": language, "accuracy": right.mean(axis=1)}
            cells.append(pd.DataFrame(cell | {"n_items": n}))
    return pd.concat(cells, ignore_index=True)


def covered(frame, gap, value):
    rows = gaps_from_accuracy(frame).gaps.set_index("gap").loc[gap]
    return ((rows["lower"] <= value) & (value <= rows["upper"])).mean()


def test_coverage_of_simulated_gaps():
    """Items of one difficulty: 95% intervals cover as often as they say; shared, varied items: more often."""
    rng = np.random.default_rng(7)
    frame = simulate(rng, 1000, 400, 0.0, same_items=False)
    for gap, value in {"global_gap": -0.8, "local_gap": 0.3, "knowledge_gap": 1.1}.items():
        assert 0.93 < covered(frame, gap, value) < 0.97  # 1,000 trials: standard error 0.007
    # The same items in both languages, difficulties of sd 1.5: around the attenuated gap that accuracies
    # converge to, intervals are too wide.
    nodes = rng.normal(0, 1.5, 400_000)
    attenuated = logit(expit(0.4 - nodes).mean()) - logit(expit(1.2 - nodes).mean())
    assert -0.8 < attenuated < -0.55
    assert covered(simulate(rng, 1000, 400, 1.5, same_items=True), "global_gap", attenuated) > 0.97


def test_the_band_at_the_true_spread_recovers_the_gap():
    rng = np.random.default_rng(3)
    accuracy = simulate(rng, 1, 200_000, 1.5, same_items=True)["accuracy"].to_numpy()
    theta = ability_from_accuracy(accuracy, 1.5)
    assert theta == pytest.approx([1.2, 0.4, 0.3, 0.6], abs=0.02)


# --- degenerate and wrong input -----------------------------------------------------------------


def test_accuracies_of_0_and_1_stay_infinite():
    found = gaps(table(CA_en=1.0, CS_eu=0.0))
    assert found.loc["global_gap", "estimate"] == -math.inf
    assert found.loc["local_gap", "estimate"] == -math.inf
    assert math.isnan(found.loc["knowledge_gap", "estimate"])
    assert found["sd"].isna().all()
    assert found.loc["global_gap", "note"] == "accuracy 0 or 1: CA en"


def test_missing_cells_give_the_gaps_that_are_left():
    found = gaps(table(CS_en=None))
    assert np.isfinite(found.loc["global_gap", "estimate"])
    assert math.isnan(found.loc["local_gap", "estimate"])
    assert found.loc["local_gap", "note"] == "no CS en"
    with pytest.raises(NoSharedItem):
        gaps(table(CS_en=None, CA_en=0.5, CA_eu=None))


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (table(CA_en=62.0), BadValue, r"1 values .*row 1: '62'.*|--percent"),
        (table(CA_en=-0.1), BadValue, "-0.1"),
        (table().assign(n_items=0), BadValue, "4 values are not a number of items"),
        (table().assign(accuracy=["0.5", "", "NA", "0.5"]), BadValue, "'NA'"),
        (table().assign(accuracy=["0.5", "", "0.4", "0.5"]), BadValue, r"1 cells are empty \(row 2"),
        (table().assign(subset="local"), UnknownSubset, "4 subsets are neither CA nor CS"),
        (table().assign(language="en"), DuplicateRows, "2 rows repeat"),
        (table().assign(model=""), MissingId, "4 ids are empty"),
        (table().drop(columns="n_items"), MissingColumn, "'n_items'"),
        (table().replace({"en": "fr"}), PivotMissing, "'en'"),
    ],
)
def test_tables_that_are_wrong(frame, error, message):
    with pytest.raises(error, match=message):
        gaps(frame)


def test_settings_that_are_wrong():
    with pytest.raises(UnknownLocale, match="'fr'"):
        gaps(table(), locale=["fr"])
    with pytest.raises(UnknownLocale):
        gaps(table(), locale=["en"])
    for options in ({"level": 0.0}, {"level": 95}, {"n_options": 1}):
        with pytest.raises(BadSetting):
            gaps(table(), **options)
    with pytest.raises(BadValue, match="shares, not percentages; leave out --percent"):
        gaps(table(), percent=True)
    percent = table()
    percent["accuracy"] *= 100
    assert gaps(percent, percent=True)["estimate"].tolist() == pytest.approx(
        gaps(table())["estimate"].tolist()
    )


def test_ids_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    rows = [
        f"{model},{subset},{language},0.5,10"
        for model in ("001", "NA")
        for subset in ("CA", "CS")
        for language in ("en", "no")
    ]
    path.write_text("model,subset,language,accuracy,n_items\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = gaps_from_accuracy(path).gaps
    assert set(found["model"]) == {"001", "NA"}
    assert set(found["locale"]) == {"no"}


# --- the command --------------------------------------------------------------------------------


def call(capsys, *arguments):
    code = 0
    try:
        main(["from-accuracy", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code or 0
    out, err = capsys.readouterr()
    return code, out, err


def test_command_on_the_bundled_figures(capsys, tmp_path):
    code, out, _ = call(capsys, "bertaqa", "-o", tmp_path / "gaps.csv")
    assert code == 0
    assert "APPROXIMATE" in out
    assert max(map(len, out.splitlines())) <= 80
    assert any(line.split()[:3] == ["latxa-7b-v1", "global", "-0.25"] for line in out.splitlines())
    assert any(
        line.startswith("Llama-2-7b") and " local " in line and line.endswith("*")
        for line in out.splitlines()
    )
    written = pd.read_csv(tmp_path / "gaps.csv")
    assert len(written) == 90
    assert [p.name for p in tmp_path.iterdir()] == ["gaps.csv"]


def test_command_on_a_table_of_several_locales(capsys, tmp_path):
    frame = pd.concat([table(), table().replace({"eu": "ca"}).query("language == 'ca'")])
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, _ = call(capsys, tmp_path / "t.csv", "--options", "2", "--json")
    assert code == 0
    data = json.loads(out)
    assert data["method"].startswith("approximate")
    assert {row["locale"] for row in data["gaps"]} == {"ca", "eu"}
    assert {row["note"] for row in data["gaps"]} == {"", "at chance: CS eu, CS en", "at chance: CS ca, CS en"}
    code, out, _ = call(capsys, tmp_path / "t.csv")
    assert out.splitlines()[2].split()[:3] == ["locale", "model", "gap"]


def test_command_refuses_with_a_sentence(capsys, tmp_path):
    for arguments in (["none.csv"], ["bertaqa", "--model", "nobody"], ["bertaqa", "--pivot", "fr"]):
        code, out, err = call(capsys, *arguments)
        assert code == 2
        assert err.startswith("Error: ")
        assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_no_heavy_import():
    source = Path(maskedadv.published_accuracies.gaps.__file__).read_text(encoding="utf-8")
    assert "arviz" not in source
    assert "scoring" not in source
