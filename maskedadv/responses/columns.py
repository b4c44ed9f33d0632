"""One column at a time: ids to codes, values to floats, each with its own refusal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from maskedadv.errors import BadId, BadValue, MissingId
from maskedadv.vocabulary import MEAN_ROWS
from maskedadv.words.lists import first_few

_LARGEST_LOGIT = 1e6  # natural log-odds of even very long options are thousands at most
_RANGES = {
    "correct": "0, 1 or empty",
    "p_correct": "a probability from 0 to 1, or empty",
    "crm_logit": "log-odds from -1e6 to 1e6, or empty",
    "n_options": "a whole number of 2 or more, or empty",
}


def offenders(rows: NDArray[np.intp], shown: list[str]) -> str:
    """`row 3: 'x', row 9: 'y', ...`: the first three of many, rows counted from 1 below the header."""
    listed = (f"row {row + 1}: {text}" for row, text in zip(rows[:3], shown[:3], strict=True))
    return first_few(listed, count=len(rows))


def encode_ids(name: str, column: pa.ChunkedArray) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Codes and sorted distinct ids of one id column.

    Returns
    -------
    codes : shape (N,)
    ids : shape (n_distinct,), sorted text

    Raises
    ------
    MissingId
        Some ids are null or empty.
    BadId
        The column holds floats, dates or other things that are no ids.
    """
    kind = column.type
    if pa.types.is_integer(kind):
        column = pc.cast(column, pa.string())
    elif pa.types.is_dictionary(kind):
        if not (pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)):
            column = pc.cast(column, kind.value_type)
            return encode_ids(name, column)
    elif not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise BadId(
            f"column '{name}' holds {kind}, not text; ids such as 001 may already be damaged: "
            "write them as text."
        )
    if pa.types.is_null(column.type):
        column = pc.cast(column, pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # an empty table keeps zero chunks
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], encoded.type)
    raw = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    try:
        texts = encoded.dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise BadId(f"column '{name}' holds text that is not UTF-8 ({error}); write it as UTF-8.") from error
    empty = np.array([t is None or t == "" for t in texts] + [True])
    missing = np.flatnonzero(empty[raw])
    if len(missing):
        where = first_few((f"row {row + 1}" for row in missing[:3]), count=len(missing))
        raise MissingId(
            f"column '{name}': {len(missing)} ids are empty ({where}); every answer needs its {name}."
        )
    cut = [t for t in texts if t is not None and any(sign in t for sign in "\0\r\n")]
    if cut:
        raise BadId(
            f"column '{name}': {len(cut)} ids hold a line end or a null byte ({cut[0][:60]!r}); take it out, "
            "or close the quotation mark that makes one id of several lines."
        )
    used = np.zeros(len(texts), dtype=bool)
    used[raw] = True
    ids = sorted({t for t, u in zip(texts, used, strict=True) if u})
    rank = {t: i for i, t in enumerate(ids)}
    lookup = np.array([rank.get(t, -1) for t in texts], dtype=np.int32)
    return lookup[raw], np.array(ids, dtype=object)


def refuse_kept_names(models: Iterable[str]) -> None:
    """Refuse models that bear the name of a row of means, which no table of gaps could tell apart.

    Raises
    ------
    BadId
    """
    taken = sorted(MEAN_ROWS.intersection(models))
    if taken:
        raise BadId(f"column 'model': {taken[0]!r} is what rows of means are called; rename that model.")


def parse_values(name: str, column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers of one value column, NaN where empty, checked against the column's range.

    Raises
    ------
    BadValue
        Text such as "NA", or a number outside the range.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return parse_values(name, pc.cast(column, kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        text = column.to_pandas().fillna("").astype(object)
        values = pd.to_numeric(text.where(text != ""), errors="coerce").to_numpy(dtype=np.float64)
        bad = (text != "").to_numpy() & ~_in_range(name, values)
    elif (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_null(kind)
    ):
        numbers = pc.cast(column, pa.float64())
        values = np.array(numbers.to_numpy(), dtype=np.float64)  # nulls are NaN
        text = None
        bad = ~np.isnan(values) & ~_in_range(name, values)
    else:
        raise BadValue(f"column '{name}' holds {kind}; expected {_RANGES[name]}.")
    rows = np.flatnonzero(bad)
    if len(rows):
        shown = [repr(text.iloc[r]) if text is not None else f"{values[r]:g}" for r in rows[:3]]
        verb = "value is" if len(rows) == 1 else "values are"
        raise BadValue(
            f"column '{name}': {len(rows)} {verb} not {_RANGES[name]} ({offenders(rows, shown)}); "
            "leave a cell empty where there is no answer."
        )
    return values


def _in_range(name: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    if name == "correct":
        inside = (values == 0) | (values == 1)
    elif name == "p_correct":
        inside = (values >= 0) & (values <= 1)
    elif name == "crm_logit":
        inside = np.abs(values) <= _LARGEST_LOGIT
    else:
        inside = (values >= 2) & (values == np.floor(values)) & np.isfinite(values)
    return np.asarray(inside)
