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
    DataFrame of 16,800 rows: model, subset (CA, CS), language (bn de en fr ja sw zh), item, correct (0, 1),
    n_options (4).

    Notes
    -----
    The systems are Qwen2.5-32B-Instruct and one fine-tune of it (s1.1-32B) at five budgets of reasoning
    tokens: one family, not six independent models. The set's CS label means culturally sensitive, mostly
    Western, so its culture-specific items are not the locales' own culture.
    """
    frame = pd.read_parquet(DATA / "global_mmlu_lite_outcomes.parquet")
    ids = ["model", "subset", "language", "item"]
    return frame.astype(dict.fromkeys(ids, "str") | {"correct": "int64"}).assign(n_options=4)


def bertaqa() -> pd.DataFrame:
    """Published accuracies on BertaQA: Basque trivia, local and global, asked in Basque and in English.

    From the notebooks of juletx/BertaQA (MIT); Etxaniz et al. 2024, arXiv 2406.07302.

    Returns
    -------
    DataFrame, a row per cell: model, subset (CA: global questions, CS: local ones), language (eu, en),
    accuracy (0 to 1), n_items (2,392 CA, 2,364 CS), n_options (3).

    Notes
    -----
    The notebooks print families of models in three slots of sizes; `model [slot 13]` is the family's model in
    that slot. Families with two models repeat the second one's figures in the third slot: those repeats are
    left out.
    """
    frame = pd.read_csv(DATA / "bertaqa_published_accuracy.csv", dtype={"model": "str"})
    slot = frame["model"].str.extract(r"^(?P<family>.*) \[slot (?P<slot>\d+)\]$")
    figures = ["family", "lang", "acc_local_pct", "acc_global_pct"]
    frame = frame[slot["slot"].isna() | ~frame.assign(family=slot["family"]).duplicated(figures)]
    cells = [
        pd.DataFrame(
            {
                "model": frame["model"],
                "subset": subset,
                "language": frame["lang"],
                "accuracy": frame[column] / 100,
                "n_items": n_items,
                "n_options": 3,
            }
        )
        for subset, column, n_items in (("CA", "acc_global_pct", 2392), ("CS", "acc_local_pct", 2364))
    ]
    return pd.concat(cells, ignore_index=True)
