"""Tables of facts: what is read, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from maskedadv import summaries
from maskedadv.errors import BadLocaleFacts, UnreadableFile


def test_own_locales_stand_on_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[zh]\nresource_level = 4.5\n["pt-BR"]\nname = "Brazilian"\nhome_origins = ["Brazil"]\n')
    facts = summaries.locale_facts(path)
    assert facts.loc["zh"].tolist() == ["Chinese", 4.5, ("China",)]
    assert facts.loc["pt-BR", "home_origins"] == ("Brazil",)
    assert np.isnan(facts.loc["pt-BR", "resource_level"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zh = 5", "outside a table"),
        ("[zh]\nresource_level = '5'", "must be a number"),
        ("[zh]\nresource_level = true", "must be a number"),
        ("[zh]\nresource_level = nan", "must be a number"),
        (f"[zh]\nresource_level = 1{'0' * 400}", "must be a number"),
        ("[zh]\nhome_origins = 'China'", "must be a list"),
        ("[zh]\nlevel = 5", "unknown key 'level'"),
        ("[zh", "not TOML"),
    ],
)
def test_locale_files_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadLocaleFacts, match=message):
        summaries.locale_facts(path)


def test_locale_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        summaries.locale_facts(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b'[zh]\nname = "\xe9"\n')
    with pytest.raises(UnreadableFile):
        summaries.locale_facts(tmp_path / "latin.toml")
