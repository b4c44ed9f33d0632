"""The journal: what was kept comes back to the last bit, what was torn or changed does not."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import pytest

from maskedadv.errors import OutputExists
from maskedadv.scoring.launch.journal import Journal, forget, journal_path, read_journal
from maskedadv.scoring.launch.store import Answer

ANSWERS = [
    Answer(np.array([-0.1, -2.0 / 3.0]), None, "", 2),
    Answer([math.nan, -math.inf], None, "option_not_in_top", 1, None, ""),
    Answer(None, 3, "", None, "Antwort: „D“\n\u2028x", "default temperature"),
    Answer(None, None, "too_long"),
]


def same(a: Answer, b: Answer) -> bool:
    numbers = [[] if x.logprobs is None else [float(v) for v in x.logprobs] for x in (a, b)]
    return np.array_equal(*numbers, equal_nan=True) and a[1:] == b[1:]


def write(path: Path) -> bytes:
    journal = Journal(path)
    journal.keep([*enumerate(ANSWERS[:2])])
    journal.keep([(2, ANSWERS[2])])
    journal.keep([(3, ANSWERS[3])])
    journal.close()
    journal.keep([(4, ANSWERS[3])])  # too late: nothing is written anywhere
    return path.read_bytes()


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    path = journal_path(tmp_path / "m" / "en" / "s.1.parquet")
    write(path)
    found = read_journal(path, 9)
    assert sorted(found) == [0, 1, 2, 3]
    assert all(same(found[k], ANSWERS[k]) for k in found)
    assert sorted(read_journal(path, 3)) == [0, 1, 2]
    forget(path)
    assert read_journal(path, 9) == {}
    forget(path)


def test_failures_that_may_pass_are_not_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.keep(enumerate([Answer(reason="api_500"), Answer(chosen=1), Answer(reason="out_of_memory")]))
    journal.close()
    assert list(read_journal(tmp_path / "j", 9)) == [1]


def test_a_journal_torn_anywhere_gives_whole_records_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j"
    whole = write(path)
    counts = []
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        found = read_journal(path, 9)
        assert all(same(found[k], ANSWERS[k]) for k in found)
        assert (0 in found) == (1 in found)  # what came at once is there at once
        counts.append(len(found))
        journal = Journal(path)
        journal.keep([(8, ANSWERS[3])])
        journal.close()
        assert sorted(read_journal(path, 9)) == [*sorted(found), 8]
    assert counts[0] == 0
    assert counts[-1] == 4
    assert counts == sorted(counts)


def test_a_bit_that_flipped_loses_one_record_at_most(tmp_path: Path) -> None:
    path = tmp_path / "j"
    whole = write(path)
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        found = read_journal(path, 9)
        assert all(same(found[k], ANSWERS[k]) for k in found)
        assert len(found) >= 2


def test_a_journal_is_not_read_in_anothers_place(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(write(tmp_path / "j"))
    assert read_journal(tmp_path / "other", 9) == {}


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    answer = Answer(None, 1, "", None, "x" * 5000)

    def work(first: int) -> None:
        for k in range(first, first + 50):
            journal.keep([(k, answer)])

    threads = [threading.Thread(target=work, args=(50 * t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    assert len(read_journal(tmp_path / "j", 400)) == 400


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    journal = Journal(tmp_path / "j")
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[: len(data) // 2]))
    with pytest.raises(OutputExists, match=r"j cannot be written \(No space left"):
        journal.keep([(0, ANSWERS[2])])
    monkeypatch.undo()
    journal.keep([(1, ANSWERS[3])])
    journal.close()
    assert list(read_journal(tmp_path / "j", 9)) == [1]


def test_records_of_another_version_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that knows more of an answer, or less."""
    from maskedadv.scoring.launch import journal as module

    fields = module._fields
    for change in (lambda row: [*row, "new"], lambda row: row[:-1]):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        monkeypatch.setattr(module, "_fields", lambda k, a, change=change: change(fields(k, a)))
        write(path)
        assert read_journal(path, 9) == {}
