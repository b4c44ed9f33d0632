"""The report folder: what is in it, its words, and that nothing is ever half-written or replaced unasked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskedadv import summaries
from maskedadv.cli.main import main
from maskedadv.errors import BadSetting, BadValue, OutputExists
from maskedadv.reports import write
from maskedadv.reports.methods import methods
from maskedadv.reports.write import write_report
from maskedadv.warnings import SAMPLING, Warned
from tests.constructed import constructed_fit, with_variant
from tests.reports.test_posterior import POSTERIORS, VERDICTS

GAPS = np.array([[[-0.8, 0.1], [-0.6, 0.2], [-1.0, 0.4]], [[-1.0, -0.9], [-1.2, -1.3], [-0.8, -0.8]]])
IDS = ["<script>alert(1)</script>", "a$b", "نموذج"]
MODELS = pd.DataFrame(
    {
        "model": IDS,
        "family": ["<i>F</i>", "G", "G"],
        "parameters": ["1B", "7B", "70B"],
        "origin": ["China", "USA", "USA"],
        "kind": ["open", "open", "closed"],
        "adapted_for": ["zh", "", ""],
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("out") / "report"
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    fit = replace(fit, info=replace(fit.info, warnings=(Warned("test", "mind <b>this</b>"),)))
    write_report(fit, path, models=MODELS, notes=["All <one> family."])
    return path


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are blank: drawing takes most of the time, and these tests look at the rest."""
    monkeypatch.setattr(write, "draw_svg", lambda _: '<svg viewBox="0 0 72 72"></svg>')
    monkeypatch.setattr(write, "draw_marked", lambda *_: ('<svg viewBox="0 0 72 72"></svg>', ""))
    monkeypatch.setattr(write, "save_figure", lambda _, path: path.write_text("drawn"))


def _text(page: str) -> str:
    """What a reader sees."""
    page = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_folder(folder: Path) -> None:
    summary = json.loads((folder / "report.json").read_text("utf-8"))
    assert summary["omitted"] == {}
    tables = {p.name for p in (folder / "tables").iterdir()}
    assert {
        "gaps.csv",
        "locale-means.tex",
        "home-versus-others.csv",
        "adapted.csv",
        "resource-trend.csv",
    } <= tables
    assert {p.stem for p in (folder / "figures").iterdir()} == set(summary["exhibits"])
    assert [p.name for p in folder.parent.iterdir()] == ["report"]


def test_tables_are_the_summaries(folder: Path) -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    written = pd.read_csv(folder / "tables" / "locale-means.csv", keep_default_na=False)
    ours = summaries.locale_means(fit)
    assert written["estimate"].to_numpy(float) == pytest.approx(ours["estimate"].to_numpy(), rel=1e-14)
    assert written["upper"].to_numpy(float) == pytest.approx(ours["upper"].to_numpy(), rel=1e-14)


def test_the_answer_comes_from_the_numbers(folder: Path) -> None:
    text = _text((folder / "index.html").read_text("utf-8"))
    assert "Over 2 locales and 3 models" in text
    zh = text[text.index("Chinese (zh)") :]
    assert zh.index("The local language is better for local questions.") < zh.index(
        "local gap 0.23 [0.12, 0.35]"
    )
    assert "global gap −0.80 [−0.91, −0.69]" in zh
    assert "knowledge gap 1.03 [0.87, 1.19]" in zh
    assert (
        "English is better for local questions. Weaker local proficiency is clear"
        in text[text.index("Swahili (sw)") :]
    )
    # the six knowledge gaps: .9 .8 1.4, .1 −.1 0
    assert "knowledge gap in 4 of 6 (67%)" in text


def test_ids_are_text_everywhere(folder: Path) -> None:
    page = (folder / "index.html").read_text("utf-8")
    assert len(re.findall(r"<script", page)) == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<i>F</i>" not in page
    assert '<p class="warning">All &lt;one&gt; family.</p>' in page
    assert page.count("mind &lt;b&gt;this&lt;/b&gt;") == 2  # beside the answer, and under Diagnostics


def test_the_page_stands_alone(folder: Path) -> None:
    page = (folder / "index.html").read_text("utf-8")
    assert "default-src 'none'" in page
    for attribute in re.findall(r'(?:src|href|xlink:href)="([^"]*)"', page):
        assert attribute.startswith(("#", "data:"))
    assert "@import" not in page
    assert page.count("<svg") == len(re.findall(r'role="img" aria-label="[^"]{20,}"', page))
    for anchor in re.findall(r'<a href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page


@pytest.mark.usefixtures("undrawn")
def test_missing_facts_say_what_to_add(tmp_path: Path) -> None:
    report = write_report(constructed_fit(GAPS[:, :1], ["zh", "xx"], ["a"]), tmp_path / "r", formats=())
    reasons = {o.title: o.reason for o in report.omitted}
    assert "--models" in reasons["Model size"]
    assert set(reasons) >= {
        "Home models against others",
        "Adapted models against general ones",
        "Resource level",
    }
    assert "models.csv" in (tmp_path / "r" / "index.html").read_text("utf-8")
    assert not (tmp_path / "r" / "figures").exists()


@pytest.mark.usefixtures("undrawn")
def test_models_that_the_table_lacks_are_named(tmp_path: Path) -> None:
    report = write_report(
        constructed_fit(GAPS, ["zh", "sw"], IDS), tmp_path / "r", models=MODELS.iloc[:1], formats=()
    )
    assert any("2 models of the result are not in the model table (a$b" in w for w in report.warnings)


@pytest.mark.usefixtures("undrawn")
def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    fit = constructed_fit(GAPS[:1, :1], ["zh"], ["a"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputExists, match="holds something that is no maskedadv result"):
        write_report(fit, tmp_path / "full", overwrite=True)
    assert (tmp_path / "full" / "thesis.tex").read_text() == "years of work"
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExists, match="is a file"):
        write_report(fit, tmp_path / "file")
    write_report(fit, tmp_path / "r", formats=())
    write_report(fit, tmp_path / "r", formats=("png",))  # of the same result: made again
    assert (tmp_path / "r" / "figures" / "heat-map.png").is_file()
    other = replace(fit, info=replace(fit.info, fingerprint="1" * 64))
    with pytest.raises(OutputExists, match="--overwrite"):
        write_report(other, tmp_path / "r", formats=())
    write_report(other, tmp_path / "r", formats=("pdf",), overwrite=True)
    assert (tmp_path / "r" / "figures" / "heat-map.pdf").is_file()


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "draw_svg", fail)
    with pytest.raises(KeyboardInterrupt):
        write_report(constructed_fit(GAPS[:1, :1], ["zh"], ["a"]), tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_bad_arguments_are_refused_before_any_work(tmp_path: Path) -> None:
    fit = constructed_fit(GAPS[:1, :1], ["zh"], ["a"])
    with pytest.raises(BadSetting, match="gif"):
        write_report(fit, tmp_path / "r", formats=("gif",))
    with pytest.raises(BadValue):
        write_report(fit, tmp_path / "r", models=pd.DataFrame({"model": ["a"], "parameters": ["many"]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("undrawn")
def test_a_posterior_brings_its_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = replace(constructed_fit(GAPS, ["zh", "sw"], IDS), posteriors={"plain": POSTERIORS})
    told = Warned(SAMPLING, "zh: do not use: as below (see maskedadv diagnose).")
    fit = replace(fit, info=replace(fit.info, warnings=(told,)))
    monkeypatch.setattr(write, "diagnose", lambda _: VERDICTS)
    report = write_report(fit, tmp_path / "r", formats=())
    assert {"predictive-checks", "diagnostics"} <= set(report.exhibits)
    text = _text((tmp_path / "r" / "index.html").read_text("utf-8"))
    assert "zh: do not use: Chains disagree; run longer." in text
    assert "fine: the draws of sw can be used." in text
    assert text.index("do not use these numbers") < text.index("Which language is better, and why?")
    assert "(see maskedadv diagnose)" not in text


@pytest.mark.usefixtures("undrawn")
def test_variants_are_shown_side_by_side(tmp_path: Path) -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    other = constructed_fit(GAPS - [0.0, 1.2], ["zh", "sw"], IDS)
    fit = with_variant(fit, "floor", other)
    report = write_report(fit, tmp_path / "r", formats=())
    assert "variants" in report.exhibits
    table = pd.read_csv(tmp_path / "r" / "tables" / "variant-means.csv")
    rows = table[(table["gap"] == "knowledge_gap") & (table["locale"] == "(all locales)")]
    assert rows["estimate"].tolist() == pytest.approx([31 / 60, 31 / 60 - 1.2])
    text = _text((tmp_path / "r" / "index.html").read_text("utf-8"))
    assert "floor −0.68" in text
    assert "It is clearly above zero as plain, but not as floor" in text
    assert "(linked)" not in text  # no such variant here
    assert "the floor of guessing is one over the number of options" in text
    zh, sw = text.index("Chinese (zh)"), text.index("Swahili (sw)")
    but = [m.start() for m in re.finditer("But the difference in access is not clear as floor", text)]
    assert len(but) == 2  # over all, and in Chinese; Swahili has no clear gap to lose
    assert but[0] < zh < but[1] < sw


@pytest.mark.parametrize(
    ("estimator", "words"), [("joint", "profiled out, in"), ("marginal", "integrated out, in")]
)
def test_methods_say_what_became_of_the_difficulties(estimator: str, words: str) -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    fit = replace(fit, info=replace(fit.info, blocks=({"estimator": estimator, "variant": "plain"},)))
    assert words in methods(fit)


def test_methods_count_observed_answers() -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    fit = replace(fit, info=replace(fit.info, answers=1234))
    assert "We analysed 1,234 answers" in methods(fit)


def test_methods_claim_no_covariance_of_locales_for_a_posterior() -> None:
    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    assert "covariance of models and locales" in methods(fit)
    sampled = methods(replace(fit, settings=replace(fit.settings, method="nuts", interval="posterior")))
    assert "covariance" not in sampled
    assert sampled.count("Intervals of means and differences") == 1
    assert "leave out what the locales' shared answers have in common" in sampled


def test_latex_says_unit_and_level(folder: Path) -> None:
    text = (folder / "tables" / "locale-means.tex").read_text("utf-8")
    assert r"Logits; 95\% intervals in brackets." in text
    assert "brackets" not in (folder / "tables" / "resource-trend.tex").read_text("utf-8")


@pytest.mark.usefixtures("undrawn")
def test_codes_that_nobody_knows_are_named(tmp_path: Path) -> None:
    fit = constructed_fit(GAPS[:1], ["zh"], IDS)
    report = write_report(fit, tmp_path / "r", models=MODELS.assign(adapted_for=["ZH; ar", "", ""]))
    assert [w for w in report.warnings if "1 codes that are no locale" in w and "(ZH)" in w]


@pytest.mark.usefixtures("undrawn")
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    constructed_fit(GAPS[:1, :2], ["zh"], ["a", "b"]).save(tmp_path / "fit")
    arguments = ["report", str(tmp_path / "fit"), "-o", str(tmp_path / "r"), "--format", "none", "--json"]
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["exhibits"][0] == "locale-means"
    assert err.count("Not shown") == 2
    constructed_fit(GAPS[1:, :2], ["sw"], ["a", "b"]).save(tmp_path / "other")
    with pytest.raises(SystemExit) as done:
        main(["report", str(tmp_path / "other"), *arguments[2:4], "--format", "gif"])
    assert done.value.code == 2
    assert "gif" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("guessing", "words"),
    [
        ("auto", "the floor of guessing is one over the number of options"),
        ("0.3", "floor of guessing is 0.3"),
    ],
)
def test_methods_name_the_floor_that_was_used(guessing: str, words: str) -> None:
    from maskedadv.reports.methods import _variants

    fit = constructed_fit(GAPS, ["zh", "sw"], IDS)
    varied = with_variant(fit, "floor", fit)
    assert words in _variants(replace(varied, settings=replace(fit.settings, guessing=guessing)))


def test_a_variant_under_which_nothing_is_known_is_not_passed_over() -> None:
    from maskedadv.reports.figures.variants import caption

    row = {"gap": "knowledge_gap", "locale": "zh", "p_positive": 0.999, "sd": 0.1}
    known = {**row, "variant": "plain", "estimate": 0.5, "lower": 0.3, "upper": 0.7}
    lost = {**row, "variant": "floor", "estimate": np.nan, "lower": np.nan, "upper": np.nan}
    linked = {**known, "variant": "linked"}
    shares = [
        {"variant": v, "gap": "knowledge_gap", "positive": 1, "known": 1, "clearly_positive": 1}
        for v in ("plain", "floor", "linked")
    ]
    text = caption(pd.DataFrame([known, lost, linked]), pd.DataFrame(shares))
    assert text.endswith("It stays clearly above zero under all of them. Nothing is known as floor.")


@pytest.mark.parametrize(
    ("lost", "cause"),
    [
        (["floor", "floor+linked"], "the floor"),
        (["linked", "floor+linked"], "the scale"),
        (["floor+linked"], "the floor and the scale together"),
        (["floor", "linked", "floor+linked"], "the floor or the scale"),
    ],
)
def test_the_artefact_blamed_is_the_one_whose_removal_took_the_gap(lost: list[str], cause: str) -> None:
    from maskedadv.reports.figures.variants import survival

    sides = {"plain": 1} | {v: int(v not in lost) for v in ("floor", "linked", "floor+linked")}
    assert survival(sides).endswith(f"but not as {', '.join(lost)}: it may come from {cause}.")
