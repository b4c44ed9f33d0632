"""The page where plain and paired gaps differ: what it speaks of, and what stays plain."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import maskedadv
from maskedadv import datasets
from maskedadv.reports.answers import PLAIN
from maskedadv.reports.figures.relatives import caption, relatives_matrix
from maskedadv.reports.write import write_report


@pytest.fixture(scope="module")
def fit() -> maskedadv.Fit:
    return maskedadv.fit(datasets.global_mmlu_lite(), locale="sw", estimator="marginal", min_accuracy=0)


@pytest.mark.usefixtures("undrawn")
def test_the_answer_is_paired_and_the_papers_exhibits_say_that_they_are_plain(
    fit: maskedadv.Fit, tmp_path: Path
) -> None:
    write_report(fit, tmp_path / "r", formats=())
    page = re.sub(r"<svg.*?</svg>", "", (tmp_path / "r" / "index.html").read_text("utf-8"), flags=re.S)
    paired = fit.means(variant="paired", gap="local_gap").iloc[0]
    lead = page[page.index('class="lead"') : page.index('class="lead"') + 2500]
    assert f"{paired['estimate']:.2f}".replace("-", "−") in lead
    assert "Every model by itself" in lead
    assert page.count(PLAIN) >= 3
    written = pd.read_csv(tmp_path / "r" / "tables" / "plain-against-paired.csv")
    assert written["p"].iloc[-1] == pytest.approx(fit.departures()["p"].iloc[-1])

    write_report(fit.with_headline("plain"), tmp_path / "p", formats=())
    page = (tmp_path / "p" / "index.html").read_text("utf-8")
    assert "Every model by itself, on the items" not in page
    assert PLAIN not in page


def test_the_matrix_puts_the_alike_beside_each_other(fit: maskedadv.Fit) -> None:
    kin = fit.info.relatives
    assert kin is not None
    place = [kin.models.index(m) for m in kin.groups[0]]
    assert max(place) - min(place) == len(place) - 1
    figure = relatives_matrix(fit.relatives(), kin.models)
    assert len(figure.data) == len(kin.models) * (len(kin.models) - 1)
    text = caption(fit.departures(), [list(g) for g in kin.groups])
    assert "s1.1-32B_1000" in text
    assert "p < .0001" in text or "p = ." in text
