"""A result of `dif` as a folder, and back."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from maskedadv.assumptions.differential import Dif
from maskedadv.assumptions.files import read_folder, write_folder
from maskedadv.files.folders import check_folder

MARK = "dif.json"
_TEXTS = {
    "items": ("locale", "subset", "item", "size", "direction", "mh_class"),
    "subsets": ("locale", "subset"),
    "gaps": ("locale", "variant", "gap"),
    "texts": ("locale", "item", "question_other", "answer_other", "question_local", "answer_local"),
}


def save_dif(found: Dif, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write `items.csv`, `subsets.csv`, `gaps.csv`, `texts.csv` (with an item file) and `dif.json`.

    Raises
    ------
    OutputExists
        The folder holds something else, or another result and `overwrite` is not given.
    """
    path = Path(path)
    check_folder(path, MARK, found.fingerprint, overwrite=overwrite)
    content = {
        "fingerprint": found.fingerprint,
        "data": found.data,
        "settings": found.settings,
        "notes": list(found.notes),
    }
    tables = {"items": found.items, "subsets": found.subsets, "gaps": found.gaps, "texts": found.texts}
    write_folder(path, MARK, content, {k: v for k, v in tables.items() if v is None or len(v.columns)})
    return path


def load_dif(path: str | Path) -> Dif:
    """What `save_dif` wrote.

    Raises
    ------
    NotAResult
    """
    content, tables = read_folder(Path(path), MARK, "dif", _TEXTS)
    return Dif(
        items=tables["items"],
        subsets=tables["subsets"],
        gaps=tables.get("gaps", pd.DataFrame()),
        texts=tables.get("texts"),
        notes=tuple(content["notes"]),
        settings=content["settings"],
        data=content["data"],
        fingerprint=content["fingerprint"],
    )
