"""The page in a real browser: quiet console, no sideways scrolling, tables that sort. Needs Chromium."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from maskedadv.reports.write import write_report
from tests.chromium import CHROMIUM, QUIET
from tests.constructed import constructed_fit

FLAGS = [*QUIET, "--enable-logging=stderr", "--v=0"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: chromium)")

PROBE = """<script>
const heads = [...document.querySelectorAll("table.sortable")[0].tHead.rows[0].cells];
const column = heads.length - 1;
const order = () => [...document.querySelectorAll("table.sortable")[0].tBodies[0].rows]
  .map((r) => Number(r.cells[column].dataset.sort));
heads[column].querySelector("button").click(); const up = order();
heads[column].querySelector("button").click(); const down = order();
heads[0].querySelector("button").click();
const names = [...document.querySelectorAll("table.sortable")[0].tBodies[0].rows]
  .map((r) => r.cells[0].textContent);
const tiny = [...document.querySelectorAll("svg.figure text")].filter((t) => {
  const box = t.getBoundingClientRect(); return box.height > 0 && Math.min(box.height, box.width || 99) < 6;
}).length;
document.body.dataset.probe = JSON.stringify({up, down, names, tiny, inner: innerWidth,
  wide: document.documentElement.scrollWidth, figures: document.querySelectorAll("svg.figure").length});
</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ids = ["a$x$b", "<script>alert(1)</script>", "نموذج عربي", "模型", "x" * 200]
    gaps = np.random.default_rng(4).normal(-0.4, 0.5, (3, 5, 2))
    folder = tmp_path_factory.mktemp("page") / "r"
    write_report(constructed_fit(gaps, ["zh", "<b>", "العربية"], ids), folder, formats=())
    probed = folder / "probed.html"
    text = (folder / "index.html").read_text("utf-8")
    probed.write_text(text.replace("</body>", PROBE), "utf-8")
    return probed


def _open(page: Path, width: int, profile: Path) -> tuple[dict[str, object], str]:
    import html
    import json

    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={width},1000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r'data-probe="([^"]*)"', done.stdout)
    assert found is not None, done.stderr
    return json.loads(html.unescape(found.group(1))), done.stderr


@pytest.mark.parametrize("width", [400, 1400])
def test_quiet_and_readable(page: Path, width: int, tmp_path: Path) -> None:
    seen, log = _open(page, width, tmp_path)
    assert "CONSOLE" not in log  # errors, and loads that the page's policy blocks
    assert seen["wide"] <= max(seen["inner"], width)  # type: ignore[type-var, operator]
    assert seen["tiny"] == 0
    assert seen["figures"] == 10


def test_tables_sort(page: Path, tmp_path: Path) -> None:
    seen, _ = _open(page, 1400, tmp_path)
    assert seen["up"] == sorted(seen["up"])  # type: ignore[call-overload]
    assert seen["down"] == seen["up"][::-1]  # type: ignore[index]
    assert seen["names"] == ["<b>", "zh", "العربية"]
