"""All logs of one import put together: one response table, and a report of what was read and why not more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from maskedadv.errors import ItemInBothSubsets, MixedRuns, NothingToImport
from maskedadv.scoring.importers.answers import COMPACT, IDS, NOT_ANNOTATED, Part, accuracy, examples


@dataclass(frozen=True)
class Imported:
    """A response table and how it came about.

    Attributes
    ----------
    answers
        The response table, with `answers.COLUMNS`; columns that hold nothing are left out.
    logs
        One row per log: source, model, task, answers, accuracy.
    dropped
        Answers left out: model, task, reason, count.
    notes
        What the user should know, the most general first.
    """

    answers: pd.DataFrame
    logs: pd.DataFrame
    dropped: pd.DataFrame
    notes: tuple[str, ...] = field(default=())

    def counts(self) -> pd.DataFrame:
        """Per model, language and subset: answers, observed, accuracy (share right, or mean p_correct)."""
        table = self.answers
        value = table["correct"] if "correct" in table else table["p_correct"]
        grouped = value.astype("Float64").groupby(
            [table[c].astype("str") for c in ("model", "language", "subset")]
        )
        return grouped.agg(answers="size", observed="count", accuracy="mean").reset_index()

    def not_observed(self) -> pd.DataFrame:
        """Answers kept as not observed: model, task, reason, count."""
        empty = (
            self.answers[self.answers["reason"] != ""] if "reason" in self.answers else self.answers.iloc[:0]
        )
        keys = [c for c in ("model", "task", "reason") if c in empty]
        return empty.groupby(keys, observed=True).size().rename("count").reset_index()


def combine(parts: Sequence[Part], notes: Sequence[str] = ()) -> Imported:
    """Put the parts together.

    Raises
    ------
    NothingToImport
        No answer is left.
    MixedRuns
        The same model answered the same item in the same language in two tasks or logs.
    ItemInBothSubsets
        An item stands under CA and under CS.
    """
    notes = [*notes, *(f"{part.task} ({part.model}): {note}" for part in parts for note in part.notes)]
    dropped = pd.DataFrame(
        [(p.model, p.task, reason, count) for p in parts for reason, count in p.dropped.items() if count],
        columns=["model", "task", "reason", "count"],
    )
    logs = pd.DataFrame(
        [(p.source, p.model, p.task, len(p.answers), accuracy(p.answers["correct"])) for p in parts],
        columns=["source", "model", "task", "answers", "accuracy"],
    )
    if not logs["answers"].sum():
        why = "; ".join(f"{int(n)} {r}" for r, n in dropped.groupby("reason")["count"].sum().items())
        hint = ""
        if NOT_ANNOTATED in set(dropped["reason"]):
            hint = " Label the items with --subset-from FILE, or all of a set's with --subset CA or CS."
        reason = why or "; ".join(notes) or "the logs are empty"
        raise NothingToImport(f"no answer was left to import: {reason}.{hint}")
    answers = pd.concat([part.answers for part in parts if len(part.answers)], ignore_index=True)
    answers = answers.astype(dict.fromkeys(COMPACT, "category"))
    _refuse_mixture(answers)
    empty = [c for c in ("p_correct", "crm_logit", "n_options") if answers[c].isna().all()]
    empty += ["correct"] if answers["correct"].isna().all() and "p_correct" not in empty else []
    empty += [c for c in ("reason", "precision") if set(answers[c]) == {""}]
    return Imported(answers.drop(columns=empty), logs, dropped, tuple(notes))


def _refuse_mixture(answers: pd.DataFrame) -> None:
    again = answers.duplicated(list(IDS), keep=False)
    if again.any():
        rows = answers[again]
        tasks = ", ".join(sorted(rows["task"].astype("str").unique())[:4])
        count = int(answers.duplicated(list(IDS)).sum())
        first = rows.drop_duplicates(list(IDS)).head(4)
        ids = examples(first[list(IDS)].astype("str").agg(" / ".join, axis=1))
        raise MixedRuns(
            f"{count} answers are there more than once ({ids}), from the tasks {tasks}; choose with "
            "--task, so that no two are mixed."
        )
    both = answers.drop_duplicates(["item", "subset"])
    both = both[both.duplicated("item")]
    if len(both):
        items = examples(both["item"])
        raise ItemInBothSubsets(
            f"{len(both)} items stand under CA and under CS ({items}); an item has one label everywhere."
        )
