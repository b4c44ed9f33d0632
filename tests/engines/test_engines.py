"""Engines: same program, same names, same optimum; clear words where one is missing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maskedadv.engines import choose_engine
from maskedadv.engines.cmdstan import CmdStan, _executable, installed_version
from maskedadv.engines.embedded import Embedded, _compiled
from maskedadv.engines.stan_files import program_text, stan_folder
from maskedadv.errors import BadSetting, EngineFailed, EngineMissing
from maskedadv.likelihoods import integrated as marginal
from maskedadv.likelihoods import rasch as joint
from maskedadv.maximum_likelihood.integrated_optimum import Start
from maskedadv.maximum_likelihood.joint_optimum import stan_data
from maskedadv.maximum_likelihood.marginal import stan_data as marginal_data
from maskedadv.maximum_likelihood.stan_optimum import contrast_data
from tests.engines import fake_cmdstan


def joint_data(trials: np.ndarray, successes: np.ndarray) -> dict[str, object]:
    return stan_data(trials, successes) | contrast_data(np.array([[0, 1], [3, 2]]))


def _joint_problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    trials = rng.integers(1, 9, size=(5, 7)).astype(float)
    trials[0, 0] = 0.0
    eta = rng.normal(size=(5, 1)) - rng.normal(size=7)
    return trials, np.where(trials > 0, rng.binomial(trials.astype(int), 1 / (1 + np.exp(-eta))), 0).astype(
        float
    )


def _marginal_problem(
    seed: int = 0,
) -> tuple[dict[str, object], marginal.Margins, marginal.Nodes, np.ndarray, np.ndarray]:
    from maskedadv.design.collapse import group_rows

    rng = np.random.default_rng(seed)
    b = rng.normal(size=60)
    theta = np.array([-0.5, 0.2, 0.9, 1.4])
    answers = (rng.random((4, 60)) < 1 / (1 + np.exp(-(theta[:, None] - b)))).astype(float)
    answers[rng.random(answers.shape) < 0.1] = np.nan
    group = group_rows(answers.T)
    margins = marginal.find_margins(answers, group)
    nodes = marginal.make_nodes(-8.5, 8.5, 0.2)
    counts = np.bincount(group).astype(float)
    total = np.nansum(answers, axis=1)
    rough = Start(np.zeros(4), np.ones(4), 1.0, 1.0).data
    data = marginal_data(margins, nodes, counts, total) | rough | contrast_data(np.array([[0, 1]]))
    return data, margins, nodes, counts, total


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in CmdStan in a folder with a space in its path, and a fresh cache."""
    import cmdstanpy

    home = fake_cmdstan.install(tmp_path / "a folder")
    monkeypatch.setenv("CMDSTAN", str(home))
    monkeypatch.setenv("MASKEDADV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cmdstanpy.utils.cmdstan, "_DOT_CMDSTAN", str(tmp_path / "none"), raising=False)
    return home


def test_joint_gradient_equals_the_numpy_score() -> None:
    trials, successes = _joint_problem()
    rng = np.random.default_rng(1)
    ability, b = rng.normal(size=5), rng.normal(size=7)
    b -= b.mean()
    data = joint_data(trials, successes)
    at = {"ability": ability, "difficulty": b}
    density, gradient = Embedded().log_density("ml_joint", data, at)
    numpy_value = joint.log_likelihood(trials, successes.sum(axis=1), successes.sum(axis=0), ability, b)
    shifted = {"ability": ability + 0.3, "difficulty": b}
    other, _ = Embedded().log_density("ml_joint", data, shifted)
    numpy_other = joint.log_likelihood(trials, successes.sum(axis=1), successes.sum(axis=0), ability + 0.3, b)
    assert other - density == pytest.approx(numpy_other - numpy_value, abs=1e-9)
    p = 1 / (1 + np.exp(-(ability[:, None] - b)))
    np.testing.assert_allclose(gradient[:5], (successes - trials * p).sum(axis=1), atol=1e-10)


def test_marginal_gradient_equals_the_score_by_fishers_identity() -> None:
    data, margins, nodes, counts, total = _marginal_problem()
    ability, sigma = np.array([-0.3, 0.1, 0.8, 1.1]), 1.3
    at = {"ability": ability, "log_sigma": float(np.log(sigma))}
    density, gradient = Embedded().log_density("ml_marginal", data, at)
    now = marginal.expect(margins, nodes, counts, total, ability, sigma)
    np.testing.assert_allclose(gradient, marginal.score(now, counts, total), atol=1e-8)
    assert density == pytest.approx(now.log_likelihood, abs=1e-9)


def test_embedded_optimum_has_zero_score() -> None:
    trials, successes = _joint_problem()
    start = {"ability": np.zeros(5), "difficulty": np.zeros(7)}
    stop = Embedded().optimize("ml_joint", joint_data(trials, successes), start, seed=1)
    p = 1 / (1 + np.exp(-(stop.variables["ability"][:, None] - stop.variables["difficulty"])))
    assert np.abs((successes - trials * p).sum(axis=1)).max() < 1e-2
    assert stop.variables["difficulty"].sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.usefixtures("fake")
def test_cmdstan_engine_through_cmdstanpy_gives_the_same_optimum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, successes = _joint_problem()
    data = joint_data(trials, successes)
    start = {"ability": np.zeros(5), "difficulty": np.zeros(7)}
    ours = Embedded().optimize("ml_joint", data, start, seed=1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    engine = choose_engine("cmdstan")
    assert engine.version == "CmdStan 2.36"
    theirs = engine.optimize("ml_joint", data, start, seed=1)
    assert ours.variables.keys() == theirs.variables.keys()
    for name, value in ours.variables.items():
        # The stand-in climbs once, the embedded engine until it stays.
        np.testing.assert_allclose(theirs.variables[name], value, atol=1e-4)
        assert theirs.variables[name].shape == value.shape
    assert theirs.log_density == pytest.approx(ours.log_density)
    assert not list((tmp_path / "temporary").glob("maskedadv-*")), "output folders are removed"
    kept = list((tmp_path / "cache").rglob("ml_joint-*"))
    assert len(kept) == 1
    before = kept[0].stat().st_mtime_ns
    engine.optimize("ml_joint", data, start, seed=1)
    assert kept[0].stat().st_mtime_ns == before, "compiled once"
    assert not list(stan_folder().glob("*.hpp"))


@pytest.mark.usefixtures("fake")
def test_cmdstan_log_density_equals_embedded() -> None:
    data, *_ = _marginal_problem()
    at = {"ability": np.array([0.1, 0.2, 0.3, 0.4]), "log_sigma": 0.2}
    ours, theirs = (
        Embedded().log_density("ml_marginal", data, at),
        CmdStan().log_density("ml_marginal", data, at),
    )
    assert theirs[0] == pytest.approx(ours[0], abs=1e-8)
    np.testing.assert_allclose(theirs[1], ours[1], atol=1e-8)


@pytest.mark.usefixtures("fake")
def test_auto_takes_what_is_faster_of_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_engine("auto").name == "embedded"
    monkeypatch.setattr("maskedadv.engines.embedded.find_spec", lambda _: None)
    assert choose_engine("auto").name == "cmdstan"


def test_a_program_is_compiled_anew_for_another_patch_at_the_same_path(
    fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(_: str, text: str, kept: Path) -> None:
        assert text
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.touch()
        made.append(kept)

    made: list[Path] = []
    monkeypatch.setattr("maskedadv.engines.cmdstan._compile", compiled)
    for _ in range(2):
        _executable("ml_joint")
    assert len(made) == 1
    makefile = fake / "makefile"
    makefile.write_text(makefile.read_text().replace("2.36.0", "2.36.1"))
    assert _executable("ml_joint") == made[1] != made[0]


def test_an_old_cmdstan_is_refused_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMDSTAN", str(fake_cmdstan.install(tmp_path, version="2.30.1")))
    with pytest.raises(EngineMissing, match=r"2\.30 is too old.*install_cmdstan"):
        choose_engine("cmdstan")
    assert choose_engine("auto").name == "embedded"


def test_a_missing_cmdstan_names_the_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "nowhere"))
    with pytest.raises(EngineMissing, match="install_cmdstan"):
        choose_engine("cmdstan")


@pytest.mark.usefixtures("fake")
def test_a_failed_run_is_a_sentence() -> None:
    data = joint_data(*_joint_problem())
    data["cell"] = np.asarray(data["cell"]) * 100
    for engine in (Embedded(), CmdStan()):
        with pytest.raises(EngineFailed, match="ml_joint"):
            engine.optimize("ml_joint", data, {"ability": np.zeros(5), "difficulty": np.zeros(7)}, seed=1)


@pytest.mark.usefixtures("fake")
def test_an_unwritable_cache_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("MASKEDADV_CACHE", str(blocked))
    with pytest.raises(EngineMissing, match="MASKEDADV_CACHE"):
        CmdStan().optimize("ml_joint", joint_data(*_joint_problem()), {}, seed=1)


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(BadSetting, match="auto, embedded or cmdstan"):
        choose_engine("pystan")


def test_real_cmdstan_agrees() -> None:
    try:
        installed_version()
    except EngineMissing:
        pytest.skip("real CmdStan is not installed")
    trials, successes = _joint_problem()
    data = joint_data(trials, successes)
    start = {"ability": np.zeros(5), "difficulty": np.zeros(7)}
    ours, theirs = (e.optimize("ml_joint", data, start, seed=1) for e in (Embedded(), CmdStan()))
    for name, value in ours.variables.items():
        np.testing.assert_allclose(theirs.variables[name], value, atol=1e-3)
    at = {"ability": np.linspace(-1, 1, 5), "difficulty": np.linspace(-1, 1, 7)}
    a, b = (e.log_density("ml_joint", data, at) for e in (Embedded(), CmdStan()))
    np.testing.assert_allclose(a[1], b[1], atol=1e-8)


def test_programs_are_self_contained_and_their_includes_exist() -> None:
    for path in stan_folder().glob("*.stan"):
        assert "#include" not in program_text(path.stem)


def test_an_installed_wheel_finds_its_programs_read_only(tmp_path: Path) -> None:
    """The layout of an installed wheel: the programs inside the package, nothing writable."""
    root = Path(__file__).resolve().parents[2]
    target = tmp_path / "site packages" / "maskedadv"
    for source in (root / "maskedadv").rglob("*.py*"):
        copy = target / source.relative_to(root / "maskedadv")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in (".py", ".pyi"):
            copy.write_bytes(source.read_bytes())
    for source in stan_folder().rglob("*.stan"):
        copy = target / "stan" / source.relative_to(stan_folder())
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    for path in sorted(target.rglob("*"), reverse=True):
        path.chmod(stat.S_IREAD | stat.S_IRGRP | stat.S_IROTH | (stat.S_IXUSR if path.is_dir() else 0))
    code = (
        "import json, maskedadv, maskedadv.engines.stan_files as p;"
        "from maskedadv.engines.doctor import try_engines;"
        "works = {e.name: e.works for e in try_engines()}['embedded'];"
        "print(json.dumps([maskedadv.__file__, str(p.stan_folder()), works]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(target.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    module, folder, works = json.loads(done.stdout)
    assert module.startswith(str(target))
    assert folder == str(target / "stan")
    assert works


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_the_engine_moves_no_gap(estimator: str) -> None:
    """Newton's last steps take out what the optimisers' stopping rules leave."""
    import maskedadv
    from tests.simulate import table

    frame = table(3, (40, 40), missing=0.1, seed=2)
    fits = [
        maskedadv.fit(frame, estimator=estimator, engine=e, min_accuracy=0) for e in ("embedded", "cmdstan")
    ]
    assert fits[0].info.engine != fits[1].info.engine
    np.testing.assert_allclose(fits[1].gaps()["estimate"], fits[0].gaps()["estimate"], atol=1e-6)


def test_beside_torch_programs_are_compiled_in_a_process_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Torch may take registers that need larger stacks for signals than the compiler's: it ended us."""
    ours = _compiled.__wrapped__("ml_marginal")
    monkeypatch.setitem(sys.modules, "tensorflow", sys)
    monkeypatch.setitem(sys.modules, "stanli", None)  # not in this process
    assert _compiled.__wrapped__("ml_marginal") == ours
    monkeypatch.setattr("maskedadv.engines.embedded.program_text", lambda _: "parameters {")
    with pytest.raises(RuntimeError, match="'ml_marginal' was not compiled"):
        _compiled.__wrapped__("ml_marginal")
