"""Answers kept as they come: a kill loses nothing.

The journal of a piece lies beside its answer file, a record for what came at once, and goes when that file is
written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maskedadv.scoring.launch.lines import Lines, read_lines
from maskedadv.scoring.launch.store import Answer, may_pass

_SUFFIX = ".journal"


def journal_path(answers: Path) -> Path:
    """The journal of an answer file."""
    return answers.with_name(answers.name + _SUFFIX)


def read_journal(path: Path, n_items: int) -> dict[int, Answer]:
    """The answers that are kept, by the item's position."""
    found: dict[int, Answer] = {}
    for record in read_lines(path):
        for position, *fields in json.loads(record):
            if 0 <= position < n_items and len(fields) == len(Answer._fields):  # not another version's
                found.setdefault(position, _answer(fields))
    return found


class Journal:
    """A journal to write to; its file is made with the first answer.

    What is kept by one call is there as a whole or not at all. Failures that may pass are not kept: a later
    run is to ask again.
    """

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)

    def keep(self, answers: Iterable[tuple[int, Answer]]) -> None:
        """Keep answers with the positions of their items; after the end, nothing.

        Raises
        ------
        OSError
            The disk is full.
        """
        rows = [_fields(position, answer) for position, answer in answers if not may_pass(answer.reason)]
        if rows:
            self._lines.add(json.dumps(rows).encode())

    def close(self) -> None:
        """End it; answers that come later are not kept."""
        self._lines.close()


def forget(path: Path) -> None:
    """Remove a journal whose answers are in their file."""
    path.unlink(missing_ok=True)


def _fields(position: int, answer: Answer) -> list[Any]:
    logprobs = None if answer.logprobs is None else [_exact(float(x)) for x in answer.logprobs]
    return [position, logprobs, *answer[1:]]


def _answer(fields: Iterable[Any]) -> Answer:
    logprobs, *rest = fields
    return Answer(None if logprobs is None else [float.fromhex(x) for x in logprobs], *rest)


def _exact(value: float) -> str:
    """A number so that the same comes back, infinities and NaN too."""
    return value.hex()
