"""Sections of the page from other commands' output: dif and fit-check."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import maskedadv
from maskedadv.assumptions import Dif, FitCheck, dif, fit_check, save_dif
from maskedadv.cli.main import cli
from maskedadv.errors import BadSetting
from maskedadv.reports import figures
from maskedadv.reports.write import write_report
from maskedadv.result.fit_result import Fit
from maskedadv.scoring.items.items import Item
from tests.assumptions.test_dif import table

ARABIC = "ما هو <b>الموضوع</b>؟"


@pytest.fixture(scope="module")
def made() -> tuple[Fit, Dif, FitCheck]:
    answers = table(8, 30, locales=("zh",)).replace({"language": {"zh": "ar"}})
    texts = [
        Item(
            f"{s}{k}", s, language, ARABIC if language == "ar" else f"<i>{k}</i> {s}?", ("a", "b"),
            int(k == 7 and language == "ar"),
        )
        for s in ("CA", "CS")
        for k in range(30)
        for language in ("en", "ar")
    ]  # fmt: skip
    common = {"min_accuracy": 0.0, "variants": "none"}
    fit = maskedadv.fit(answers, estimator="marginal", **common)
    return (
        fit,
        dif(answers, items=texts, **common),
        fit_check(answers, replicates=20, min_accuracy=0.0),
    )


@pytest.fixture(scope="module")
def page(made: tuple[Fit, Dif, FitCheck], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    fit, found, check = made
    folder = tmp_path_factory.mktemp("page") / "report"
    write_report(fit, folder, checks={"dif": found, "fit-check": check})
    return (folder / "index.html").read_text("utf-8"), folder


def test_sections_and_tables(page: tuple[str, Path], made: tuple[Fit, Dif, FitCheck]) -> None:
    text, folder = page
    assert "<h2>Is an item equally difficult in both languages?</h2>" in text
    assert "<h2>Does the Rasch model fit?</h2>" in text
    assert "is the gap itself" in text
    names = {p.name for p in (folder / "tables").iterdir()}
    assert {"dif-items.csv", "dif-texts.csv", "dif-purified-gaps.csv", "fit-andersen.csv"} <= names
    own = pd.read_csv(folder / "tables" / "dif-items.csv", dtype={"item": str})
    expected = made[1].items.set_index("item")["effect"]
    assert own["effect"].to_numpy() == pytest.approx(expected[own["item"]].to_numpy(), nan_ok=True)
    assert own["item"].head(2).tolist() in (["CA7", "CS7"], ["CS7", "CA7"])


def test_texts_stand_side_by_side_each_in_its_direction(page: tuple[str, Path]) -> None:
    text, _ = page
    assert "<b>الموضوع</b>" not in text  # escaped, as any text
    row = next(r for r in re.findall(r"<tr>.*?</tr>", text, re.DOTALL) if "الموضوع" in r)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    question = next(c for c in cells if "الموضوع" in c)
    assert question.startswith("<bdi>")  # the browser takes the direction from the text
    assert any("&lt;i&gt;" in c for c in cells)
    assert re.search(r"td bdi \{[^}]*text-align: start", text)


def test_nothing_without_the_commands(made: tuple[Fit, Dif, FitCheck], tmp_path: Path) -> None:
    report = write_report(made[0], tmp_path / "r", formats=())
    assert not {"dif", "model-fit"} & set(report.exhibits)
    assert not any("item" in o.title for o in report.omitted)


def test_checks_of_another_table_are_refused(made: tuple[Fit, Dif, FitCheck], tmp_path: Path) -> None:
    fit, found, _ = made
    with pytest.raises(BadSetting, match="another response table"):
        write_report(fit, tmp_path / "r", checks={"dif": replace(found, data="x")})
    assert not (tmp_path / "r").exists()


def test_command(made: tuple[Fit, Dif, FitCheck], tmp_path: Path) -> None:
    fit, found, check = made
    fit.save(tmp_path / "fit")
    save_dif(found, tmp_path / "dif")
    check.save(tmp_path / "check")
    arguments = ["report", str(tmp_path / "fit"), "-o", str(tmp_path / "r"), "--format", "none"]
    done = CliRunner().invoke(
        cli, [*arguments, "--dif", str(tmp_path / "dif"), "--fit-check", str(tmp_path / "check"), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert '"dif"' in done.output
    assert '"model-fit"' in done.output


def test_figures_mark_other_keys(made: tuple[Fit, Dif, FitCheck]) -> None:
    drawn = figures.item_differences(made[1].items)
    kinds = drawn.data["_kind"].value_counts()
    assert kinds["other key in the item file"] == 2
    assert drawn.data["items"].sum() == made[1].items["effect"].notna().sum()
