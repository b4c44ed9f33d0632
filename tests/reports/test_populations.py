"""Models like these on the page and in the terminal; nothing where families are too few."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import maskedadv
from maskedadv.reports.write import write_report
from tests.cli.test_commands import narrow, run
from tests.simulate import table


@pytest.fixture(scope="module")
def fit() -> maskedadv.Fit:
    locales = ["bn", "de", "fr", "ja", "sw"]
    return maskedadv.fit(
        table(6, (60, 60), (-1.0, -0.5), locales, seed=3), estimator="marginal", min_accuracy=0
    )


def test_page_and_table(fit: maskedadv.Fit, tmp_path: Path) -> None:
    facts = pd.DataFrame({"model": [f"m{j}" for j in range(6)], "family": list("aabcde")})
    report = write_report(fit, tmp_path / "r", models=facts, formats=())
    assert "populations" in report.exhibits
    written = pd.read_csv(tmp_path / "r" / "tables" / "population-means.csv")
    own = fit.populations(facts)
    assert set(written["n_families"]) == {5}
    found = written[written["variant"] == "plain"].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        found[["locale", "gap", "estimate", "lower", "upper"]],
        own[["locale", "gap", "estimate", "lower", "upper"]],
        check_dtype=False,
    )
    page = (tmp_path / "r" / "index.html").read_text("utf-8")
    assert "resting on 5 families (families of the model table)" in page


@pytest.mark.usefixtures("undrawn")
def test_too_few_families_are_said_to_be_so(fit: maskedadv.Fit, tmp_path: Path) -> None:
    facts = pd.DataFrame({"model": [f"m{j}" for j in range(6)], "family": list("aaabcd")})
    report = write_report(fit, tmp_path / "r", models=facts, formats=())
    assert "populations" not in report.exhibits
    (left,) = [o for o in report.omitted if o.title == "Models and locales like these"]
    assert "here are 4" in left.reason


def test_terminal(fit: maskedadv.Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit.save(tmp_path / "result")
    facts = tmp_path / "models.csv"
    pd.DataFrame({"model": [f"m{j}" for j in range(6)], "family": list("aabcde")}).to_csv(facts, index=False)
    code, out, _ = run(capsys, "gaps", tmp_path / "result", "--models", facts)
    assert code == 0
    assert narrow(out)
    words = " ".join(out.split())
    assert out.count("(models like these)") > 15
    assert "(new) is the mean gap in a locale that is not among these" in words
    assert "they rest on 5 families (families of the model table)" in words
    new = fit.populations(facts, variant=fit.headline).set_index(["locale", "gap"])
    row = new.loc[("(a new locale)", "local_gap")]
    assert f"local {row['estimate']:.2f} {row['sd']:.2f} {row['lower']:.2f} {row['upper']:.2f}" in words
    _, out, _ = run(capsys, "gaps", tmp_path / "result", "--models", facts, "--format", "markdown")
    assert "| (a new locale) | (models like these) |" in out
    assert "NA>" not in out
    facts.write_text("model,kind\nm0,open\n")
    code, _, err = run(capsys, "gaps", tmp_path / "result", "--models", facts)
    assert code == 2
    assert "no column `family`" in err
    _, out, _ = run(capsys, "gaps", tmp_path / "result", "--format", "csv")
    rows = pd.read_csv(tmp_path / "result" / "gaps.csv")
    assert out.count("\n") - 1 == len(rows) + 15 + 15 + 6
