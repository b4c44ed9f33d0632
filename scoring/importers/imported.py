"""All logs of one import put together: one response table, and a report of what was read and why not more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from maskedadv.errors import ItemInBothSubsets, MixedRuns, NothingToImport
from maskedadv.responses.uneven import uneven_shares
from maskedadv.scoring.importers.answers import (
    COMPACT,
    IDS,
    LOGGED_AGAIN,
    NOT_ANNOTATED,
    Note,
    Part,
    accuracy,
    examples,
)
from maskedadv.scoring.importers.outcomes import UNPARSED
from maskedadv.scoring.importers.runs import listed

_LOG_NOTES = ("source", "model", "task", "note")


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
    log_notes
        What the user should know of single logs: source, model, task, note. `notes` tells it once a model.
    """

    answers: pd.DataFrame
    logs: pd.DataFrame
    dropped: pd.DataFrame
    notes: tuple[str, ...] = field(default=())
    log_notes: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(_LOG_NOTES)))

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

    def unread(self) -> pd.DataFrame:
        """Written answers of which no option could be read: model, language, answers, unread, share.

        Only models that have some; the share is of all answers of the model in the language.
        """
        return unread_shares(self.answers)


def combine(parts: Sequence[Part], notes: Sequence[str] = (), *, tables: bool = False) -> Imported:
    """Put the parts together.

    Parameters
    ----------
    tables
        The parts are plain tables, where equal answers may be in two files.

    Raises
    ------
    NothingToImport
        No answer is left.
    MixedRuns
        The same model answered the same item in the same language in two tasks, logs or files.
    ItemInBothSubsets
        An item stands under CA and under CS.
    """
    dropped = [(p.model, p.task, reason, n) for p in parts for reason, n in p.dropped.items() if n]
    logs = pd.DataFrame(
        [(p.source, p.model, p.task, len(p.answers), accuracy(p.answers["correct"])) for p in parts],
        columns=["source", "model", "task", "answers", "accuracy"],
    )
    if not logs["answers"].sum():
        raise _nothing(dropped, [*notes, *pooled_notes(parts)])
    answers = pd.concat([part.answers for part in parts if len(part.answers)], ignore_index=True)
    answers = answers.astype(dict.fromkeys(COMPACT, "category"))
    again = answers.duplicated(list(IDS))
    if again.any():
        sources = np.repeat([p.source for p in parts], [len(p.answers) for p in parts])
        _refuse_mixture(answers, sources, tables=tables)
        dropped.append(("", "", LOGGED_AGAIN, int(again.sum())))
        answers = answers[~again].reset_index(drop=True)
    _refuse_both_subsets(answers)
    told = [*notes, *pooled_notes(parts), *uneven_notes(unread_shares(answers))]
    empty = [c for c in ("p_correct", "crm_logit", "n_options") if answers[c].isna().all()]
    empty += ["correct"] if answers["correct"].isna().all() and "p_correct" not in empty else []
    empty += [c for c in ("reason", "read_by", "precision") if set(answers[c]) == {""}]
    return Imported(
        answers.drop(columns=empty),
        logs,
        pd.DataFrame(dropped, columns=["model", "task", "reason", "count"]),
        tuple(told),
        pd.DataFrame(
            [(p.source, p.model, p.task, note.text) for p in parts for note in p.notes],
            columns=list(_LOG_NOTES),
        ),
    )


def unread_as_wrong(imported: Imported) -> Imported:
    """The same import with every written answer that could not be read counted as wrong."""
    answers = imported.answers
    unread = (
        (answers["reason"] == UNPARSED).to_numpy() if "reason" in answers else np.zeros(len(answers), bool)
    )
    if not unread.any():
        return imported
    reason = answers["reason"].astype("str").mask(unread, "")
    answers = answers.assign(correct=answers["correct"].mask(unread, 0), reason=reason.astype("category"))
    note = f"{int(unread.sum())} answers that could not be read count as wrong (--unread wrong)"
    return replace(imported, answers=answers, notes=(*imported.notes, note))


def pooled_notes(parts: Sequence[Part]) -> list[str]:
    """Every kind of note once a model."""
    told = []
    for model in dict.fromkeys(part.model for part in parts):
        own = [part for part in parts if part.model == model]
        kinds: dict[str, list[tuple[Part, Note]]] = {}
        for part in own:
            for note in part.notes:
                kinds.setdefault(note.kind, []).append((part, note))
        for noted in kinds.values():
            told.append(_pooled(model, noted, len({part.source for part in own})))
    return told


def _pooled(model: str, noted: list[tuple[Part, Note]], logs: int) -> str:
    part, note = noted[0]
    if len(noted) == 1:
        return f"{part.task} ({model}): {note.text}"
    share = f"{model}: in {len(noted)} of {logs} logs"
    if note.metric:
        logged, read = (float(np.mean([getattr(n, key) for _, n in noted])) for key in ("logged", "read"))
        return (
            f"{share} {note.metric} is {logged:.2g} on average, the answers read here give {read:.2f} (see "
            "--json for each)"
        )
    if len({n.text for _, n in noted}) == 1:
        return f"{share}, {note.text}"
    return f"{share}, such as {part.task}: {note.text} (see --json for each)"


def unread_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Per model and language: answers, unread, share; only of models with answers that could not be read."""
    if "reason" not in answers:
        return pd.DataFrame(columns=["model", "language", "answers", "unread", "share"])
    unread = answers["reason"] == UNPARSED
    keys = [answers[c].astype("str") for c in ("model", "language")]
    shares = unread.groupby(keys).agg(answers="size", unread="sum").reset_index()
    some = shares.groupby("model")["unread"].transform("sum") > 0
    return shares.assign(share=shares["unread"] / shares["answers"])[some].reset_index(drop=True)


def uneven_notes(shares: pd.DataFrame) -> list[str]:
    """A warning for every model whose unread answers are more in one language than in another."""
    odd = uneven_shares(shares.rename(columns={"unread": "missing"}))
    return [
        f"{text} could not be read; gaps may be biased (--unread wrong counts them as wrong, to see how much "
        "hangs on them)"
        for text in odd
    ]


def _nothing(dropped: list[tuple[str, str, str, int]], notes: Sequence[str]) -> NothingToImport:
    counts: Counter[str] = Counter()
    for _, _, reason, n in dropped:
        counts[reason] += n
    why = "; ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
    hint = ""
    if NOT_ANNOTATED in counts:
        hint = " Label the items with --subset-from FILE, or all of a set's with --subset CA or CS."
    reason = why or "; ".join(notes) or "the logs are empty"
    return NothingToImport(f"no answer was left to import: {reason}.{hint}")


def _refuse_mixture(answers: pd.DataFrame, sources: np.ndarray, *, tables: bool) -> None:
    """Refuse answers that are there more than once; equal ones of plain tables may be."""
    again = answers.duplicated(list(IDS), keep=False).to_numpy()
    rows = answers[again].assign(source=sources[again])
    if tables:
        alone = rows.drop_duplicates([*IDS, "correct", "p_correct"])
        rows = rows[
            rows.set_index(list(IDS)).index.isin(
                alone[alone.duplicated(list(IDS))].set_index(list(IDS)).index
            )
        ]
        if not len(rows):
            return
    count = int(rows.duplicated(list(IDS)).sum())
    first = rows.drop_duplicates(list(IDS)).head(4)
    ids = examples(first[list(IDS)].astype("str").agg(" / ".join, axis=1))
    places = listed(list(dict.fromkeys(rows["source"])), 4)
    if tables:
        raise MixedRuns(
            f"{count} answers are there more than once and differ ({ids}), in the files {places}; import one "
            "of them, or map `item` so that ids are unique."
        )
    tasks = ", ".join(sorted(rows["task"].astype("str").unique())[:4])
    raise MixedRuns(
        f"{count} answers are there more than once ({ids}), from the tasks {tasks} in {places}; choose with "
        "--task, so that no two are mixed."
    )


def _refuse_both_subsets(answers: pd.DataFrame) -> None:
    both = answers.drop_duplicates(["item", "subset"])
    both = both[both.duplicated("item")]
    if len(both):
        items = examples(both["item"])
        raise ItemInBothSubsets(
            f"{len(both)} items stand under CA and under CS ({items}); an item has one label everywhere."
        )
