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
    Western, so its culture-specific items are not the locales' own culture. The written answers were read by
    an older, weaker rule: read again, 2.4 points more of the English answers are right and 0.2 to 1.3 points
    more of those in other languages. So what English gains over the locale's language is understated here.
    """
    frame = pd.read_parquet(DATA / "global_mmlu_lite_outcomes.parquet")
    ids = ["model", "subset", "language", "item"]
    return frame.astype(dict.fromkeys(ids, "str") | {"correct": "int64"}).assign(n_options=4)


def truthfulqa_multi() -> pd.DataFrame:
    """Right/wrong outcomes of fifteen models of three families on TruthfulQA in five languages.

    Derived from the logs of hitz-zentroa/truthfulqa-multi (Apache-2.0); Calvo Figueras et al. 2025, arXiv
    2502.09387.

    Returns
    -------
    DataFrame of 60,458 rows: model (Gemma 2, Llama 3 and 3.1, Mistral 7B; base and instruction-tuned), subset
    (CA: 288 universal questions, CS: 529 that depend on place, mostly American), language (ca en es eu gl),
    item, correct (0, 1).

    Notes
    -----
    The models wrote their answers freely; `correct` is the logged `bleu_acc`: whether an answer is nearer
    to a true reference than to a false one. There are no options, so no guessing floor.
    Mistral-7B-Instruct-v0.2 lacks one language. The local questions are about the United States for the most
    part: they are not the locales' own knowledge.
    """
    frame = pd.read_parquet(DATA / "truthfulqa_multi_outcomes.parquet")
    return frame.astype(dict.fromkeys(["model", "subset", "language", "item"], "str") | {"correct": "int64"})


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
