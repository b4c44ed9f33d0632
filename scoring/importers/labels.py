"""CA/CS labels by item id, from a file of items, for sets whose logs carry none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from maskedadv.errors import ItemInBothSubsets, MissingColumn, UnknownSubset, UnreadableFile
from maskedadv.files.sources import existing
from maskedadv.files.text_tables import read_text_table
from maskedadv.scoring.importers.jsonstream import CUT, read_records
from maskedadv.scoring.importers.mapping import subset_label

_IDS = ("item", "sample_id", "id")
_LABELS = ("subset", "cultural_sensitivity_label", "label")


def read_labels(path: Path) -> dict[str, str]:
    """Read CA or CS per item id from JSON lines or CSV; items without a label are left out.

    The id is under `item`, `sample_id` or `id`, the label under `subset`, `cultural_sensitivity_label` or
    `label`.

    Raises
    ------
    UnreadableFile, BrokenLog, MissingColumn, UnknownSubset
    ItemInBothSubsets
        One id has both labels.
    """
    labels: dict[str, str] = {}
    for position, row in _rows(path):
        where = f"{path}, row {position}"
        item = _first(row, _IDS, where)
        raw = _first(row, _LABELS, where)
        try:
            label = subset_label(raw, where, "")
        except UnknownSubset as error:
            raise UnknownSubset(
                f"{where}: the label {raw!r} is neither CA nor CS; write one of them, or leave it empty."
            ) from error
        if label and labels.setdefault(item, label) != label:
            raise ItemInBothSubsets(f"{where}: item {item!r} is labelled both CA and CS.")
    return labels


def choose_subset(own: str | None, item: str, labels: Mapping[str, str] | None, default: str | None) -> str:
    """An answer's subset: its own label, else the file's, else, where it has none at all, the default.

    `own` is CA, CS, '' (marked as not annotated) or None (no label). Returns '' if there is none.
    """
    return own or (labels or {}).get(item, "") or (default or "" if own is None else "")


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    existing(path, "give the items with their labels")
    if path.suffix.lower() in {".csv", ".tsv"}:
        frame = read_text_table(path, "the file of labels", ())
        yield from enumerate(frame.to_dict(orient="records"), 1)
        return
    for position, record in read_records(path):
        if record is CUT:
            raise UnreadableFile(f"{path}: record {position} is cut off.")
        yield position, record


def _first(row: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    for name in names:
        if row.get(name) is not None:
            return str(row[name]).strip()
    raise MissingColumn(f"{where}: none of {', '.join(names)} is there.")
