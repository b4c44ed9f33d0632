"""Does a hand-made mapping of native subjects to categories agree with the language model's categories?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import UnknownBenchmark
from maskedadv.files.text_tables import check_ids, check_unique, read_text_table
from maskedadv.words.lists import first_few

CATEGORY = "subject_category"


def read_mapping(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Read a mapping: subject, category (and optionally language), one row a subject.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, DuplicateRows
    """
    frame = read_text_table(source, "the mapping", ["subject", "category"])
    keys = ["language", "subject"] if "language" in frame.columns else ["subject"]
    check_ids(frame, [*keys, "category"], "the mapping")
    check_unique(frame, keys, "the mapping")
    return frame


def mapping_agreement(annotated: pd.DataFrame, mapping: pd.DataFrame) -> pd.DataFrame:
    """Agreement per subject, and over all items in the last row (subject '(all)').

    Parameters
    ----------
    annotated
        Columns language, subject and subject_category; rows without one of the last two do not count.
    mapping
        From `read_mapping`.

    Returns
    -------
    DataFrame
        language, subject, mapped, majority (the most frequent category; several where they tie, joined
        by ' | '), n_items, n_agree, agree (share of items whose category is the mapped one).

    Raises
    ------
    UnknownBenchmark
        Subjects without a mapping.
    """
    rows = annotated.loc[(annotated["subject"] != "") & (annotated[CATEGORY] != "")]
    keys = ["language", "subject"] if "language" in mapping.columns else ["subject"]
    joined = rows.merge(mapping[[*keys, "category"]], on=keys, how="left")
    unmapped = joined.loc[joined["category"].isna(), "subject"].unique()
    if len(unmapped):
        shown = first_few(map(repr, unmapped))
        raise UnknownBenchmark(f"the mapping lacks {len(unmapped)} subjects ({shown}); add a row for each.")
    joined["agrees"] = joined[CATEGORY] == joined["category"]
    table = pd.DataFrame(
        [
            {
                "language": language,
                "subject": subject,
                "mapped": part["category"].iloc[0],
                "majority": " | ".join(sorted(part[CATEGORY].mode())),
                "n_items": len(part),
                "n_agree": int(part["agrees"].sum()),
            }
            for (language, subject), part in joined.groupby(["language", "subject"], sort=True)
        ],
        columns=["language", "subject", "mapped", "majority", "n_items", "n_agree"],
    )
    total = {
        "language": "(all)", "subject": "(all)", "mapped": "", "majority": "",
        "n_items": table["n_items"].sum(), "n_agree": table["n_agree"].sum(),
    }  # fmt: skip
    table = pd.concat([table, pd.DataFrame([total])], ignore_index=True)
    table["agree"] = np.where(table["n_items"] > 0, table["n_agree"] / table["n_items"].clip(lower=1), np.nan)
    return table
