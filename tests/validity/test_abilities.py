"""Abilities of a cube as scores. The cube is built by hand, in the documented form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from maskedadv.errors import BadPairing, NotAResult
from maskedadv.validity import Settings, study
from maskedadv.validity.abilities import ability_scores, load_cubes
from maskedadv.validity.pairings import AbilitySource, Pairing, PairingFile

MODELS = [f"m{j:02d}" for j in range(24)]


def cube(seed: int = 1, noise: float = 0.1) -> xr.Dataset:
    """Two locales; CA and CS abilities of a model go together; CS levels are shifted by a constant."""
    rng = np.random.default_rng(seed)
    dims = ("locale", "model", "subset", "query")
    common = rng.normal(size=(2, 24, 1, 1))
    ability = common + 0.1 * rng.normal(size=(2, 24, 2, 2)) + np.array([0, 3.0])[:, None]
    return xr.Dataset(
        {
            "ability": (dims, ability),
            "ability_sd": (dims, np.full(ability.shape, noise)),
            "n_items": (dims, np.broadcast_to(np.array([300, 100])[:, None], ability.shape)),
        },
        coords={
            "locale": ["sv", "da"],
            "model": MODELS,
            "subset": ["CA", "CS"],
            "query": ["local", "pivot"],
            "language": (("locale", "query"), [["sv", "en"], ["da", "en"]]),
        },
    )


def save(folder: Path, data: xr.Dataset) -> Path:
    folder.mkdir(exist_ok=True)
    data.to_netcdf(folder / "cube.nc", engine="h5netcdf")
    return folder


def test_one_subset_or_both_as_a_benchmark(tmp_path: Path) -> None:
    data = cube()
    folder = save(tmp_path / "fit", data)
    sources = (("native", AbilitySource(folder, "CS")), ("both", AbilitySource(folder)))
    scores = ability_scores(sources, load_cubes(sources), "da")
    assert scores.known() == ["both@da", "both@en", "native@da", "native@en"]
    cs = data["ability"].sel(locale="da", subset="CS", query="local").to_numpy()
    ca = data["ability"].sel(locale="da", subset="CA", query="local").to_numpy()
    assert scores.of("native", "da", "ALL")["score"].to_numpy() == pytest.approx(cs)
    assert scores.of("both", "da", "CA")["score"].to_numpy() == pytest.approx(ca)
    pooled = scores.of("both", "da", "ALL")
    assert pooled["score"].to_numpy() == pytest.approx(0.75 * ca + 0.25 * cs)
    assert pooled["sd"].to_numpy() == pytest.approx(np.full(24, 0.1 * np.hypot(0.75, 0.25)))
    assert scores.n_items("both", "da", "ALL") == 400
    assert scores.of("native", "da", "CS").empty


def test_the_pivot_is_taken_from_the_pairings_own_locale(tmp_path: Path) -> None:
    data = cube()
    sources = (("b", AbilitySource(save(tmp_path / "fit", data), "CA")),)
    scores = ability_scores(sources, load_cubes(sources), "da")
    expected = data["ability"].sel(locale="da", subset="CA", query="pivot").to_numpy()
    assert scores.of("b", "en", "ALL")["score"].to_numpy() == pytest.approx(expected)


def test_infinite_and_missing_abilities_count_as_absent(tmp_path: Path) -> None:
    data = cube()
    data["ability"][1, 0, 1, 0] = np.inf
    data["ability"][1, 1, 1, 0] = np.nan
    sources = (("b", AbilitySource(save(tmp_path / "fit", data), "CS")),)
    scores = ability_scores(sources, load_cubes(sources), "da")
    assert set(MODELS) - set(scores.of("b", "da", "ALL").index) == {"m00", "m01"}
    assert "1 models have an infinite ability" in scores.notes[0]


def plan(folder: Path) -> PairingFile:
    return PairingFile(
        (Pairing("P", "da", "native", "proxy", ("log(parameters)",)),),
        abilities=(("native", AbilitySource(folder, "CS")), ("proxy", AbilitySource(folder, "CA"))),
    )


def model_table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    families = [f"f{j % 12}" for j in range(24)]
    return pd.DataFrame({"model": MODELS, "family": families, "parameters": np.exp(rng.normal(23, 1, 24))})


def test_a_study_of_abilities_needs_no_score_table(tmp_path: Path) -> None:
    result = study(
        plan(save(tmp_path / "fit", cube())), models=model_table(), settings=Settings(scores="ability")
    )
    row = result.evidence.iloc[0]
    assert row["evidence"] == "robust"
    assert row["beta_lower"] < 1 < row["beta_upper"]
    ranking = result.ranking.set_index("group")
    assert np.isfinite(ranking.loc["ALL", "lower"])
    assert ranking.loc["CS", "reason"].startswith("the native benchmark native has no CS scores")


def test_standard_errors_widen_the_intervals_and_move_them_off_the_attenuation(tmp_path: Path) -> None:
    def interval(noise: float) -> pd.Series:
        folder = save(tmp_path / f"fit{noise}", cube(noise=noise))
        result = study(
            plan(folder), models=model_table(), settings=Settings(scores="ability", n_resamples=4000)
        )
        return result.incremental.iloc[0]

    exact, noisy = interval(1e-9), interval(0.3)
    assert noisy["beta"] == pytest.approx(exact["beta"])
    assert noisy["beta_upper"] - noisy["beta_lower"] > 1.5 * (exact["beta_upper"] - exact["beta_lower"])
    # Noise in the proxy pulls the slope of every draw towards zero; the interval is centred above that.
    assert (noisy["beta_upper"] + noisy["beta_lower"]) / 2 > exact["beta"]


def test_a_constant_between_subsets_changes_no_result(tmp_path: Path) -> None:
    settings = Settings(scores="ability", n_resamples=200)
    shifted = cube()
    shifted["ability"] = shifted["ability"] + xr.DataArray([0.0, -7.0], dims="subset")
    pairing = (Pairing("P", "da", "native", "proxy", ("log(parameters)",)),)
    results = []
    for name, data in (("a", cube()), ("b", shifted)):
        folder, other = save(tmp_path / name, data), save(tmp_path / f"{name}2", cube(seed=1))
        sources = (("native", AbilitySource(folder)), ("proxy", AbilitySource(other, "CA")))
        results.append(
            study(PairingFile(pairing, abilities=sources), models=model_table(), settings=settings)
        )
    columns = ["delta_r2", "beta", "p_f", "beta_lower"]
    first, second = (result.incremental[columns].iloc[:1] for result in results)
    pd.testing.assert_frame_equal(first, second)


def test_refusals(tmp_path: Path) -> None:
    settings = Settings(scores="ability")
    with pytest.raises(NotAResult, match=r"no readable cube\.nc"):
        study(plan(tmp_path / "nowhere"), models=model_table(), settings=settings)
    folder = save(tmp_path / "fit", cube().drop_vars("ability_sd"))
    with pytest.raises(NotAResult, match="lacks ability_sd"):
        study(plan(folder), models=model_table(), settings=settings)
    with pytest.raises(NotAResult, match="coordinate language"):
        study(
            plan(save(tmp_path / "b", cube().drop_vars("language"))), models=model_table(), settings=settings
        )
    lacking = PairingFile(plan(folder).pairings, abilities=plan(folder).abilities[:1])
    with pytest.raises(BadPairing, match=r"\[abilities\.proxy\]"):
        study(lacking, models=model_table(), settings=settings)
    with pytest.raises(BadPairing, match="abilities"):
        study(PairingFile(plan(folder).pairings), models=model_table(), settings=settings)
