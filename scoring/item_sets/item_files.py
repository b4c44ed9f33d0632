"""Items as a table and a file, in the project's schema, which `maskedadv score` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from maskedadv.errors import BadSetting
from maskedadv.scoring.item_sets.tables import write_step
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.sources import record_of, write_items

_OWN = ("item", "subset", "language", "question", "options", "answer", "country")


def item_table(items: Sequence[Item]) -> pa.Table:
    """The columns of the schema, then the items' own in their order."""
    names = dict.fromkeys(name for x in items for name in x.extra if name not in _OWN)
    records = [record_of(x) for x in items]
    columns = {name: pa.array([r.get(name) for r in records], _type(name)) for name in _OWN}
    columns["country"] = pa.array([r.get("country", "") for r in records], pa.string())
    return pa.table(columns | {n: pa.array([x.extra.get(n, "") for x in items], pa.string()) for n in names})


def _type(name: str) -> pa.DataType:
    return pa.list_(pa.string()) if name == "options" else pa.string()


def check_item_file(path: Path) -> None:
    """Refuse a name that says neither JSON lines nor Parquet.

    Raises
    ------
    BadSetting
    """
    if path.suffix not in {".jsonl", ".parquet"}:
        raise BadSetting(f"{path}: the output ends in .jsonl or .parquet.")


def write_item_file(path: Path, items: Sequence[Item]) -> None:
    """Write items as JSON lines or Parquet, by the file's name: whole, or not at all."""
    check_item_file(path)
    if path.suffix == ".parquet":
        write_step(path, item_table(items))
    else:
        write_items(path, items)
