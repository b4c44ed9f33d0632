"""The page and its figure: complete, escaped, and honest where numbers are missing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import NothingToDraw
from maskedadv.reports.validity_figures import locality_figure
from maskedadv.reports.validity_page import write_study
from maskedadv.reports.validity_tables import exhibits
from maskedadv.validity import Settings, Study, study
from maskedadv.validity.pairings import Pairing, PairingFile

EVIL = "<script>alert(1)</script> $x$ \\input{a} _&%# عربي"


def hostile() -> Study:
    """One pairing, of seven models, whose every name tries to break out."""
    rng = np.random.default_rng(1)
    names = [f"{EVIL} {j}" for j in range(12)]
    knowledge = rng.normal(size=12)
    parts = [
        pd.DataFrame(
            {"model": names, "benchmark": b, "language": "ar", "accuracy": 0.5 + 0.05 * knowledge + e}
        )
        for b, e in ((f"{EVIL} n", 0.01 * rng.normal(size=12)), (f"{EVIL} p", 0.0))
    ]
    models = pd.DataFrame(
        {"model": names, "family": [f"{EVIL} f{j % 6}" for j in range(12)], "size": rng.normal(size=12)}
    )
    pairing = Pairing(EVIL, "ar", f"{EVIL} n", f"{EVIL} p", ("size",), cs_share=0.5)
    return study(PairingFile((pairing,)), pd.concat(parts), models, Settings(n_resamples=200))


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_study(hostile(), folder)
    return folder


def test_nothing_breaks_out_of_the_page(written: Path) -> None:
    text = (written / "index.html").read_text("utf-8")
    assert text.count("<script>") == 1  # the page's own
    assert "alert(1)&lt;/script&gt;" in text
    parser = Tags()
    parser.feed(text)
    loaded = [a for _, attributes in parser.tags for k, a in attributes.items() if k in ("src", "href")]
    assert all(a is not None and a.startswith(("#", "data:")) for a in loaded)
    ids = [attributes["id"] for _, attributes in parser.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for exhibit in exhibits(hostile()):
        assert f'id="{exhibit.name}"' in text


def test_latex_is_escaped(written: Path) -> None:
    text = (written / "table06_incremental.tex").read_text("utf-8")
    assert "\\input{" not in text
    body = text[text.index("\\midrule") :]
    assert not re.search(r"(?<!\\)[_#%]", body)
    assert body.count("&") - body.count("\\&") == 7  # one row of eight cells
    for letter in "τβ²":
        assert letter not in text


def test_the_figure_survives_dollars_and_scripts(written: Path) -> None:
    text = (written / "figure1.svg").read_text("utf-8")
    assert "<script>" not in text


def test_the_figure_says_when_there_is_nothing_to_draw(tmp_path: Path) -> None:
    result = hostile()
    nothing = Study(**{**vars(result), "locality": result.locality.assign(cs_share=np.nan)})
    with pytest.raises(NothingToDraw):
        locality_figure(nothing)
    write_study(nothing, tmp_path)
    assert "no pairing has a share of CS items" in (tmp_path / "index.html").read_text("utf-8")
    assert not (tmp_path / "figure1.svg").exists()


def test_missing_numbers_are_na_with_their_reason_in_the_row() -> None:
    table = next(exhibit for exhibit in exhibits(hostile()) if exhibit.number == "30")
    (row,) = table.table.rows
    shown = dict(zip(table.table.columns, (cell.text for cell in row), strict=True))
    assert shown["ΔR²"] == "n/a"
    assert shown["Note"] == "the pairing names no extra_controls"


def test_a_figure_can_be_built_upon() -> None:
    import plotnine as p9

    figure = locality_figure(hostile()) + p9.labs(title="mine")
    assert isinstance(figure, p9.ggplot)
