"""TOML files that cannot be read are named, without Python's words for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.errors import BadMapping, UnreadableFile
from maskedadv.files.toml import read_toml


def test_what_cannot_be_read_is_said_plainly(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    with pytest.raises(UnreadableFile) as told:
        read_toml(path, BadMapping)
    assert str(told.value) == f"{path} cannot be read (No such file or directory); give a TOML file in UTF-8."
    path.write_bytes(b"\xff")
    with pytest.raises(UnreadableFile, match="give a TOML file in UTF-8"):
        read_toml(path, BadMapping)
    path.write_bytes(b"[")
    with pytest.raises(BadMapping, match="is not TOML"):
        read_toml(path, BadMapping)
    path.write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_toml(path, BadMapping) == {"a": 1}
