"""Tables of facts: what is read, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskedadv import summaries
from maskedadv.errors import BadLocaleFacts, BadValue, DuplicateRows, MissingColumn, UnreadableFile


def test_sizes_in_every_spelling(tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    path.write_text(
        "model,parameters,family\n001,7B,Q\nNA,0.5b,None\n1e5,7e9,\norg/m,260000,x\n,,\n".replace(
            "\n,,\n", "\n"
        )
    )
    table = summaries.model_facts(path)
    assert table.index.tolist() == ["001", "NA", "1e5", "org/m"]
    assert table["parameters"].tolist() == [7e9, 5e8, 7e9, 260000]
    assert table["family"].tolist() == ["Q", "None", "", "x"]
    assert "origin" not in table


@pytest.mark.parametrize("text", ["7", "0.5", "-7B", "nan", "inf", "seven", "7BB", "1e", "B"])
def test_sizes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadValue, match=r"column 'parameters': 1 values .* \(row 2: "):
        summaries.model_facts(pd.DataFrame({"model": ["a", "b"], "parameters": ["7B", text]}))


def test_more_active_than_all_is_refused() -> None:
    with pytest.raises(BadValue, match="active_parameters"):
        summaries.model_facts(
            pd.DataFrame({"model": ["a"], "parameters": ["7B"], "active_parameters": ["8B"]})
        )


def test_model_tables_that_are_none() -> None:
    with pytest.raises(MissingColumn, match="'model'"):
        summaries.model_facts(pd.DataFrame({"name": ["a"]}))
    with pytest.raises(DuplicateRows):
        summaries.model_facts(pd.DataFrame({"model": ["a", "a"]}))


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


def test_words_that_would_fall_out_of_a_comparison_unseen_are_refused() -> None:
    frame = pd.DataFrame({"model": ["a", "b"], "kind": ["Open", "closed"]})
    assert summaries.model_facts(frame)["kind"].tolist() == ["open", "closed"]
    with pytest.raises(BadValue, match=r"'kind'.*neither open nor closed \(row 2: 'proprietary'\)"):
        summaries.model_facts(frame.assign(kind=["open", "proprietary"]))
    with pytest.raises(BadValue, match=r"'adapted_for'.*';' between"):
        summaries.model_facts(pd.DataFrame({"model": ["a"], "adapted_for": ["ar, fa"]}))
