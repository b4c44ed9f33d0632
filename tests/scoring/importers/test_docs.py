"""Every mapping printed in docs/how-to/importing.md is one that the importers accept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskedadv.scoring.importers.mapping import read_mapping
from maskedadv.scoring.importers.table_mapping import TableMapping, read_table_mapping

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "importing.md"
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("text", BLOCKS)
def test_printed_mappings_are_read(tmp_path, text):
    path = tmp_path / "map.toml"
    path.write_text(text, encoding="utf-8")
    if "[[task]]" in text:
        assert len(read_mapping(path)) == 1
    else:
        assert read_table_mapping(path) != TableMapping()


def test_there_are_some():
    assert len(BLOCKS) == 8
