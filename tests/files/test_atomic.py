"""A file is whole or not there; its mode is that of any new file; what a kill leaves can be found."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import BadLocaleFacts, OutputExists, UnreadableFile
from maskedadv.files.atomic import check_table_output, partial_files, whole_name, write_table, write_whole
from maskedadv.files.toml import read_toml
from maskedadv.reports.drawing import check_figure


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a [1].csv"
    path.write_text("old")

    def fail(partial: Path) -> None:
        partial.write_text("half")
        assert [partial] == partial_files(path, os.getpid()), "a name with signs that a pattern could mean"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(path, fail)
    assert [p.name for p in tmp_path.iterdir()] == ["a [1].csv"]
    assert path.read_text() == "old"


def test_a_partial_file_tells_what_it_was_to_be(tmp_path: Path) -> None:
    seen: list[str] = []
    write_whole(tmp_path / "zh.nc", lambda partial: (seen.append(partial.name), partial.write_text("x")))
    assert seen[0] != "zh.nc"
    assert whole_name(seen[0]) == "zh.nc"
    assert whole_name("zh.nc") == "zh.nc"
    assert partial_files(tmp_path / "zh.nc", os.getpid()) == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_mode_is_the_users_own(tmp_path: Path, name: str) -> None:
    before = os.umask(0o027)
    try:
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputExists, match="cannot be written"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "absent" / "a.csv")


def test_toml_that_is_none_is_named_as_the_caller_says(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'\xef\xbb\xbfa = "b"\n')
    assert read_toml(path, BadLocaleFacts) == {"a": "b"}
    path.write_text("a = ")
    with pytest.raises(BadLocaleFacts, match="is not TOML"):
        read_toml(path, BadLocaleFacts)
    path.write_bytes(b'a = "\xe9"')
    with pytest.raises(UnreadableFile, match="UTF-8"):
        read_toml(path, BadLocaleFacts)


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for check, name in ((check_table_output, "a.csv"), (check_figure, "a.png")):
        check(tmp_path / name, overwrite=False)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    for check, name in ((check_table_output, "a.csv"), (check_figure, "a.png")):
        with pytest.raises(OutputExists, match="nothing can be made in"):
            check(tmp_path / name, overwrite=True)
