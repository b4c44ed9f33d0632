"""Real data that come with the package."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

DATA = Path(__file__).resolve().parent / "data"


def global_mmlu_lite() -> pd.DataFrame:
    """Right/wrong outcomes of six systems on Global-MMLU-Lite in seven languages.

    Derived from the published evaluation logs of BatsResearch/crosslingual-test-time-scaling (arXiv
    2505.05408); the items are Global-MMLU-Lite (Apache-2.0).

    Returns
    -------
    DataFrame of 16,800 rows: model, subset (CA, CS), language (bn de en fr ja sw zh), item, correct (0, 1).

    Notes
    -----
    The systems are Qwen2.5-32B-Instruct and one fine-tune of it (s1.1-32B) at five budgets of reasoning
    tokens: one family, not six independent models. The set's CS label means culturally sensitive, mostly
    Western, so its culture-specific items are not the locales' own culture.
    """
    frame = pd.read_parquet(DATA / "global_mmlu_lite_outcomes.parquet")
    ids = ["model", "subset", "language", "item"]
    return frame.astype(dict.fromkeys(ids, "str") | {"correct": "int64"})
