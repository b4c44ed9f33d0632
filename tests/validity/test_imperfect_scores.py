"""Nothing but measurement error must not make evidence, and what is there must not be lost.

`pytest -m slow tests/validity/test_imperfect_scores.py -s` prints the table of docs/how-to/validity.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskedadv.cli.main import main
from maskedadv.validity import Settings, Study, study
from maskedadv.validity.corrected import corrected_class, tipping
from maskedadv.validity.errors_in_variables import corrected
from maskedadv.validity.evidence import conclude
from maskedadv.validity.verdict import verdict
from tests.validity import imperfect
from tests.validity.imperfect import FAMILIES, Truth

EXACT_SIZES = {"size": 1.0}
FAST = Settings(300, repeats=2, reliability=EXACT_SIZES)
SOMETHING: dict[str, Any] = {"beta": 0.8, "unique": 0.5, "specific": 0.2}


def exact(scored: tuple) -> tuple:
    """The same scores, thought to be free of error: what the plain class is given by."""

    def without(measured: Any) -> Any:
        return replace(measured, variance=np.zeros(len(measured.values)), basis="exact")

    return without(scored[0]), tuple(map(without, scored[1])), without(scored[2])


def classes(truth: Truth, n_studies: int, seed: int, *, stated: bool = False) -> dict[str, np.ndarray]:
    """Classes by F test and family refits, plain and corrected, and both together.

    The bootstrap interval of the plain rule is left out here, so that no more can be called robust than is.
    """
    rng = np.random.default_rng(seed)
    plain, joint = [], []
    for _ in range(n_studies):
        scored = imperfect.measured(rng, truth, len(FAMILIES), stated=stated)
        by_plain = corrected_class(exact(scored), FAMILIES, Settings(), 1.0)
        by_both = [by_plain, corrected_class(scored, FAMILIES, Settings(), 1.0)]
        plain.append(by_plain[0])
        joint.append(conclude(by_both))
    return {"plain": np.array(plain), "joint": np.array(joint)}


@pytest.mark.parametrize("reliability", [0.9, 0.95, 0.97, 1.0])
def test_measurement_error_alone_is_not_robust(reliability: float) -> None:
    """60 studies; the plain rule calls half of them robust at .97, nearly all at .9."""
    found = classes(Truth(reliability), 60, seed=1)
    assert (found["joint"] == "robust").mean() <= 0.07
    if reliability < 0.98:
        assert (found["plain"] == "robust").mean() > 0.35


def test_what_is_there_is_found() -> None:
    found = classes(Truth(0.97, **SOMETHING), 40, seed=2)
    assert (found["joint"] == "robust").mean() > 0.8


@pytest.fixture(scope="module")
def nothing() -> Study:
    """Five pairings with a control of reliability .9 and nothing in the proxy but it."""
    scores, models, plan = imperfect.tables(1, [Truth(0.9)] * 5)
    return study(plan, scores, models, FAST)


def test_the_study_says_both_classes_and_rests_on_the_weaker(nothing: Study) -> None:
    evidence = nothing.evidence
    assert (evidence["evidence_plain"] == "robust").any()
    assert (evidence["evidence"] != "robust").all()
    main = nothing.incremental.loc[nothing.incremental["variant"] == "main"].set_index("pairing")
    for row in evidence.to_dict("records"):
        assert row["evidence"] == conclude(
            [(row["evidence_plain"], row["p_f"]), (row["evidence_corrected"], row["p_corrected"])]
        )
        assert row["p_f"] == main.loc[row["pairing"], "p_f"]


def test_the_study_corrects_by_what_the_tables_say(nothing: Study) -> None:
    own = nothing.reliability.loc[nothing.reliability["variant"] == "main"]
    control = own.loc[own["score"].str.startswith("control@")]
    assert control["reliability"].between(0.8, 0.96).all()  # .9 built in, over 29 models
    assert set(control["basis"]) == {"item counts (KR-21)"}
    row = nothing.corrected.loc[nothing.corrected["variant"] == "main"].iloc[0]
    assert row["p"] == nothing.evidence.loc[0, "p_corrected"]
    words = verdict(nothing, nothing.pairings[0])
    assert f"native@l0 {control['reliability'].iloc[0]:.3f}" not in words
    assert f"control@l0 {control['reliability'].iloc[0]:.3f}" in words


def test_unknown_reliability_of_a_control_leaves_open_what_hangs_on_it() -> None:
    """Robust were it exact, null at .9: said so. Stated, it is decided."""
    for seed in range(10):
        scores, models, plan = imperfect.tables(seed, [Truth(0.95)], control_items=False)
        result = study(plan, scores, models, FAST)
        row = result.evidence.iloc[0]
        if row["evidence_plain"] == "robust":
            break
    assert row["evidence"] == "undetermined"
    assert row["hangs_on"] == "robust were control@l0 exact, null at a reliability of 0.9"
    words = verdict(result, plan.pairings[0])
    assert words.startswith("Undetermined.")
    assert "The class hangs on it: robust were control@l0 exact" in words
    stated = Settings(300, repeats=2, reliability=EXACT_SIZES | {"control@l0": 0.95})
    assert study(plan, scores, models, stated).evidence.loc[0, "evidence"] == "null"
    trusting = Settings(300, repeats=2, reliability=EXACT_SIZES, assumed_reliability=1.0)
    assert study(plan, scores, models, trusting).evidence.loc[0, "evidence"] == "robust"


def test_the_tipping_reliability_is_where_the_test_turns() -> None:
    rng = np.random.default_rng(4)
    native, controls, proxy = imperfect.measured(rng, Truth(0.95, **SOMETHING), 29)
    value, note = tipping((native, controls, proxy), controls[1], Settings())
    assert note == ""

    def p(reliability: float) -> float:
        return corrected(native, [controls[0], controls[1].at(reliability)], proxy).p

    assert p(value) >= 0.05 > p(value + 0.001)
    assert max(p(r) for r in np.arange(value + 0.001, 1, 0.01)) < 0.05
    assert np.isnan(tipping((native, controls, proxy), controls[0], Settings())[0])  # exact
    assert np.isnan(tipping((native, controls, proxy), native, Settings())[0])  # no control


def test_nothing_to_tip() -> None:
    native, controls, proxy = imperfect.measured(np.random.default_rng(6), Truth(1.0), 29)
    control = replace(controls[1], basis="not known", variance=None)
    value, note = tipping((native, (controls[0], control), proxy), control, Settings())
    assert np.isnan(value)
    assert note == "null even if exact"


def test_from_the_command_line(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, models, plan = imperfect.tables(1, [Truth(0.9)], control_items=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    models.to_csv(tmp_path / "models.csv", index=False)
    (pairing,) = plan.pairings
    (tmp_path / "pairings.toml").write_text(
        f'scores = "scores.csv"\nmodels = "models.csv"\n[[pairing]]\nname = "P"\nlanguage = "l0"\n'
        f'native = "native"\nproxy = "proxy"\ncontrols = {list(pairing.controls)}\n'
        "[reliability]\nsize_l0 = 1\n"
    )

    def run(*options: str) -> str:
        with pytest.raises(SystemExit) as left:
            main(["validity", *options[:1], str(tmp_path / "pairings.toml"), *options[1:]])
        assert left.value.code in (0, None)
        return capsys.readouterr().out

    assert "reliability of control@l0 not known; give n_items" in run("check")
    fast = ("--resamples", "200", "--repeats", "2")
    out = tmp_path / "out"
    shown = run("run", *fast, "--reliability", "control@l0=0.9", "-o", str(out))
    assert "native  proxy  control" in shown
    table = pd.read_csv(out / "table27d_reliability.csv")
    row = table.loc[(table["score"] == "control@l0") & (table["variant"] == "main")].iloc[0]
    assert (row["reliability"], row["basis"]) == (0.9, "given")
    corrected_table = pd.read_csv(out / "table27c_corrected.csv").set_index("variant")
    assert corrected_table.loc["main", "p"] == pytest.approx(
        pd.read_csv(out / "table06_incremental.csv").loc[0, "p_corrected"]
    )
    page = (out / "index.html").read_text("utf-8")
    assert "Reliability of the scores" in page


@pytest.mark.slow
@pytest.mark.parametrize("reliability", [0.9, 0.95, 0.97, 0.99, 1.0])
def test_500_studies(reliability: float) -> None:
    """Share of robust studies: 500 of each, Monte Carlo error .011 at .07."""
    for truth, stated in (
        (Truth(reliability), False),
        (Truth(reliability), True),
        (Truth(reliability, tails=True), True),
        (Truth(reliability, **SOMETHING), False),
    ):
        found = classes(truth, 500, seed=3, stated=stated)
        robust = {name: float((values == "robust").mean()) for name, values in found.items()}
        print(f"{truth}, {'stated' if stated else 'known'}: robust {robust}", flush=True)
        if truth.beta == 0:
            assert robust["joint"] <= 0.07


@pytest.mark.slow
def test_whole_studies_of_accuracies() -> None:
    """100 pairings of each, through the whole study, which knows numbers of items only."""
    for reliability in (0.9, 0.95, 1.0):
        for more in ({}, SOMETHING):
            found = []
            for seed in range(5):
                scores, models, plan = imperfect.tables(seed, [Truth(reliability, **more)] * 20)
                found.append(study(plan, scores, models, FAST).evidence)
            evidence = pd.concat(found)
            shares = {c: (evidence[c] == "robust").mean() for c in ("evidence_plain", "evidence")}
            print(f"control {reliability}, {more or 'nothing'}: robust {shares}", flush=True)
            if not more:
                assert shares["evidence"] <= 0.07
