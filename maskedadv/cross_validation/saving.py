"""Folders of comparisons: written whole, read back."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from maskedadv.cross_validation.comparison import Comparison
from maskedadv.errors import NotAResult
from maskedadv.files.damage import DAMAGE, in_words
from maskedadv.files.digests import digests_below
from maskedadv.files.folders import whole_folder
from maskedadv.files.manifest import open_listed, read_manifest, write_manifest

MARK = "comparison.json"
TABLES = ("scores", "by_fold", "by_group", "calibration")
PREDICTIONS = "predictions.parquet"
FORMAT = 2
_AGAIN = "compare again"


def save_comparison(comparison: Comparison, path: Path) -> None:
    """Write `comparison.json`, a CSV for every table and, where it has them, `predictions.parquet`.

    Raises
    ------
    OutputExists
    """
    ours = {MARK, PREDICTIONS, *(f"{name}.csv" for name in TABLES)}
    with whole_folder(path, ours.__contains__) as folder:
        for name in TABLES:
            getattr(comparison, name).to_csv(folder / f"{name}.csv", index=False)
        if comparison.predictions is not None:
            comparison.predictions.to_parquet(folder / PREDICTIONS, index=False)
        content = {**comparison.info, "notes": list(comparison.notes)}
        write_manifest(folder / MARK, content, form=FORMAT, files=digests_below(folder))


def load_comparison(path: str | Path) -> Comparison:
    """Read a folder that `maskedadv compare` wrote.

    Raises
    ------
    NotAResult
        The folder is not one of these, or is damaged.
    """
    folder = Path(path)
    if not (folder / MARK).is_file():
        raise NotAResult(
            f"{folder} is no comparison (it has no {MARK}); give the folder that maskedadv compare wrote."
        )
    try:
        info, digests = read_manifest(folder / MARK, form=FORMAT, mend=_AGAIN)

        def read(name: str) -> io.BytesIO:
            return open_listed(folder, name, digests, _AGAIN)

        notes = tuple(str(v) for v in info.pop("notes"))
        text = dict.fromkeys(("candidate", "response", "method", "locale", "subset"), "str")
        tables = [
            pd.read_csv(read(f"{name}.csv"), dtype=text, keep_default_na=False, na_values={"": [""]})
            for name in TABLES
        ]
        own = [_numbers(t, set(text)) for t in tables]
        if any("candidate" not in t for t in own) or not {"bce", "lower", "slope"} <= set(own[0]):
            raise NotAResult(f"{folder} is damaged (a table lacks columns); {_AGAIN}.")
        found = pd.read_parquet(read(PREDICTIONS)) if PREDICTIONS in digests else None
    except DAMAGE as error:
        raise NotAResult(f"{folder} is damaged ({in_words(error)}); {_AGAIN}.") from error
    return Comparison(own[0], own[1], own[2], own[3], notes, info, found)


def _numbers(table: pd.DataFrame, text: set[str]) -> pd.DataFrame:
    """Columns of numbers as such; an empty cell is an unknown one."""
    return table.assign(**{c: pd.to_numeric(table[c]) for c in table.columns if c not in text})
