"""Make docs/tutorials/lm-eval/logs: small logs in lm-evaluation-harness' layout, with a known truth.

Run as `python -m tests.documentation.lm_eval_logs`. Questions are placeholders, answers are drawn by
`maskedadv.simulation`; layout and names of files, records and fields are the harness'.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from maskedadv.simulation import Plan, simulate
from tests.conftest import ROOT

LOGS = ROOT / "docs" / "tutorials" / "lm-eval" / "logs"
NAMES = ("amber-1b", "basalt-3b", "cobalt-8b")
STAMPS = {"en": "2026-11-30T10-00-00.000000", "sw": "2026-11-30T10-05-00.000000"}
"""Every language was a run of its own."""
LETTERS = "ABCD"
PLAN = Plan(
    models=3,
    items_ca=20,
    items_cs=20,
    locale=("sw",),
    global_gap=-1.5,
    knowledge_gap=0.8,
    ability=2.0,
    ability_sd=0.5,
    difficulty_sd=1.0,
    seed=5,
)


def write_logs(folder: Path = LOGS) -> None:
    """One folder a model, one log a language, and the results file of each run."""
    made = simulate(PLAN)
    rng = np.random.default_rng(PLAN.seed)
    for (model, language), rows in made.responses.groupby(["model", "language"]):
        name = NAMES[sorted(set(made.responses["model"])).index(model)]
        task = f"global_mmlu_{language}_made_up"
        place = folder / f"example__{name}"
        place.mkdir(parents=True, exist_ok=True)
        records = [
            record(k, row.item, row.subset, language, bool(row.correct), rng)
            for k, row in enumerate(rows.sort_values(["subset", "item"]).itertuples())
        ]
        lines = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in records)
        (place / f"samples_{task}_{STAMPS[language]}.jsonl").write_text(
            "".join(f"{line}\n" for line in lines), "utf-8"
        )
        result = {
            "results": {task: {"alias": task, "acc,none": sum(r["acc"] for r in records) / len(records)}},
            "config": {"model": "hf", "model_args": f"pretrained=example/{name}", "limit": None},
            "configs": {
                task: {"task": task, "doc_to_choice": list(LETTERS), "output_type": "multiple_choice"}
            },
            "n-samples": {task: {"original": len(records), "effective": len(records)}},
            "model_name": f"example/{name}",
            "lm_eval_version": "0.4.13",
        }
        (place / f"results_{STAMPS[language]}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def record(k: int, item: str, subset: str, language: str, right: bool, rng: np.random.Generator) -> dict:
    """One answered question: log-probabilities of four options, the highest the key's where it is right."""
    key = int(hashlib.sha256(item.encode()).hexdigest(), 16) % 4
    chosen = key if right else (key + 1 + int(rng.integers(3))) % 4
    logits = np.round(-3 + 1.5 * rng.random(4), 3)
    logits[chosen] = round(float(logits.max() + 0.3 + rng.random()), 3)
    doc = {
        "sample_id": f"made_up/test/{item}",
        "question": f"{item} ({language})",
        **{f"option_{letter.lower()}": f"option {letter} of {item}" for letter in LETTERS},
        "answer": LETTERS[key],
        "cultural_sensitivity_label": subset,
    }
    resps = [[[f"{value}", "False"]] for value in logits]
    return {
        "doc_id": k,
        "doc": doc,
        "target": LETTERS[key],
        "arguments": {
            f"gen_args_{n}": {"arg_0": f"{item} ({language})\nAnswer:", "arg_1": f" {letter}"}
            for n, letter in enumerate(LETTERS)
        },
        "resps": resps,
        "filtered_resps": [one[0] for one in resps],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": hashlib.sha256(json.dumps(doc, indent=2, ensure_ascii=False).encode()).hexdigest(),
        "acc": float(right),
    }


if __name__ == "__main__":
    write_logs()
