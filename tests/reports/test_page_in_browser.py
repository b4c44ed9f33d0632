"""The page's filter, and what figures tell under the pointer and by keys, in a browser. Needs Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from maskedadv.reports import figures
from maskedadv.reports.write import write_report
from tests.chromium import CHROMIUM, Browser
from tests.constructed import constructed_fit

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")

EVIL = (
    '"><img src=x onerror="document.body.dataset.hit=1"></script><script>document.body.dataset.hit=1</script>'
)
LOCALES = ["zh", "<b>", "\u202eevil\u202c"]
MODELS = ["a$x$b", EVIL, "نموذج عربي", "模型"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gaps = np.random.default_rng(4).normal(-0.4, 0.5, (3, 4, 2)).round(3)
    folder = tmp_path_factory.mktemp("page") / "r"
    makers = {"make_advantage", "make_heatmap", "make_locale_means"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "EXHIBITS", [e for e in figures.EXHIBITS if e[1].__name__ in makers])
        write_report(constructed_fit(gaps, LOCALES, MODELS), folder, formats=())
    return folder / "index.html"


@pytest.fixture(scope="module", params=[420, 1200])
def browser(
    page: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile"), request.param) as b:
        b.open(page.as_uri())
        yield b
        assert b.console == []
        assert b.run("document.body.dataset.hit") is None
        assert b.run("document.documentElement.scrollWidth <= innerWidth")


def _ask(b: Browser, **asked: str) -> None:
    b.run("document.querySelector('#filters button').click()")
    b.wait_for("document.querySelectorAll('tr[hidden], article[hidden], .off').length === 0")
    for name, value in asked.items():
        b.run(
            f"(() => {{ const e = document.querySelector('#filters [name={name}]');"
            f" e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )


def _rows(b: Browser, table: str) -> list[list[str]]:
    return b.run(  # type: ignore[no-any-return]
        f"[...document.querySelectorAll('table[data-name=\"{table}\"] tbody tr')].filter(r => !r.hidden)"
        ".map(r => [...r.cells].map(c => c.textContent))"
    )


def test_the_filter_keeps_what_is_asked_for(browser: Browser) -> None:
    b = browser
    _ask(b)
    assert len(_rows(b, "gaps")) == 12
    for locale in LOCALES:
        _ask(b, locale=locale)
        assert [r[:2] for r in _rows(b, "gaps")] == [[locale, m] for m in MODELS]
        assert [r[0] for r in _rows(b, "locale-means")] == [locale]
        assert b.run("[...document.querySelectorAll('article')].filter(e => !e.hidden).length") == 1
        assert b.run("document.querySelectorAll('#heat-map .marks > :not(.off)').length") == 3 * len(MODELS)
    for model in MODELS:
        _ask(b, locale="zh", model=model)
        assert [r[:2] for r in _rows(b, "gaps")] == [["zh", model]]
        assert len(_rows(b, "locale-means")) == 1, "a table without models keeps its rows"
    _ask(b)
    assert len(_rows(b, "gaps")) == 12


def test_every_mark_lies_on_the_number_that_it_tells(browser: Browser) -> None:
    found = browser.run(
        """[...document.querySelectorAll('#heat-map .marks > *')].map(mark => {
          const box = mark.getBoundingClientRect();
          const texts = [...document.querySelectorAll('#heat-map svg text')].filter(t => {
            const own = t.getBoundingClientRect();
            const x = (own.left + own.right) / 2, y = (own.top + own.bottom) / 2;
            return x > box.left && x < box.right && y > box.top && y < box.bottom; });
          const table = document.querySelector('table[data-name="gaps"]');
          const heads = [...table.tHead.rows[0].cells].map(c => c.textContent);
          const row = table.tBodies[0].rows[mark.dataset.row];
          const cell = row.cells[heads.indexOf(mark.parentNode.dataset.gap)];
          return [texts.map(t => t.textContent.trim()), cell.textContent];
        })"""
    )
    assert len(found) == 36
    for texts, cell in found:
        assert texts == [cell.partition(" ")[0]]


def _tip(b: Browser) -> str:
    shown = b.run(
        "(() => { const t = document.querySelector('.tip'); return t.hidden ? '' : t.innerText; })()"
    )
    return str(shown)


def test_a_place_tells_its_row_under_the_pointer_and_by_keys(browser: Browser) -> None:
    b = browser
    _ask(b)
    at = b.run(
        """(() => { const m = document.querySelectorAll('#heat-map .marks > *')[5];
          m.scrollIntoView({block: 'center', inline: 'center'});
          const r = m.getBoundingClientRect();
          return [r.left + r.width / 2, r.top + r.height / 2, m.dataset.row]; })()"""
    )
    b.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    b.send("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
    b.wait_for("!document.querySelector('.tip').hidden")
    row = _rows(b, "gaps")[int(at[2])]
    told = _tip(b)
    assert all(text in told for text in row)
    assert "number of items ca" in told
    assert b.run("document.querySelector('.tip strong').textContent.startsWith('global gap')")
    box = b.run(
        "(r => [r.left, r.right, innerWidth])(document.querySelector('.tip').getBoundingClientRect())"
    )
    assert 0 <= box[0] < box[1] <= box[2]
    b.send("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    b.wait_for("document.querySelector('.tip').hidden")
    b.run("document.querySelector('#heat-map svg').focus({preventScroll: true})")
    b.press("ArrowRight")
    first = _tip(b)
    b.press("ArrowRight")
    second = _tip(b)
    assert first
    assert second not in ("", first)
    b.press("ArrowLeft")
    assert _tip(b) == first
    b.press("Escape")
    assert _tip(b) == ""


def test_without_a_script_all_rows_are_there_and_no_form(page: Path) -> None:
    text = page.read_text("utf-8")
    assert '<form id="filters" class="filters" data-things="rows" hidden>' in text
    assert "<tr hidden" not in text
    assert text.count("<script") == 1
