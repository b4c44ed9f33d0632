"""Read and check a response table (CSV, Parquet or DataFrame)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from maskedadv.errors import (
    BadId,
    DuplicateRows,
    EmptyTable,
    InputError,
    ItemInBothSubsets,
    UnknownSubset,
)
from maskedadv.responses.columns import encode_ids, offenders, parse_values, refuse_kept_names
from maskedadv.responses.files import load_table
from maskedadv.responses.kinds import IDS, VALUES
from maskedadv.responses.lookalikes import lookalikes
from maskedadv.responses.marks import TableMarks, id_marks
from maskedadv.responses.stored import table_files
from maskedadv.responses.survey import survey_files
from maskedadv.responses.table import Responses
from maskedadv.responses.uneven import uneven_note
from maskedadv.vocabulary import SUBSETS


def read_responses(
    source: str | Path | pd.DataFrame | pa.Table | Responses, *, extras: bool = False
) -> Responses:
    """Read a response table and refuse anything that would give a silent wrong number.

    Parameters
    ----------
    source
        Path of a CSV file (comma, semicolon or tab; UTF-8 with or without a byte-order mark; may be
        gzipped), of a Parquet file or a folder of them (partition folders such as `language=zh` count
        as columns), or a DataFrame. Columns: model, subset (CA or CS), language, item, and correct
        (0, 1 or empty) or p_correct (0 to 1 or empty); optionally n_options and crm_logit.
    extras
        Keep further columns (in `Responses.extra`); otherwise they are not read.

    Returns
    -------
    Responses

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, BadValue, UnknownSubset,
    DuplicateRows, ItemInBothSubsets
        Each message names the column, the count and the first three offending rows (counted from 1
        below the header; of a folder, in the file that it names) and says how to mend them.
    """
    if isinstance(source, Responses):
        return source
    try:
        return _read(source, extras=extras)
    except InputError:
        if isinstance(source, str | Path) and os.path.isdir(source):
            survey_files(table_files(Path(source))[0])  # which refuses it by the name of the file
        raise


def _read(source: str | Path | pd.DataFrame | pa.Table, *, extras: bool) -> Responses:
    table, notes = load_table(source, extras=extras)
    if len(table) == 0:
        raise EmptyTable("the table has a header but no rows.")

    model, models = encode_ids("model", table["model"])
    subset, subsets = encode_ids("subset", table["subset"])
    language, languages = encode_ids("language", table["language"])
    item, items = encode_ids("item", table["item"])
    values = {n: parse_values(n, table[n]) for n in VALUES if n in table.column_names}

    refuse_kept_names(models)
    _check_languages(language, languages)
    subset_code = _subset_codes(subset, subsets)
    item_subset = _item_subsets(item, items, subset_code)
    order = _sorted_unique_rows(model, models, language, languages, item, items)
    # A column that is empty throughout is as good as absent.
    values = {n: v for n, v in values.items() if not np.isnan(v).all()}
    if "correct" not in values and "p_correct" not in values:
        raise EmptyTable("every answer is empty; there is nothing to fit.")

    values = {n: v[order] for n, v in values.items()}
    codes = (language[order], model[order], item[order])
    seen = ~np.isnan(values["correct"] if "correct" in values else values["p_correct"])
    extra = _extra(table, order) if extras else None
    del table
    pa.default_memory_pool().release_unused()  # or what reading took would be kept for the whole run
    return Responses(
        models=models,
        languages=languages,
        items=items,
        item_subset=item_subset,
        language=codes[0],
        model=codes[1],
        item=codes[2],
        correct=values.get("correct"),
        p_correct=values.get("p_correct"),
        crm_logit=values.get("crm_logit"),
        n_options=values.get("n_options"),
        extra=extra,
        fingerprint=_fingerprint(codes, (languages, models, items), item_subset, values),
        notes=notes
        + lookalikes("model", models)
        + lookalikes("language", languages)
        + lookalikes("item", items),
        uneven=_uneven(codes[1], models, codes[0], languages, seen),
    )


def _check_languages(language: NDArray[np.int32], languages: NDArray[np.object_]) -> None:
    for code, text in enumerate(languages):
        if text != text.strip() or any(c.isspace() for c in text):
            rows = np.flatnonzero(language == code)
            raise BadId(
                f"column 'language': {len(rows)} codes carry blanks "
                f"({offenders(rows, [repr(text)] * 3)}); write {''.join(text.split())!r}."
            )


def _subset_codes(subset: NDArray[np.int32], subsets: NDArray[np.object_]) -> NDArray[np.int8]:
    code = np.array([SUBSETS.index(s) if s in SUBSETS else -1 for s in subsets], dtype=np.int8)[subset]
    rows = np.flatnonzero(code < 0)
    if len(rows):
        shown = [repr(subsets[subset[r]]) for r in rows[:3]]
        raise UnknownSubset(
            f"column 'subset': {len(rows)} values are neither CA (culture-agnostic) nor CS "
            f"(culture-specific) ({offenders(rows, shown)})."
        )
    return code


def _item_subsets(
    item: NDArray[np.int32], items: NDArray[np.object_], subset: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Subset of every item; an item in both would tie the two scales together by accident."""
    item_subset = np.full(len(items), -1, dtype=np.int8)
    item_subset[item] = subset
    clash = np.flatnonzero(item_subset[item] != subset)
    if len(clash):
        distinct = len(np.unique(item[clash]))
        shown = [repr(items[item[r]]) for r in clash[:3]]
        raise ItemInBothSubsets(
            f"column 'item': {distinct} items stand under both CA and CS ({offenders(clash, shown)}); "
            "give each item one subset, or different ids."
        )
    return item_subset


def _sorted_unique_rows(
    model: NDArray[np.int32],
    models: NDArray[np.object_],
    language: NDArray[np.int32],
    languages: NDArray[np.object_],
    item: NDArray[np.int32],
    items: NDArray[np.object_],
) -> NDArray[np.intp]:
    """Order of rows by language, model, item; refuses repeated rows, equal ones too."""
    key = (language.astype(np.int64) * len(models) + model) * len(items) + item
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(np.diff(key[order]) == 0) + 1
    if len(repeated):
        rows = np.sort(order[repeated])
        shown = [
            f"{models[model[r]]!r} on {items[item[r]]!r} in {languages[language[r]]!r}" for r in rows[:3]
        ]
        raise DuplicateRows(
            f"{len(rows)} rows repeat an earlier (model, subset, language, item) "
            f"({offenders(rows, shown)}); keep one row per answer."
        )
    return order


def _uneven(
    model: NDArray[np.int32],
    models: NDArray[np.object_],
    language: NDArray[np.int32],
    languages: NDArray[np.object_],
    seen: NDArray[np.bool_],
) -> tuple[str, ...]:
    """Models whose rows without a value are more in one language than in another, beyond chance."""
    if seen.all():
        return ()
    key = model.astype(np.int64) * len(languages) + language
    size = len(models) * len(languages)
    rows, empty = np.bincount(key, minlength=size), np.bincount(key[~seen], minlength=size)
    own = np.flatnonzero(rows)
    shares = pd.DataFrame(
        {
            "model": models[own // len(languages)],
            "language": languages[own % len(languages)],
            "answers": rows[own],
            "missing": empty[own],
        }
    )
    return uneven_note(shares)


def _extra(table: pa.Table, order: NDArray[np.intp]) -> pd.DataFrame | None:
    names = [n for n in table.column_names if n not in IDS + VALUES]
    return table.select(names).to_pandas().iloc[order] if names else None


def _fingerprint(
    codes: tuple[NDArray[np.integer], ...],
    ids: tuple[NDArray[np.object_], ...],
    item_subset: NDArray[np.int8],
    values: dict[str, NDArray[np.float64]],
) -> str:
    """Of rows given by their codes in language, model and item."""
    named = zip(("language", "model", "item"), ids, strict=True)
    marks = [id_marks(name, texts) for name, texts in named]
    found = TableMarks()
    step = 1 << 18  # a few columns of this many rows stay in the processor's cache
    for first in range(0, len(codes[0]), step):
        at = slice(first, first + step)
        row = sum(own[code[at]] for own, code in zip(marks, codes, strict=True))
        found.add(np.asarray(row, dtype=np.uint64), {n: v[at] for n, v in values.items()})
    return found.fingerprint(ids[2], item_subset, values)
