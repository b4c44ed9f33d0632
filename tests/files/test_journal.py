"""Work that was interrupted says where it is kept, and an interrupt before any leaves nothing."""

from __future__ import annotations

import logging
import os
from io import FileIO
from pathlib import Path

import pytest

from maskedadv.errors import OutputExists
from maskedadv.files.journal import Journal


def test_an_interrupt_says_where_work_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / ".out.csv.unfinished"
    own = logging.Logger("own", logging.INFO)  # what other tests do to the package's does not count
    own.addHandler(caplog.handler)
    monkeypatch.setattr("maskedadv.files.journal.log", own)
    with pytest.raises(KeyboardInterrupt), Journal.open(kept, {"run": 1}):
        raise KeyboardInterrupt
    assert not kept.exists()
    assert not caplog.messages
    with pytest.raises(KeyboardInterrupt):
        _interrupted_after_one(kept)
    assert caplog.messages == [f"1 finished part is kept in {kept}; the same command completes it."]
    with Journal.open(kept, {"run": 1}) as journal:
        assert journal.get("first") == 0.5
        journal.add("second", 1)
    assert not kept.exists()
    assert len(caplog.messages) == 1


def _interrupted_after_one(kept: Path) -> None:
    with Journal.open(kept, {"run": 1}) as journal:
        journal.add("first", 0.5)
        raise KeyboardInterrupt


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_names_the_journal(tmp_path: Path) -> None:
    journal = Journal(file=FileIO("/dev/full", "w"), path=tmp_path / ".out.csv.unfinished")
    with pytest.raises(OutputExists, match=r"out\.csv\.unfinished cannot be written \(No space left"):
        journal.add("first", 1)
    assert journal.get("first") is None
