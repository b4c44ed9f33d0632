"""`maskedadv fit-check`: references that hold, what strays, dimensions, files and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.assumptions import FitCheck, fit_check, load_fit_check
from maskedadv.cli.main import main
from maskedadv.errors import BadSetting, OutputExists, WrongResponse
from tests.simulate import answer_rows, expit, table

FAST = {"replicates": 40, "min_accuracy": 0.0}


def two_subsets(models: int, items: int, *, apart: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """A Rasch table whose CS abilities differ from CA's by `apart` (sd) beyond what they share."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal(models)
    parts = []
    for subset in ("CA", "CS"):
        ability = 0.4 + shared + apart * rng.standard_normal(models)
        b = rng.standard_normal(items)
        for language, shift in (("en", 0.0), ("zh", -0.5)):
            right = rng.random((models, items)) < expit(ability[:, None] + shift - b)
            parts.append(answer_rows(right, subset, language))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def found() -> FitCheck:
    return fit_check(two_subsets(12, 100, seed=1), **FAST)


def test_references_hold_where_the_model_does() -> None:
    """p of items and of cells are below .05 as often as they say, over tables of a Rasch model."""
    items, cells, flagged = [], [], 0
    for seed in range(3):
        one = fit_check(two_subsets(10, 80, seed=seed), seed=seed, replicates=100, min_accuracy=0.0)
        for name in ("infit_p", "outfit_p"):
            items += list(one.items[name].dropna() < 0.05)
            cells += list(one.cells[name].dropna() < 0.05)
        flagged += int(one.items["flagged"].sum() + one.cells["flagged"].sum())
    # infit and outfit of one item go together, and p moves in steps: half the numbers count
    assert np.mean(items) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / (len(items) / 2))
    assert np.mean(items) > 0.02
    assert np.mean(cells) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / (len(cells) / 2))
    assert np.mean(cells) > 0.01
    assert flagged <= 4


def test_mean_of_mean_squares_is_one(found: FitCheck) -> None:
    assert found.cells["infit"].mean() == pytest.approx(1.0, abs=0.05)


def test_what_strays_is_found() -> None:
    """An item whose key is turned round is noisy, and so is a model that guesses."""
    responses = two_subsets(12, 250, seed=2)
    turned = (responses["item"] == "CA5") & (responses["subset"] == "CA")
    responses.loc[turned, "correct"] = 1 - responses.loc[turned, "correct"]
    rng = np.random.default_rng(3)
    guesses = (responses["model"] == "m03") & (responses["language"] == "en")
    responses.loc[guesses, "correct"] = (rng.random(int(guesses.sum())) < 0.6).astype(int)
    found = fit_check(responses, replicates=150, min_accuracy=0.0)
    item = found.items.set_index("item").loc["CA5"]
    assert item["infit"] > 1.2
    assert item["infit_p"] < 0.01
    cell = found.cells.set_index(["subset", "model", "language"])
    for subset in ("CA", "CS"):
        row = cell.loc[(subset, "m03", "en")]
        assert row["infit"] > 1.1
        assert row["flagged"]
    assert found.cells["flagged"].sum() <= 4


def test_discriminations_show_in_andersens_test_by_difficulty() -> None:
    """Items of half the discrimination among the hard ones: models stand nearer to each other there."""
    rng = np.random.default_rng(5)
    ability = 1.5 * rng.standard_normal(10)
    b = np.linspace(-2, 2, 200)
    slope = np.where(b > 0, 0.35, 1.4)
    parts = []
    for subset in ("CA", "CS"):
        for language in ("en", "zh"):
            right = rng.random((10, 200)) < expit(slope * (ability[:, None] - b))
            j, i = np.indices(right.shape)
            parts.append(
                pd.DataFrame(
                    {
                        "model": [f"m{k}" for k in j.ravel()],
                        "subset": subset,
                        "language": language,
                        "item": [f"{subset}{k}" for k in i.ravel()],
                        "correct": right.ravel().astype(int),
                    }
                )
            )
    found = fit_check(pd.concat(parts, ignore_index=True), **FAST)
    tests = found.andersen[found.andersen["split"] == "items"]
    assert (tests["p"] < 0.001).all()


def test_one_dimension_and_two(found: FitCheck) -> None:
    one = found.dimensions
    assert (one["p"] > 0.01).all()
    assert one["corrected"].mean() == pytest.approx(1.0, abs=0.12)
    two = fit_check(two_subsets(20, 200, apart=1.0, seed=4), **FAST).dimensions
    assert (two["p"] < 0.01).all()
    # both share a trait of variance 1 out of 2
    assert two["corrected"].mean() == pytest.approx(0.5, abs=0.3)
    assert (two["correlation"].abs() < two["corrected"].abs()).all()


def test_families_are_compared_with_the_others(found: FitCheck) -> None:
    families = {f"m{k:02d}": "abc"[k % 3] for k in range(12)}
    one = fit_check(two_subsets(12, 100, seed=1), families=families, **FAST)
    assert list(one.andersen.loc[one.andersen["split"] == "family", "groups"].unique()) == [
        f"{name} against others" for name in "abc"
    ]
    pd.testing.assert_frame_equal(one.items, found.items)  # nothing else moves


def test_cells_at_the_edge_and_single_models() -> None:
    responses = table(1, (20, 20))
    one = fit_check(responses, **FAST)
    assert one.cells["ability"].notna().all()
    assert one.dimensions["reason"].str.contains("needs").all()
    responses["correct"] = 1
    edge = fit_check(responses, **FAST)
    assert edge.cells["infit"].isna().all()
    assert not edge.items["flagged"].any()


def test_holes(found: FitCheck) -> None:
    responses = two_subsets(12, 100, seed=1)
    rng = np.random.default_rng(7)
    one = fit_check(responses[rng.random(len(responses)) > 0.1], **FAST)
    assert one.cells["infit"].notna().all()
    both = one.cells.merge(found.cells, on=["locale", "subset", "model", "language"])
    assert np.corrcoef(both["ability_x"], both["ability_y"])[0, 1] > 0.97


def test_abilities_are_those_of_the_marginal_fit(found: FitCheck) -> None:
    fit = maskedadv.fit(two_subsets(12, 100, seed=1), estimator="marginal", min_accuracy=0.0, variants="none")
    mean = found.cells.groupby(["subset", "language"])["ability"].mean()
    gap = {s: mean[(s, "zh")] - mean[(s, "en")] for s in ("CA", "CS")}
    means = fit.means().set_index("gap")["estimate"]
    assert gap["CA"] == pytest.approx(means["global_gap"], abs=0.02)
    assert gap["CS"] == pytest.approx(means["local_gap"], abs=0.02)


def test_saved_and_loaded(found: FitCheck, tmp_path: Path) -> None:
    again = load_fit_check(found.save(tmp_path / "out"))
    for name in ("items", "cells", "blocks", "andersen", "dimensions"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(found, name), check_dtype=False)
    assert (again.notes, again.data) == (found.notes, found.data)
    other = fit_check(two_subsets(4, 20, seed=9), **FAST)
    with pytest.raises(OutputExists):
        other.save(tmp_path / "out")


def test_refusals() -> None:
    with pytest.raises(BadSetting, match="replicates"):
        fit_check(table(2, (6, 6)), replicates=1)
    with pytest.raises(WrongResponse, match="leave out response"):
        fit_check(table(2, (6, 6)), response="soft")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    responses, out, models = tmp_path / "r.csv", tmp_path / "out", tmp_path / "models.csv"
    two_subsets(6, 40).to_csv(responses, index=False)
    facts = pd.DataFrame({"model": [f"m{k:02d}" for k in range(6)], "family": list("aaabbb")})
    facts.to_csv(models, index=False)
    common = ["fit-check", str(responses), "--min-accuracy", "0", "--replicates", "40"]
    with pytest.raises(SystemExit) as left:
        main([*common, "-o", str(out), "--models", str(models)])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "a against others" in text
    assert {p.name for p in out.iterdir()} >= {"fit-check.json", "items.csv", "cells.csv", "andersen.csv"}
    with pytest.raises(SystemExit):
        main([*common, "--json"])
    parsed = json.loads(capsys.readouterr().out)
    assert len(parsed["blocks"]) == 2
    models.write_text("model\nm00\n", "utf-8")
    with pytest.raises(SystemExit) as left:
        main([*common, "--models", str(models)])
    assert left.value.code == 2
    assert "family" in capsys.readouterr().err


def test_an_output_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    responses, out = tmp_path / "r.csv", tmp_path / "out"
    two_subsets(4, 10).to_csv(responses, index=False)
    common = ["fit-check", str(responses), "--min-accuracy", "0", "--replicates", "20", "-o", str(out)]
    with pytest.raises(SystemExit) as left:
        main(common)
    assert left.value.code == 0
    capsys.readouterr()

    def work(*_: object, **__: object) -> None:
        raise AssertionError("worked before it refused")

    monkeypatch.setattr("maskedadv.assumptions.model_fit.fit_block", work)
    with pytest.raises(SystemExit) as left:
        main([*common, "--seed", "7"])
    assert left.value.code == 2
    assert "--overwrite" in capsys.readouterr().err
    with pytest.raises(AssertionError):  # the same run may be written again, so it works
        main(common)


def test_models_without_a_family_are_told() -> None:
    responses = two_subsets(4, 10)
    some = fit_check(responses, families={"m00": "a", "m01": "b"}, **FAST)
    assert any("no family is known of 2 models (m02, m03)" in note for note in some.notes)
    one = fit_check(responses, families={"m00": "a"}, **FAST)
    assert any("no test by family" in note for note in one.notes)
    whole = fit_check(responses, families={"m00": "a", "m01": "a", "m02": "b", "m03": "b"}, **FAST)
    assert not any("family" in note for note in whole.notes)
