"""The tutorial from raw questions to gaps: every command of the page, in its order, with a small model."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("httpx2")
pytest.importorskip("transformers")

from tests.conftest import ROOT, SHARED
from tests.scoring.item_sets.scripted_models import LOCAL, Models, label_of
from tests.scoring.item_sets.test_annotate import run

PAGE = ROOT / "docs" / "tutorials" / "item-set.md"
COMMANDS = re.findall(r"^maskedadv (.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
REAL = SHARED / "models" / "stories260k"


def test_the_page_has_the_whole_way() -> None:
    assert [shlex.split(c)[0] for c in COMMANDS] == [
        *["items"] * 4, "score", "fit", "gaps", "report",
    ]  # fmt: skip


@pytest.mark.parametrize("which", ["random", "real"])
def test_every_command_of_the_tutorial(
    which: str,
    tiny_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if which == "real" and not REAL.is_dir():
        pytest.skip("the real small model is not here")
    for path in (PAGE.parent / "item-set").iterdir():
        shutil.copy(path, tmp_path / path.name)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "small").symlink_to(REAL if which == "real" else tiny_model)
    monkeypatch.chdir(tmp_path)
    models = Models(script=False)
    models.dissent = {("small-model", "fr-5")}
    with models.serve() as server:
        monkeypatch.setenv("LABEL_API", server.url)
        for command in COMMANDS:
            assert run(*shlex.split(command)) == 0, command
            if "--plan" in command:
                assert not server.requests
    printed = capsys.readouterr().out
    assert "No problem found." in printed
    card = json.loads((tmp_path / "set" / "card.json").read_text("utf-8"))
    assert card["items"] == 39
    pooled = {r["field"]: r for r in card["agreement"] if r["language"] == "all"}
    assert pooled["cultural_sensitivity_label"]["unanimous"] == 39 / 40
    answers = pd.read_parquet(tmp_path / "answers" / "responses.parquet")
    assert len(answers) == 78
    assert (answers["subset"] == [label_of(name) for name in answers["item"]]).all()
    assert set(answers["language"]) == {"en", *(row["lang"] for row in LOCAL.values())}
    assert (answers["licence"] == "CC0-1.0").all()
    gaps = pd.read_csv(tmp_path / "fit" / "gaps.csv")
    assert set(gaps["locale"]) == {"fr", "el", "zh", "bn", "ar"}
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "small" in page
