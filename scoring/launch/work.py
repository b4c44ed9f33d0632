"""What is left to ask of one model, and its answers on their way into files: as they come, then whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv.scoring.launch.journal import Journal, forget, journal_path, read_journal
from maskedadv.scoring.launch.plan import Piece, Unit, fingerprint
from maskedadv.scoring.launch.store import (
    Answer,
    answer_path,
    may_pass,
    read_answers,
    replace_rows,
    table_of,
    write_answers,
)

# Positions of the questions to ask, for each piece of which there are any.
Wanted = Sequence[tuple[Piece, Sequence[int]]]
# Told a position among the wanted pieces, and answers with their positions in the piece, as they come.
Keep = Callable[[int, Sequence[tuple[int, Answer]]], None]


@dataclass
class _Work:
    """A piece of which something is to be done.

    Attributes
    ----------
    key, path
        Fingerprint and place of its answers.
    table
        The answers of an earlier run, of which some failed; None where there are none.
    answers
        New answers by position, those in the journal among them.
    wanted
        Positions of the questions to ask.
    """

    piece: Piece
    key: dict[str, Any]
    path: Path
    table: pa.Table | None
    answers: dict[int, Answer]
    wanted: list[int]
    left: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(self.wanted)


@contextmanager
def keeping(
    unit: Unit, identity: Mapping[str, Any], out: Path, *, again: bool = False
) -> Iterator[tuple[Wanted, Keep]]:
    """What is to be asked of a unit, and the function that keeps the answers.

    Answers go into a journal as they come; a piece's file is written as soon as its last answer is there.
    With `again` what failed for reasons that may have passed is asked anew; nothing else is replaced.
    """
    found = [w for piece in unit.pieces if (w := _work(unit, piece, identity, out, again=again)) is not None]
    for w in found:
        if not w.wanted:
            _write(unit, w)
    works = [w for w in found if w.wanted]
    journals = [Journal(journal_path(w.path)) for w in works]
    lock = threading.Lock()

    def keep(n: int, answers: Sequence[tuple[int, Answer]]) -> None:
        w = works[n]
        with lock:
            journals[n].keep(answers)
            w.answers.update(answers)
            w.left -= {k for k, _ in answers}
            if not w.left:
                journals[n].close()
                _write(unit, w)
                w.answers.clear()

    try:
        yield [(w.piece, w.wanted) for w in works], keep
    finally:
        for journal in journals:
            journal.close()


def count_left(unit: Unit, identity: Mapping[str, Any], out: Path) -> int:
    """Questions that have no answer yet, neither in a file nor in a journal."""
    works = (_work(unit, piece, identity, out, again=False) for piece in unit.pieces)
    return sum(len(w.wanted) for w in works if w is not None)


def _work(unit: Unit, piece: Piece, identity: Mapping[str, Any], out: Path, *, again: bool) -> _Work | None:
    """What is to be done of a piece; None for nothing."""
    key = fingerprint(unit, piece, identity)
    path = answer_path(out, key)
    everything = range(len(piece.items))
    table = read_answers(path, key, len(piece.items))
    kept = read_journal(journal_path(path), len(piece.items))
    if table is None:
        return _Work(piece, key, path, None, kept, [k for k in everything if k not in kept])
    order = {item.item: k for k, item in enumerate(piece.items)}
    reasons = zip(table["item"].to_pylist(), table["reason"].to_pylist(), strict=True)
    failed = {order[name] for name, reason in reasons if may_pass(reason)}
    better = {k: answer for k, answer in kept.items() if k in failed}
    wanted = sorted(failed - better.keys()) if again else []
    left = not failed and journal_path(path).exists()  # killed between the file and the journal's removal
    return _Work(piece, key, path, table, better, wanted) if wanted or better or left else None


def _write(unit: Unit, w: _Work) -> None:
    """Write a piece's answers; nothing that was there is replaced but what had failed."""
    places = [k for k in sorted(w.answers) if w.table is None or not may_pass(w.answers[k].reason)]
    if places:
        table = table_of(unit.model, [w.piece.items[k] for k in places], [w.answers[k] for k in places])
        write_answers(w.path, table if w.table is None else replace_rows(w.table, table), w.key)
    forget(journal_path(w.path))
