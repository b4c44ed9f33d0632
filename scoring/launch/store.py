"""Answers on disk: one whole Parquet file per model, language and item set, named by all that decides it.

A file is written under a temporary name and renamed, so it is there complete or not at all. It is never
changed: another revision, number type or prompt has another fingerprint, and so another file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from maskedadv.files.atomic import sweep, whole_name, write_whole
from maskedadv.scoring.importers.outcomes import from_choice, from_logprobs
from maskedadv.scoring.items.items import Item

FOLDER = "_answers"
FAILED = "api_"  # begins the reasons of tries that an endpoint left without an answer
OUT_OF_MEMORY = "out_of_memory"
_KEY = b"maskedadv"
_COLUMNS = b"maskedadv.columns"
_NOT_FINITE = "not_finite"


class Answer(NamedTuple):
    """What a model made of one item.

    `logprobs` holds NaN where an option's log-probability is not known; `chosen` is the option that a
    written answer states. `reason` says why the answer, or its probability, is missing. `asked_with` says
    what an endpoint had to be asked otherwise than usual, `read_by` which rule read a written answer, or why
    none did; both are None for other models.
    """

    logprobs: Sequence[float] | NDArray[np.float64] | None = None
    chosen: int | None = None
    reason: str = ""
    n_tail_tokens: int | None = None
    said: str | None = None
    asked_with: str | None = None
    read_by: str | None = None


def may_pass(reason: str) -> bool:
    """Whether an answer that is missing for this reason may be had at another time."""
    return reason.startswith(FAILED) or reason == OUT_OF_MEMORY


def answer_path(folder: Path, fingerprint: Mapping[str, Any]) -> Path:
    """Where the answers with this fingerprint lie; different fingerprints never share a file."""
    digest = hashlib.sha256(_canonical(fingerprint)).hexdigest()[:16]
    model, language, name = (quote(str(fingerprint[k]), safe="")[-80:] for k in ("model", "language", "set"))
    return folder / FOLDER / model / language / f"{name}.{digest}.parquet"


def table_of(model: str, items: Sequence[Item], answers: Sequence[Answer]) -> pa.Table:
    """The response table of one model, language and item set, ordered by item.

    Columns: model, subset, language, item, correct, p_correct, crm_logit, n_options, option_logprobs,
    option_mass, n_tail_tokens, tied, reason; said and read_by, where answers are written; asked_with,
    for endpoints; then the items' own columns, called `item_...` where a column of these names is theirs.
    """
    order = sorted(range(len(items)), key=lambda k: items[k].item)
    rows = [_row(model, items[k], answers[k]) for k in order]
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in _SCHEMA.items()}
    for name in ("said", "read_by", "asked_with"):
        if all(getattr(answer, name) is None for answer in answers):
            del columns[name]
    for name, shown in extra_columns(items).items():
        columns[shown] = pa.array([items[k].extra.get(name, "") for k in order], pa.string())
    return pa.table(columns)


def replace_rows(old: pa.Table, new: pa.Table) -> pa.Table:
    """The rows of `old`, but for the items in `new`; in the order of the items."""
    kept = old.filter(pc.invert(pc.is_in(old["item"], value_set=new["item"].combine_chunks())))
    parts = [t.replace_schema_metadata(None) for t in (kept, new)]
    table = pa.concat_tables(parts, promote_options="default").sort_by("item")
    order = [name for name in _SCHEMA if name in table.column_names]
    return table.select(order + [name for name in table.column_names if name not in _SCHEMA])


def extra_columns(items: Iterable[Item]) -> dict[str, str]:
    """The items' own columns, and what each is called in the table, where results keep their names."""
    names = sorted({name for item in items for name in item.extra})
    shown: dict[str, str] = {}
    for name in names:
        other = name
        while other in _SCHEMA or other in shown.values() or (other != name and other in names):
            other = f"item_{other}"
        shown[name] = other
    return shown


def write_answers(path: Path, table: pa.Table, fingerprint: Mapping[str, Any]) -> None:
    """Write the file whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table.replace_schema_metadata({_KEY: _canonical(fingerprint), _COLUMNS: _columns(table)})
    for partial in path.parent.glob(".*.partial*"):  # of a killed run, of these answers or others
        sweep(path.with_name(whole_name(partial.name)))
    # Checksums: a bit that flips on a disk must not become another answer.
    write_whole(path, lambda partial: pyarrow.parquet.write_table(table, partial, write_page_checksum=True))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a response table whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda partial: pyarrow.parquet.write_table(table, partial))


def read_answers(path: Path, fingerprint: Mapping[str, Any], n_items: int | None = None) -> pa.Table | None:
    """The stored answers; None where there are none, or the file is broken or another's."""
    if not path.is_file():
        return None
    try:
        table = pyarrow.parquet.read_table(path, partitioning=None, page_checksum_verification=True)
        found = table.schema.metadata or {}
        whole = found.get(_COLUMNS) == _columns(table) and n_items in {None, len(table)}
    except Exception:  # a damaged file can fail in any way
        return None
    return table if whole and found.get(_KEY) == _canonical(fingerprint) else None


def stored_key(path: Path) -> dict[str, Any] | None:
    """The fingerprint that a file carries; None where it is no file of ours."""
    try:
        found = json.loads((pyarrow.parquet.read_schema(path).metadata or {})[_KEY])
    except Exception:  # whatever else lies there
        return None
    return found if isinstance(found, dict) else None


def _columns(table: pa.Table) -> bytes:
    """Names and types: what the checksums of the pages do not cover."""
    kinds = [str(field.type).replace("<item:", "<element:") for field in table.schema]  # as Parquet names it
    return repr([*zip(table.column_names, kinds, strict=True)]).encode()


def _canonical(fingerprint: Mapping[str, Any]) -> bytes:
    return json.dumps(fingerprint, sort_keys=True, ensure_ascii=False).encode()


_SCHEMA = {
    "model": pa.string(),
    "subset": pa.string(),
    "language": pa.string(),
    "item": pa.string(),
    "correct": pa.int8(),
    "p_correct": pa.float64(),
    "crm_logit": pa.float64(),
    "n_options": pa.int8(),
    "option_logprobs": pa.list_(pa.float64()),
    "option_mass": pa.float64(),
    "n_tail_tokens": pa.int16(),
    "tied": pa.bool_(),
    "reason": pa.string(),
    "said": pa.string(),
    "read_by": pa.string(),
    "asked_with": pa.string(),
}


def _row(model: str, item: Item, answer: Answer) -> dict[str, Any]:
    assert item.answer is not None
    row: dict[str, Any] = dict.fromkeys(_SCHEMA)
    row |= {
        "model": model,
        "subset": item.subset,
        "language": item.language,
        "item": item.item,
        "n_options": len(item.options),
        "n_tail_tokens": answer.n_tail_tokens,
        "tied": False,
        "reason": answer.reason,
        "said": answer.said,
        "read_by": answer.read_by,
        "asked_with": answer.asked_with,
    }
    if answer.logprobs is None:
        outcome = from_choice(answer.chosen, [item.answer], len(item.options))
        return row | {"correct": outcome.correct, "reason": answer.reason or outcome.reason}
    known = [float(x) for x in answer.logprobs]
    row["option_logprobs"] = [None if np.isnan(x) else x for x in known]
    if not any(map(np.isfinite, known)):
        return row
    if any(map(np.isnan, known)):  # not among the most probable tokens: less probable than all that are
        best = np.nanmax(known)
        leading = [k for k, x in enumerate(known) if x == best]
        return row | {"correct": int(leading[0] == item.answer), "tied": len(leading) > 1}
    outcome = from_logprobs(known, [item.answer])
    if outcome.correct is None:
        return row | {"reason": answer.reason or _NOT_FINITE}
    return row | {
        "correct": outcome.correct,
        "p_correct": outcome.p_correct,
        "crm_logit": outcome.crm_logit,
        "option_mass": float(np.exp(np.logaddexp.reduce(known))),
        "tied": outcome.tied,
    }
