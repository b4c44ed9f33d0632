"""The score table: from answers or accuracies to one score per model, benchmark, language and group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import BadValue, EmptyTable, ItemInBothSubsets, MissingColumn, MissingId, UnknownSubset
from maskedadv.files.text_tables import check_ids, check_unique, numbers, offenders, read_text_table
from maskedadv.validity.reliability import ANSWERS, ITEMS, UNKNOWN, binomial_error, item_error
from maskedadv.words.lists import first_few

GROUPS = ("ALL", "CA", "CS")
"""All items, culture-agnostic ones, culture-specific ones."""

_WHAT = "the score table"
_KEY = ["benchmark", "language", "group"]
_SCORE = ["score", "sd", "error", "basis"]


@dataclass(frozen=True)
class Scores:
    """Scores of models on benchmarks.

    Attributes
    ----------
    table
        Columns model, benchmark, language, group (ALL, CA, CS), score, sd, error, basis. `sd` is the
        standard error of an ability, 0 for accuracies: what a resample perturbs. `error` is the error
        variance of the score, NaN where not known, and `basis` where that is from (see `reliability`).
    counts
        Columns benchmark, language, group, n_items; no row where the number of items is not known.
    items
        Answers where there are any: model, benchmark, language, item, subset ('' unlabelled), correct.
    notes
        Things worth a look that are no reason to refuse.
    """

    table: pd.DataFrame
    counts: pd.DataFrame
    items: pd.DataFrame
    notes: tuple[str, ...] = ()

    def of(self, benchmark: str, language: str, group: str) -> pd.DataFrame:
        """score, sd, error and basis of one benchmark, indexed by model; empty where there are none."""
        found = self._by_key.get((benchmark, language, group))
        return self.table.iloc[:0].set_index("model")[_SCORE] if found is None else found

    @cached_property
    def _by_key(self) -> dict[tuple[str, ...], pd.DataFrame]:
        """Scores by benchmark, language and group; a study asks for each many times."""
        parts = self.table.groupby(_KEY, sort=False)
        return {tuple(map(str, key)): part.set_index("model")[_SCORE].sort_index() for key, part in parts}

    def n_items(self, benchmark: str, language: str, group: str) -> int | None:
        """Number of items behind a score, or None where it is not known."""
        chosen = (
            (self.counts["benchmark"] == benchmark)
            & (self.counts["language"] == language)
            & (self.counts["group"] == group)
        )
        found = self.counts.loc[chosen, "n_items"]
        return int(found.iloc[0]) if len(found) else None

    def known(self) -> list[str]:
        """`benchmark@language` of everything with a score, sorted."""
        pairs = self.table[["benchmark", "language"]].drop_duplicates()
        return sorted(pairs["benchmark"] + "@" + pairs["language"])


def read_scores(source: str | Path | pd.DataFrame) -> Scores:
    """Read a tidy score table, of answers, of accuracies, or of both for different benchmarks.

    Columns: model, benchmark, language; `item` and `correct` (0, 1 or empty) for answers, or `accuracy`
    (a share) for aggregates, with `n_items` if known; `subset` (CA, CS, or empty; aggregates also ALL).

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, BadValue, UnknownSubset, DuplicateRows,
    ItemInBothSubsets
    """
    frame = read_text_table(source, _WHAT, ["model", "benchmark", "language"])
    check_ids(frame, ["model", "benchmark", "language"], _WHAT)
    for name in ("item", "subset", "correct", "accuracy", "n_items"):
        if name not in frame.columns:
            frame[name] = ""
    is_item = (frame["item"] != "").to_numpy()
    _check_kinds(frame, is_item)
    _check_subsets(frame, is_item)
    answers = _score_items(_read_items(frame.loc[is_item].copy()))
    aggregates = _read_aggregates(frame.loc[~is_item])
    if answers.table.empty and aggregates.table.empty:
        raise EmptyTable(f"{_WHAT}: every answer and accuracy is empty.")
    return concat_scores([answers, aggregates])


def concat_scores(parts: Sequence[Scores]) -> Scores:
    """One after another; no two may hold the same benchmark and language."""
    return Scores(
        table=pd.concat([part.table for part in parts], ignore_index=True),
        counts=pd.concat([part.counts for part in parts], ignore_index=True),
        items=pd.concat([part.items for part in parts], ignore_index=True),
        notes=tuple(note for part in parts for note in part.notes),
    )


def join_scores(first: Scores, second: Scores) -> Scores:
    """Both, where the scores of a (benchmark, language) that `second` has are taken from `second` alone."""
    taken = set(second.known())

    def rest(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.loc[~(frame["benchmark"] + "@" + frame["language"]).isin(taken)]

    kept = replace(first, table=rest(first.table), counts=rest(first.counts))
    return concat_scores([kept, second])


def empty_scores() -> Scores:
    """No scores at all."""
    text = pd.Series(dtype="str")
    none = pd.Series(dtype=np.float64)
    return Scores(
        table=pd.DataFrame(
            {
                **dict.fromkeys(["model", *_KEY], text),
                **dict.fromkeys(["score", "sd", "error"], none),
                "basis": text,
            }
        ),
        counts=pd.DataFrame({**dict.fromkeys(_KEY, text), "n_items": []}),
        items=pd.DataFrame(
            {**dict.fromkeys(["model", "benchmark", "language", "item", "subset"], text), "correct": []}
        ),
    )


def _check_kinds(frame: pd.DataFrame, is_item: np.ndarray) -> None:
    """Answers have an item and `correct`; aggregates have neither; a benchmark is one or the other."""
    if (frame["correct"] == "").all() and (frame["accuracy"] == "").all():
        raise MissingColumn(f"{_WHAT} needs 'item' and 'correct', or 'accuracy'; both are absent or empty.")
    for name, rows, mend in (
        ("accuracy", is_item, "a row with an item carries 'correct'"),
        ("correct", ~is_item, "an answer needs its item id; an aggregate carries 'accuracy'"),
    ):
        bad = np.flatnonzero(rows & (frame[name] != "").to_numpy())
        if len(bad):
            where = offenders(frame.index[bad], [repr(frame[name].iloc[row]) for row in bad[:3]], len(bad))
            kind = MissingId if name == "correct" else BadValue
            raise kind(f"{_WHAT}: {len(bad)} rows have {name!r} where it does not belong ({where}); {mend}.")
    pair = frame["benchmark"] + "@" + frame["language"]
    both = sorted(set(pair[is_item]) & set(pair[~is_item]))
    if both:
        raise BadValue(f"{_WHAT}: {both[0]} has rows with items and rows without; keep one kind.")


def _check_subsets(frame: pd.DataFrame, is_item: np.ndarray) -> None:
    subset = frame["subset"]
    bad = np.flatnonzero(
        ~subset.isin(["CA", "CS", "ALL", ""]).to_numpy() | ((subset == "ALL").to_numpy() & is_item)
    )
    if len(bad):
        where = offenders(frame.index[bad], [repr(subset.iloc[row]) for row in bad[:3]], len(bad))
        raise UnknownSubset(
            f"{_WHAT}, column 'subset': {len(bad)} values are not CA, CS or empty (or, for aggregates, ALL) "
            f"({where})."
        )


def _read_items(frame: pd.DataFrame) -> pd.DataFrame:
    check_ids(frame, ["item"], _WHAT)
    check_unique(frame, ["model", "benchmark", "language", "item"], _WHAT)
    frame["correct"] = numbers(frame, "correct", _WHAT, "0, 1 or empty", 0, 1)
    bad = np.flatnonzero(~frame["correct"].isin([0, 1]) & frame["correct"].notna())
    if len(bad):
        where = offenders(frame.index[bad], [f"{frame['correct'].iloc[row]:g}" for row in bad[:3]], len(bad))
        raise BadValue(f"{_WHAT}, column 'correct': {len(bad)} values are not 0, 1 or empty ({where}).")
    labels = frame[["benchmark", "language", "item", "subset"]].drop_duplicates()
    clash = np.flatnonzero(labels.duplicated(["benchmark", "language", "item"]).to_numpy())
    if len(clash):
        shown = first_few(repr(labels["item"].iloc[row]) for row in clash)
        raise ItemInBothSubsets(
            f"{_WHAT}: {len(clash)} items have different subsets in different rows ({shown}); give each "
            "item one subset in a benchmark and language."
        )
    return frame[["model", "benchmark", "language", "item", "subset", "correct"]]


def _score_items(items: pd.DataFrame) -> Scores:
    observed = items.loc[items["correct"].notna()]
    if observed.empty:
        return empty_scores()
    labelled = observed.loc[observed["subset"] != ""].assign(group=lambda f: f["subset"])
    rows = pd.concat([observed.assign(group="ALL"), labelled], ignore_index=True)
    grouped = rows.groupby(["model", *_KEY], sort=True)["correct"]
    table = grouped.agg(score="mean", n="size").reset_index().assign(sd=0.0)
    table["error"] = binomial_error(table["score"].to_numpy(), table.pop("n").to_numpy())
    table["basis"] = np.where(table["error"].notna(), ITEMS, UNKNOWN)
    table = _with_item_errors(table, rows)
    counts = rows.groupby(_KEY)["item"].nunique().rename("n_items").reset_index()
    answered = grouped.size().rename("answered").reset_index().merge(counts, on=_KEY)
    holes = answered.loc[(answered["group"] == "ALL") & (answered["answered"] < answered["n_items"])]
    notes = []
    for (benchmark, language), part in holes.groupby(["benchmark", "language"]):
        rows_of = part[["model", "answered", "n_items"]].to_numpy()
        shown = first_few(f"{m} {a} of {n}" for m, a, n in rows_of)
        notes.append(
            f"{benchmark}@{language}: {len(part)} models did not answer every item, so accuracies are over "
            f"different items ({shown})."
        )
    return Scores(table, counts, observed, tuple(notes))


def _with_item_errors(table: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Errors from the answers themselves where all models answered the same items."""
    table = table.set_index(["model", *_KEY])
    for key, part in rows.groupby(_KEY, sort=True):
        models, items = part["model"].nunique(), part["item"].nunique()
        if models < 2 or items < 2 or len(part) != models * items:
            continue
        wide = part.pivot(index="model", columns="item", values="correct")  # noqa: PD010
        index = pd.MultiIndex.from_tuples([(model, *key) for model in wide.index], names=table.index.names)
        table.loc[index, "error"] = item_error(wide.to_numpy(dtype=np.float64))
        table.loc[index, "basis"] = ANSWERS
    return table.reset_index()


def _read_aggregates(frame: pd.DataFrame) -> Scores:
    frame = frame.assign(group=frame["subset"].where(frame["subset"] != "", "ALL"))
    check_unique(frame, ["model", *_KEY], _WHAT)
    share = "a share from 0 to 1 (divide percentages by 100), or empty"
    frame["score"] = numbers(frame, "accuracy", _WHAT, share, 0, 1)
    frame["n_items"] = numbers(frame, "n_items", _WHAT, "a whole number of 1 or more, or empty", 1)
    frame = frame.loc[frame["score"].notna()]
    if frame.empty:
        return empty_scores()
    frame = pd.concat([frame, _pool(frame)], ignore_index=True)
    sized = frame.loc[frame["n_items"].notna()]
    counts = sized.groupby(_KEY)["n_items"].max().astype(int).reset_index()
    table = frame[["model", *_KEY, "score"]].assign(sd=0.0)
    table["error"] = binomial_error(frame["score"].to_numpy(float), frame["n_items"].to_numpy(float))
    table["basis"] = np.where(table["error"].notna(), ITEMS, UNKNOWN)
    return replace(empty_scores(), table=table, counts=counts)


def _pool(frame: pd.DataFrame) -> pd.DataFrame:
    """ALL from CA and CS, weighted by their numbers of items, where ALL is not given."""
    wide = frame.pivot(  # noqa: PD010
        index=["model", "benchmark", "language"], columns="group", values=["score", "n_items"]
    )
    if not {("score", "CA"), ("score", "CS")} <= set(wide.columns):
        return frame.iloc[:0]
    n_ca, n_cs = wide["n_items"]["CA"], wide["n_items"]["CS"]
    # Rounded, so that models with the same share of right answers tie however it splits.
    score = ((wide["score"]["CA"] * n_ca + wide["score"]["CS"] * n_cs) / (n_ca + n_cs)).round(12)
    if ("score", "ALL") in wide.columns:
        score = score.where(wide["score"]["ALL"].isna())
    pooled = pd.DataFrame({"score": score, "n_items": n_ca + n_cs}).dropna().reset_index()
    return pooled.assign(group="ALL")
