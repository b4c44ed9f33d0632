"""One pass over the files of a table: every check of a table in memory, and where every language lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import DuplicateRows, EmptyTable, ItemInBothSubsets, UnknownSubset
from maskedadv.responses.clipping import count_clipped
from maskedadv.responses.columns import offenders
from maskedadv.responses.folders import other_columns
from maskedadv.responses.kinds import IDS
from maskedadv.responses.marks import TableMarks
from maskedadv.responses.pieces import Batch, TableFile, read_batches
from maskedadv.responses.presence import Presence
from maskedadv.responses.vocabulary import Vocabulary
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """A row group, and what must be known of it to read only what one locale needs.

    Attributes
    ----------
    file, number : place of its file among all, and its own in the file
    languages : codes of those that it holds
    items : codes of the first and the last item, sorted as text, between which its items lie
    """

    file: int
    number: int
    languages: tuple[int, ...]
    items: tuple[int, int]


@dataclass(frozen=True)
class Survey:
    """What a table holds, but for the answers.

    Attributes
    ----------
    models, languages, items : ids, sorted
    item_subset : index into `SUBSETS`, shape (I,)
    asked : items with a row in each language, shape (K, I)
    observed : number of values of every value column; `crm` counts rows with either log-odds or p_correct
    options : least and largest number of options of every item, NaN where there is none, shape (2, I)
    clipped : probabilities at 0 or 1; see `count_clipped`
    shares : rows and empty rows of every model and language: model, language, answers, missing
    rows : number of them
    fingerprint : see `TableMarks`
    groups : row groups
    """

    models: NDArray[np.object_]
    languages: NDArray[np.object_]
    items: NDArray[np.object_]
    item_subset: NDArray[np.int8]
    asked: NDArray[np.bool_]
    observed: Counter[str]
    options: Array
    clipped: int
    shares: pd.DataFrame
    rows: int
    fingerprint: str
    groups: tuple[Group, ...]


def survey_files(files: Sequence[TableFile], tell: Callable[[int], None] = lambda _: None) -> Survey:
    """Look at every row once.

    Parameters
    ----------
    tell : called with the number of files that are done

    Raises
    ------
    InputError
        As `maskedadv.read_responses` refuses a table; the message names the file.
    """
    tally = _Tally()
    for place, file in enumerate(files):
        file.state  # noqa: B018  # from now on
        for batch in read_batches(file, tally.vocabularies):
            tally.add(place, file, batch)
        tell(place + 1)
    return tally.survey()


class _Tally:
    """What grows as batches come."""

    def __init__(self) -> None:
        self.vocabularies = {name: Vocabulary(name) for name in IDS}
        self.subset = np.zeros(0, dtype=np.int8)
        self.options = np.full((2, 0), np.nan)
        self.shares: Counter[tuple[int, int, str]] = Counter()
        self.presence: dict[int, Presence] = {}
        self.observed: Counter[str] = Counter()
        self.clipped = 0
        self.marks = TableMarks()
        self.groups: dict[tuple[int, int], tuple[set[int], str, str]] = {}
        self.columns: tuple[TableFile, set[str]] | None = None

    def add(self, place: int, file: TableFile, batch: Batch) -> None:
        """Count a batch and check it against those before."""
        first, columns = self.columns = self.columns or (file, set(batch.values))
        if odd := sorted(columns ^ set(batch.values)):
            raise other_columns(odd[0], first.path, file.path)
        grown = max(len(self.vocabularies["item"]) - len(self.subset), 0)
        if grown:
            self.subset = np.concatenate([self.subset, np.full(grown, -1, dtype=np.int8)])
            self.options = np.concatenate([self.options, np.full((2, grown), np.nan)], axis=1)
        self._add_subsets(file, batch)
        self._add_values(batch)
        model, language, item = (batch.codes[n] for n in ("model", "language", "item"))
        marks = [self.vocabularies[n].marks[batch.codes[n]] for n in ("language", "model", "item")]
        self.marks.add(np.asarray(sum(marks), dtype=np.uint64), batch.values)
        own = np.unique(language)
        for code in own:
            rows = np.flatnonzero(language == code) if len(own) > 1 else np.arange(len(batch))
            again = self.presence.setdefault(int(code), Presence()).add(model[rows], item[rows])
            if len(again):
                self._refuse_repeated(file, batch, rows[again])
        languages, low, high = self.groups.setdefault((place, batch.group), (set(), *batch.bounds))
        languages |= set(own.tolist())
        ends = min(low, batch.bounds[0]), max(high, batch.bounds[1])
        self.groups[place, batch.group] = (languages, *ends)

    def _add_subsets(self, file: TableFile, batch: Batch) -> None:
        names = self.vocabularies["subset"].ids
        code = np.array([SUBSETS.index(s) if s in SUBSETS else -1 for s in names], dtype=np.int8)
        subset, item = code[batch.codes["subset"]], batch.codes["item"]
        rows = np.flatnonzero(subset < 0)
        if len(rows):
            shown = [repr(names[batch.codes["subset"][r]]) for r in rows[:3]]
            raise UnknownSubset(
                f"{file.path}: column 'subset': {len(rows)} values are neither CA (culture-agnostic) nor CS "
                f"(culture-specific) ({offenders(rows + batch.first, shown)})."
            )
        new = self.subset[item] < 0
        self.subset[item[new]] = subset[new]
        clash = np.flatnonzero(self.subset[item] != subset)
        if len(clash):
            shown = [repr(self.vocabularies["item"].ids[item[r]]) for r in clash[:3]]
            raise ItemInBothSubsets(
                f"{file.path}: column 'item': {len(np.unique(item[clash]))} items stand under both CA and CS "
                f"({offenders(clash + batch.first, shown)}); give each item one subset, or different ids."
            )

    def _add_values(self, batch: Batch) -> None:
        values = batch.values
        for name, column in values.items():
            self.observed[name] += int((~np.isnan(column)).sum())
        p, logit = values.get("p_correct"), values.get("crm_logit")
        either = [~np.isnan(v) for v in (p, logit) if v is not None]
        if either:
            self.observed["crm"] += int(np.logical_or.reduce(either).sum())
        if p is not None:
            self.clipped += count_clipped(p, logit)
        if (given := values.get("n_options")) is not None:
            item, known = batch.codes["item"], ~np.isnan(given)
            np.fmin.at(self.options[0], item[known], given[known])
            np.fmax.at(self.options[1], item[known], given[known])
        models, languages = len(self.vocabularies["model"]), len(self.vocabularies["language"])
        key = batch.codes["model"].astype(np.int64) * languages + batch.codes["language"]
        for name in ("correct", "p_correct"):
            if name in values:
                empty = key[np.isnan(values[name])]
                self._count(empty, models * languages, languages, name)
        self._count(key, models * languages, languages, "rows")

    def _count(self, key: NDArray[np.int64], size: int, languages: int, name: str) -> None:
        if not len(key):
            return
        low = int(key.min())
        count = np.bincount(key - low) if size else np.zeros(0, dtype=np.intp)
        for at in np.flatnonzero(count):
            model, language = divmod(int(at) + low, languages)
            self.shares[model, language, name] += int(count[at])

    def _refuse_repeated(self, file: TableFile, batch: Batch, rows: NDArray[np.intp]) -> None:
        rows = np.sort(rows)
        ids = {n: self.vocabularies[n].ids for n in ("model", "item", "language")}
        shown = [
            f"{ids['model'][batch.codes['model'][r]]!r} on {ids['item'][batch.codes['item'][r]]!r} in "
            f"{ids['language'][batch.codes['language'][r]]!r}"
            for r in rows[:3]
        ]
        raise DuplicateRows(
            f"{file.path}: {len(rows)} rows repeat an earlier (model, subset, language, item), there or in a "
            f"file before ({offenders(rows + batch.first, shown)}); keep one row per answer."
        )

    def survey(self) -> Survey:
        """With ids sorted.

        Raises
        ------
        EmptyTable
        """
        if not self.marks.rows:
            raise EmptyTable("the table has a header but no rows.")
        if not (self.observed["correct"] or self.observed["p_correct"]):
            raise EmptyTable("every answer is empty; there is nothing to fit.")
        models, languages, items = (_sorted(self.vocabularies[n].ids) for n in ("model", "language", "item"))
        columns = [n for n in self.marks.sums if self.observed[n]]
        ordered = np.array(self.vocabularies["item"].ids, dtype=object)[items]
        rank = np.empty(len(languages), dtype=np.intp)
        rank[languages] = np.arange(len(languages))
        asked = np.stack([self.presence[int(k)].asked(len(items))[items] for k in languages])
        sorted_subsets = self.subset[items]
        return Survey(
            models=np.array(self.vocabularies["model"].ids, dtype=object)[models],
            languages=np.array(self.vocabularies["language"].ids, dtype=object)[languages],
            items=ordered,
            item_subset=sorted_subsets,
            asked=asked,
            observed=self.observed,
            options=self.options[:, items],
            clipped=self.clipped,
            shares=self._shares(),
            rows=self.marks.rows,
            fingerprint=self.marks.fingerprint(ordered, sorted_subsets, columns),
            groups=tuple(self._groups(ordered, rank)),
        )

    def _shares(self) -> pd.DataFrame:
        name = "correct" if self.observed["correct"] else "p_correct"
        ids = {n: self.vocabularies[n].ids for n in ("model", "language")}
        rows = [
            (ids["model"][m], ids["language"][k], count, self.shares[m, k, name])
            for (m, k, kind), count in self.shares.items()
            if kind == "rows"
        ]
        return pd.DataFrame(sorted(rows), columns=["model", "language", "answers", "missing"])

    def _groups(self, items: NDArray[np.object_], rank: NDArray[np.intp]) -> Iterable[Group]:
        for (file, number), (languages, low, high) in self.groups.items():
            first, last = np.searchsorted(items, low), np.searchsorted(items, high, side="right") - 1
            yield Group(file, number, tuple(sorted(int(rank[k]) for k in languages)), (int(first), int(last)))


def _sorted(ids: Sequence[str]) -> NDArray[np.intp]:
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
