"""Work that was interrupted says where it is kept, and an interrupt before any leaves nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from maskedadv.files.journal import Journal


def test_an_interrupt_says_where_work_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = tmp_path / ".out.csv.unfinished"
    logging.getLogger("maskedadv").propagate = True  # the command line turns it off
    caplog.set_level(logging.INFO, "maskedadv")
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
