"""A response table that stays in its files: every locale is read when it is its turn.

What has to be known of the whole table is found in one pass (`survey_files`). A locale's rows are then read
with filters on columns and row groups: those of its language, and those of the pivot to items asked in it.
So memory holds one locale, however the rows are spread over files; reading is fast where files or row groups
hold one language each, as `write_partitioned` lays them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from maskedadv.errors import BadId
from maskedadv.files.sources import existing
from maskedadv.responses.files import read_named
from maskedadv.responses.folders import folder_columns, parquet_files
from maskedadv.responses.kinds import IDS, VALUES
from maskedadv.responses.lookalikes import lookalikes
from maskedadv.responses.pieces import Batch, TableFile, read_batches
from maskedadv.responses.survey import Group, Survey, survey_files
from maskedadv.responses.table import Responses
from maskedadv.responses.uneven import uneven_note
from maskedadv.responses.vocabulary import Vocabulary
from maskedadv.vocabulary import SUBSETS

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class StoredResponses:
    """A checked response table in Parquet files; it answers like `Responses`, but for rows.

    Attributes
    ----------
    files : all of them
    survey : what the table holds
    notes, uneven : as of `Responses`
    """

    files: tuple[TableFile, ...]
    survey: Survey
    notes: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.survey.rows

    @property
    def models(self) -> NDArray[np.object_]:
        """Ids, sorted, shape (J,)."""
        return self.survey.models

    @property
    def languages(self) -> NDArray[np.object_]:
        """Codes, sorted, shape (K,)."""
        return self.survey.languages

    @property
    def items(self) -> NDArray[np.object_]:
        """Ids, sorted, shape (I,)."""
        return self.survey.items

    @property
    def item_subset(self) -> NDArray[np.int8]:
        """Index into `SUBSETS`, shape (I,)."""
        return self.survey.item_subset

    @property
    def fingerprint(self) -> str:
        """That of the same table in memory."""
        return self.survey.fingerprint

    @property
    def columns(self) -> frozenset[str]:
        """Columns of values that hold any."""
        return frozenset(n for n in VALUES if self.survey.observed[n])

    @property
    def clipped(self) -> int:
        """Probabilities so near to 0 or 1 that their logits would be held back."""
        return self.survey.clipped

    def count(self, response: str) -> int:
        """Observed answers of a response type."""
        return self.survey.observed[{"binary": "correct", "soft": "p_correct", "crm": "crm"}[response]]

    def options_given(self) -> tuple[NDArray[np.intp], NDArray[np.float64]] | None:
        """Items and their numbers of options, as rows give them; None without such a column."""
        if "n_options" not in self.columns:
            return None
        low, high = self.survey.options
        known = np.flatnonzero(~np.isnan(low))
        return np.concatenate([known, known]), np.concatenate([low[known], high[known]])

    def of_locales(self, locales: Sequence[str], pivot: str) -> Responses:
        """The rows that some locales' gaps rest on, with the codes and ids of the whole table.

        Raises
        ------
        UnreadableFile
            A file changed since the survey.
        """
        own = [int(np.searchsorted(self.languages, k)) for k in locales]
        at_pivot = int(np.searchsorted(self.languages, pivot))
        asked = np.logical_or.reduce(self.survey.asked[own])
        needed = _needed(self.survey.groups, own, at_pivot, asked)
        ids: dict[str, Iterable[str]] = {
            "model": self.models,
            "subset": SUBSETS,
            "language": self.languages,
            "item": self.items,
        }
        vocabularies = {n: Vocabulary(n, ids[n], closed=True) for n in IDS}
        parts: list[tuple[Codes, ...]] = []
        values: dict[str, list[NDArray[np.float64]]] = {n: [] for n in self.columns}
        for place, groups in groupby(needed, key=lambda g: g.file):
            file = self.files[place]
            file.refuse_change()
            for batch in read_batches(file, vocabularies, [g.number for g in groups]):
                chosen = _chosen(batch, own, at_pivot, asked)
                parts.append(tuple(batch.codes[n][chosen] for n in ("language", "model", "item")))
                for name, into in values.items():
                    into.append(batch.values[name][chosen])
        language, model, item = (np.concatenate(found) for found in zip(*parts, strict=True))
        key = (language.astype(np.int64) * len(self.models) + model) * len(self.items) + item
        order = np.argsort(key, kind="stable")
        del key, parts
        columns = {n: np.concatenate(found)[order] for n, found in values.items()}
        pa.default_memory_pool().release_unused()
        return Responses(
            models=self.models,
            languages=self.languages,
            items=self.items,
            item_subset=self.item_subset,
            model=model[order],
            language=language[order],
            item=item[order],
            correct=columns.get("correct"),
            p_correct=columns.get("p_correct"),
            crm_logit=columns.get("crm_logit"),
            n_options=columns.get("n_options"),
            extra=None,
            fingerprint=self.fingerprint,
            notes=self.notes,
            uneven=self.uneven,
        )


def _needed(groups: Sequence[Group], own: Sequence[int], pivot: int, asked: NDArray[np.bool_]) -> list[Group]:
    """Row groups that hold a locale's language, or the pivot with items that may be asked in it."""
    before = np.concatenate([[0], np.cumsum(asked)])
    chosen = set(own)
    return [
        g
        for g in groups
        if chosen.intersection(g.languages)
        or (pivot in g.languages and before[g.items[1] + 1] > before[g.items[0]])
    ]


def _chosen(batch: Batch, own: Sequence[int], pivot: int, asked: NDArray[np.bool_]) -> NDArray[np.intp]:
    language = batch.codes["language"]
    wanted = np.zeros(int(language.max()) + 1, dtype=bool)
    wanted[[code for code in own if code < len(wanted)]] = True
    use = wanted[language]
    if not use.all():
        use |= (language == pivot) & asked[batch.codes["item"]]
    return np.flatnonzero(use)


def open_stored(path: Path, tell: Callable[[str], None] = lambda _: None) -> StoredResponses:
    """Check a Parquet file, or all in a folder, without holding the table.

    Parameters
    ----------
    tell : called with a line of text as files are read

    Raises
    ------
    InputError
        As `maskedadv.read_responses` refuses a table.
    """
    files, notes = table_files(path)
    steps = {len(files) * k // 10 for k in range(1, 10)}

    def told(done: int) -> None:
        if done in steps and len(files) >= 100:
            tell(f"looked at {done:,} of {len(files):,} files")

    survey = survey_files(files, told)
    for code in survey.languages:
        if code != code.strip() or any(c.isspace() for c in code):
            raise BadId(
                f"column 'language': the code {code!r} carries blanks; write {''.join(code.split())!r}."
            )
    named = (("model", survey.models), ("language", survey.languages), ("item", survey.items))
    notes += tuple(note for name, ids in named for note in lookalikes(name, ids))
    return StoredResponses(tuple(files), survey, notes, uneven_note(survey.shares))


def table_files(path: Path) -> tuple[list[TableFile], tuple[str, ...]]:
    """The Parquet files of a table with what their folders say, and notes on what is no table."""
    existing(path, "give a Parquet file or a folder of Parquet files")
    if not path.is_dir():
        return [TableFile(path, {})], ()
    found, notes = parquet_files(path)
    named = [(file, folder_columns(path, file)) for file in found]
    return [TableFile(f, {n: v for n, v in given.items() if n in IDS}) for f, given in named], notes


def has_more_rows(path: Path, most: int) -> bool:
    """Whether a Parquet file, or all in a folder together, say that they have more rows than `most`."""
    files, _ = table_files(path)
    count = 0
    for file in files:
        count += read_named(file.path, partial(pq.read_metadata, file.path)).num_rows
        if count > most:
            return True
    return False
