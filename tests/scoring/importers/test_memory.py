"""Logs are streamed: memory follows the answers kept, not the size of the file."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import pytest

from maskedadv.scoring.importers.lm_eval import read_lm_eval
from maskedadv.scoring.importers.table import read_table


def write_log(folder, n, padding, *, array=False):
    """`n` samples, each with `padding` characters of prompt per option."""
    folder.mkdir(parents=True)
    path = folder / "samples_global_mmlu_eu_x_2026-01-02T03-04-05.jsonl"
    prompt = "q" * padding
    arguments = {f"gen_args_{k}": {"arg_0": prompt, "arg_1": f" {c}"} for k, c in enumerate("ABCD")}
    lps = [["-1.5", "False"], ["-2.5", "False"], ["-0.25", "True"], ["-3.125", "False"]]
    template = {
        "doc": {},
        "target": "C",
        "arguments": arguments,
        "resps": [],
        "filtered_resps": lps,
        "acc": 1.0,
    }
    with path.open("w", encoding="utf-8") as file:
        file.write("[\n" if array else "")
        for i in range(n):
            doc = {"sample_id": f"subject/test/{i}", "cultural_sensitivity_label": "CA" if i % 2 else "CS"}
            record = template | {
                "doc_id": i,
                "doc": doc,
                "doc_hash": f"{i:064x}",
                "resps": [[lp] for lp in lps],
            }
            file.write(json.dumps(record) + (",\n" if array and i < n - 1 else "\n"))
        file.write("]\n" if array else "")
    return path


def peak_of(read):
    tracemalloc.start()
    try:
        result = read()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("array", [False, True])
def test_a_large_log_takes_little_memory(tmp_path, array):
    path = write_log(tmp_path / "org__m", 1_000, 8_000, array=array)
    size = path.stat().st_size
    assert size > 30 * 2**20
    found, peak = peak_of(lambda: read_lm_eval([path]))
    assert len(found.answers) == 1_000
    assert peak < size / 4


def test_a_large_table_takes_little_memory(tmp_path):
    path = tmp_path / "t.csv"
    text = "x" * 5_000
    rows = (f"m,CA,en,item{i},{i % 2},{text}\n" for i in range(12_000))
    with path.open("w", encoding="utf-8") as file:
        file.write("model,subset,language,item,correct,answer\n")
        file.writelines(rows)
    found, peak = peak_of(lambda: read_table([path]))
    assert len(found.answers) == 12_000
    assert peak < path.stat().st_size / 2


@pytest.mark.slow
def test_a_million_answers(tmp_path):
    path = write_log(tmp_path / "org__m", 1_000_000, 200)
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from scoring.importers.lm_eval import read_lm_eval\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "found = read_lm_eval([Path(sys.argv[1])])\n"
        "assert len(found.answers) == 1_000_000\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    grown = int(done.stdout) * 1024
    assert grown < 800 * 2**20
    assert grown < path.stat().st_size / 2
