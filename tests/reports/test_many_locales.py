"""A page of more locales than can stand one by one: what is shown whole, what by its ends, what as a file."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from maskedadv import summaries
from maskedadv.reports import limits, write
from maskedadv.reports.figures.common import ends
from maskedadv.reports.tables import count_rows, display, merged_rows
from maskedadv.reports.write import write_report
from maskedadv.result.fit_result import Fit
from tests.constructed import constructed_fit

N = limits.ROWS_NAMED + 10
LOCALES = [f"l{k:03}" for k in range(N)]


def _fit() -> Fit:
    """Knowledge gaps rise from locale to locale, from clearly below zero to clearly above."""
    gaps = np.full((N, 3, 2), -1.0)
    gaps[:, :, 1] += np.linspace(-1.0, 1.0, N)[:, None] + np.array([-0.01, 0.0, 0.01])
    return constructed_fit(gaps, LOCALES, ["x", "y", "z"])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("many") / "report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "PAGE_ROWS", N + 2)
        patch.setattr(write, "draw_svg", lambda _: '<svg viewBox="0 0 72 72"></svg>')
        patch.setattr(write, "draw_marked", lambda *_: ('<svg viewBox="0 0 72 72"></svg>', ""))
        write_report(_fit(), folder, formats=())
    long = pd.read_csv(folder / "tables" / "sign-shares.csv")
    assert len(long) == 3 * (N + 1), "the file has every row"
    return (folder / "index.html").read_text("utf-8")


def _section(page: str, name: str) -> str:
    return page[page.index(f'<section id="{name}">') :].partition("</section>")[0]


def test_verdicts_are_counted_and_stand_in_a_table_instead_of_cards(page: str) -> None:
    section = _section(page, "locales")
    assert "<article" not in section
    counted, each = section.split("<details")[1:]
    numbers = [int(v) for v in re.findall(r'<td data-sort="(\d+)">\d+</td>', counted)]
    means = summaries.locale_means(_fit())
    means["side"] = np.sign(means["lower"]).where(means["lower"] * means["upper"] > 0, 0)
    sides = means.pivot_table(index="locale", columns="gap", values="side")
    assert numbers == sides.value_counts().tolist()
    assert sum(numbers) == N
    assert all(f"<bdi>{name}</bdi>" in each for name in LOCALES)


def test_the_ends_are_named_and_the_page_says_where_the_others_are(page: str) -> None:
    text = _section(page, "locale-means-ends")
    assert f"of {N}; the table locale-means has all" in text
    assert "partly by chance" in text
    label = re.search(r'aria-label="([^"]*)"', text)
    assert label is not None
    assert f"knowledge gap from −1.00 ({LOCALES[0]}) to 1.00 ({LOCALES[-1]})" in label.group(1)
    assert f"{2 * limits.ENDS} rows." in label.group(1)
    shown = re.findall(r"abilities of models in ([^.]*)\.", page)
    assert shown == [", ".join([*LOCALES[:4], *LOCALES[-4:]])]
    assert "table gaps names all" in _section(page, "heat-map")


def test_a_table_too_long_for_the_page_is_a_file_and_one_that_marks_need_stays(page: str) -> None:
    section = _section(page, "heat-map")
    assert f"The table sign-shares ({3 * (N + 1)} rows) is too long for this page" in section
    assert "Table: sign-shares" not in page
    assert f"Table: gaps ({3 * N} rows)" in section
    assert 3 * N > N + 2


def test_few_rows_are_their_own_ends_and_unknown_ones_are_none() -> None:
    fit = constructed_fit(np.array([[[0.0, 1.0]], [[0.0, -1.0]], [[np.nan, 0.5]]]), ["a", "b", "c"], ["m"])
    assert ends(fit.gaps(), "locale") == ["b", "a"]


def test_rows_of_a_displayed_table_are_those_that_the_numbers_went_to() -> None:
    rng = np.random.default_rng(3)
    fit = constructed_fit(rng.normal(size=(3, 4, 2)), ["a", "b", "c"], list("wxyz"))
    gaps = fit.gaps().sample(frac=1, random_state=1)
    table, rows = display(gaps), merged_rows(gaps)
    assert count_rows(gaps) == len(table.rows) == 12
    for row, record in zip(rows, gaps.to_dict(orient="records"), strict=True):
        cells = table.rows[row]
        assert [cells[0].text, cells[1].text] == [record["locale"], record["model"]]
        at = table.columns.index(record["gap"].replace("_", " "))
        assert cells[at].sort == record["estimate"]
    assert table.columns[-2:] == ("number of items ca", "number of items cs")
    assert count_rows(pd.DataFrame({"a": [1, 2]})) == 2
