"""The section on predictions: its numbers, words that say who is told apart, other data refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import maskedadv
from maskedadv.cross_validation.comparison import Comparison
from maskedadv.errors import BadSetting, NothingToDraw
from maskedadv.reports import figures
from maskedadv.reports.figures.comparison import _caption
from maskedadv.reports.write import write_report
from tests.cross_validation.simulate import answers
from tests.simulate import table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return answers(8, 40, noise=4.0)


@pytest.fixture(scope="module")
def comparison(frame: pd.DataFrame) -> Comparison:
    return maskedadv.compare(
        frame, folds=3, min_accuracy=0, candidates=["joint", "marginal", "crm", "base rate"]
    )


def test_the_page_has_table_four(frame: pd.DataFrame, comparison: Comparison, tmp_path: Path) -> None:
    fit = maskedadv.fit(frame, estimator="marginal", min_accuracy=0)
    without = write_report(fit, tmp_path / "without", formats=())
    assert "comparison" not in without.exhibits
    report = write_report(fit, tmp_path / "with", formats=(), checks={"compare": comparison})
    assert {"comparison", "calibration"} <= set(report.exhibits)
    written = pd.read_csv(tmp_path / "with" / "tables" / "comparison.csv")
    assert list(written["candidate"]) == list(comparison.scores["candidate"])
    assert written["bce"].to_numpy() == pytest.approx(comparison.scores["bce"].to_numpy(), abs=1e-12)
    page = (tmp_path / "with" / "index.html").read_text("utf-8")
    assert f"{comparison.scores['bce'][0]:.4f}" in page


def test_another_table_is_refused(comparison: Comparison, tmp_path: Path) -> None:
    other = maskedadv.fit(table(6, (12, 12)), estimator="marginal", min_accuracy=0)
    with pytest.raises(BadSetting, match="another response table"):
        write_report(other, tmp_path / "out", formats=(), checks={"compare": comparison})


def test_words_name_the_best_and_those_not_told_apart(comparison: Comparison) -> None:
    scores = comparison.scores.copy()
    best = scores["candidate"][0]
    assert f"Lowest cross-entropy: {best}" in _caption(comparison)
    scores.loc[1:, "lower"] = [-0.01, 0.01, 0.02]
    told = _caption(replace(comparison, scores=scores))
    assert f"these are not told apart from it: {scores['candidate'][1]}." in told
    scores.loc[1:, "lower"] = 0.01
    assert "All others are worse" in _caption(replace(comparison, scores=scores))


def test_figures_draw_the_tables_and_refuse_empty_ones(comparison: Comparison) -> None:
    drawn = figures.prediction_scores(comparison.scores, comparison.by_fold)
    assert len(drawn.data) == 4
    panels = figures.calibration_curves(comparison.calibration, order=list(comparison.scores["candidate"]))
    assert list(panels.data["_panel"].cat.categories) == list(comparison.scores["candidate"])
    with pytest.raises(NothingToDraw):
        figures.calibration_curves(comparison.calibration.assign(observed=float("nan")))
