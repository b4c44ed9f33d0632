"""The answers of one log as a table, and what counts as the same answer twice.

Some logs repeat a question once per filter, or hold a question that its data set holds twice; such repeats
are dropped and counted. Answers that contradict each other under one question are never merged.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd

from maskedadv.errors import BrokenLog, ItemNotUnique, MixedRuns
from maskedadv.scoring.importers.outcomes import Outcome
from maskedadv.words.lists import first_few

OTHER_FILTER = "same answer under another filter"
LOGGED_AGAIN = "same answer logged again"
REPEATED = "question repeated in the data set"
CUT_OFF = "record cut off at the end of the file"
NOT_ANNOTATED = "not annotated CA or CS"
IDS = ("model", "subset", "language", "item")
COLUMNS = (
    *IDS,
    *("correct", "p_correct", "crm_logit", "n_options"),
    *("task", "reason", "read_by", "precision"),
)
COMPACT = ("model", "subset", "language", "task", "reason", "read_by", "precision")
_CHUNK = 20_000


class Row(NamedTuple):
    """One answer of one log.

    `order` is the question's place in its data set; `question` and `answer` are fingerprints of what was
    asked and answered: equal numbers stand for equal content.
    """

    item: str
    subset: str
    language: str
    outcome: Outcome
    order: int = 0
    question: int = 0
    answer: int = 0


class Note(NamedTuple):
    """What the user should know of one log.

    Notes of one `kind` are told once a model; `logged` and `read` are the scores of a note that compares.
    """

    text: str
    kind: str
    metric: str = ""
    logged: float = math.nan
    read: float = math.nan


def make_notes(notes: Sequence[str | Note]) -> tuple[Note, ...]:
    """Notes, the kind of a plain text being the text without its numbers."""
    return tuple(n if isinstance(n, Note) else Note(n, re.sub(r"\d[\d.,]*", "#", n)) for n in notes)


@dataclass(frozen=True)
class Part:
    """What one log gave.

    Attributes
    ----------
    source, model, task
        Where it came from.
    answers
        One row per answer, with `COLUMNS`. Where an answer was not observed, `correct` and `p_correct` are
        empty and `reason` says why; `precision` is bf16 where log-probabilities have no more than that.
    dropped
        How many answers were left out, by reason.
    notes
        What the user should know of this log.
    """

    source: str
    model: str
    task: str
    answers: pd.DataFrame
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def gather(rows: Iterable[Row]) -> pd.DataFrame:
    """A table of rows; holds a few tens of bytes a row, however long the records they came from.

    Returns
    -------
    Columns item, subset, language, correct, p_correct, crm_logit, n_options, reason, read_by, tied, order,
    question, answer.
    """
    rows = iter(rows)
    chunks = [_frame([])]
    while chunk := list(islice(rows, _CHUNK)):
        chunks.append(_frame(chunk))
    return pd.concat(chunks, ignore_index=True)


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    outcomes = [row.outcome for row in rows]
    return pd.DataFrame(
        {
            "item": texts([row.item for row in rows], "an item id"),
            "subset": texts([row.subset for row in rows], "a subset"),
            "language": texts([row.language for row in rows], "a language"),
            "correct": pd.array([o.correct for o in outcomes], dtype="Int8"),
            "p_correct": np.array([o.p_correct for o in outcomes], dtype=np.float64),
            "crm_logit": np.array([o.crm_logit for o in outcomes], dtype=np.float64),
            "n_options": pd.array([o.n_options or None for o in outcomes], dtype="Int16"),
            "reason": texts([o.reason for o in outcomes], "a reason"),
            "read_by": texts([o.read_by for o in outcomes], "a rule"),
            "tied": np.array([o.tied for o in outcomes], dtype=np.bool_),
            "order": np.array([row.order for row in rows], dtype=np.int64),
            "question": np.array([row.question for row in rows], dtype=np.int64),
            "answer": np.array([row.answer for row in rows], dtype=np.int64),
        }
    )


def texts(values: Sequence[str], what: str) -> pd.Series:
    """A column of texts.

    Raises
    ------
    BrokenLog
        One of them holds half a character, as JSON can, but UTF-8 and the files written here cannot.
    """
    try:
        return pd.Series(values, dtype="str")
    except UnicodeEncodeError as error:
        raise BrokenLog(
            f"{what} holds half a character ({error.object[:40]!a}), which is no text."
        ) from error


def place(value: object, otherwise: int) -> int:
    """A logged whole number that may stand for a question's place, or `otherwise`."""
    return value if isinstance(value, int) and abs(value) < 2**62 else otherwise


def without_repeats(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, Counter[str]]:
    """Keep the first of equal answers; refuse answers that contradict each other.

    Parameters
    ----------
    frame
        As `gather` returns it.
    source
        The log, for messages.

    Returns
    -------
    The table in the order of the data set, and how many rows were dropped, by reason.

    Raises
    ------
    MixedRuns
        The same question, at the same place of the data set, has two different answers.
    ItemNotUnique
        Two different questions have the same item id.
    """
    dropped: Counter[str] = Counter()
    again = frame.duplicated(["order", "question"])
    differs = again & ~frame.duplicated(["order", "question", "answer"])
    if differs.any():
        raise MixedRuns(
            f"{source}: {int(differs.sum())} questions are answered twice, differently "
            f"({examples(frame.loc[differs, 'item'])}); the file holds more than one run: split it."
        )
    dropped[LOGGED_AGAIN] = int(again.sum())
    frame = frame[~again].sort_values("order", kind="stable")
    ids = ["subset", "language", "item"]
    again = frame.duplicated(ids)
    differs = again & ~frame.duplicated([*ids, "question"])
    if differs.any():
        raise ItemNotUnique(
            f"{source}: {int(differs.sum())} item ids stand for more than one question "
            f"({examples(frame.loc[differs, 'item'])}); map `item` to a field that tells questions apart."
        )
    dropped[REPEATED] = int(again.sum())
    return frame[~again], +dropped


def make_part(
    frame: pd.DataFrame,
    *,
    source: str,
    model: str,
    task: str,
    dropped: Counter[str],
    notes: Sequence[str | Note] = (),
    precision: str = "",
) -> Part:
    """A `Part` of a table that `gather` returned and `without_repeats` cleared; drops unlabelled answers."""
    texts([model, task], "a model's or task's name")
    notes, dropped = list(notes), Counter(dropped)
    unlabelled = frame["subset"] == ""
    dropped[NOT_ANNOTATED] += int(unlabelled.sum())
    frame = frame[~unlabelled]
    if ties := int(frame["tied"].sum()):
        notes.append(f"{ties} of {len(frame)} answers are ties; as in the log, the first option counts")
    answers = frame.assign(model=model, task=task, precision=precision)[[*COLUMNS]]
    answers = answers.astype(dict.fromkeys(COMPACT, "category")).reset_index(drop=True)
    return Part(source, model, task, answers, dict(+dropped), make_notes(notes))


def fingerprint(content: object) -> int:
    """A number that is equal for equal content, within this run of the program."""
    return hash(content if isinstance(content, str) else repr(content))


def accuracy(correct: pd.Series) -> float:
    """Share of right answers among those observed, NaN without any."""
    seen = correct.dropna()
    return float(seen.mean()) if len(seen) else math.nan


def examples(values: pd.Series) -> str:
    """The first three."""
    return first_few((repr(value) for value in values.iloc[:3]), count=len(values))
